# SPDX-License-Identifier: MIT
"""How a column was randomized, as a typed value: it leaves with the release, because estimates need it.

Each law is a class in `public/`, next to what it describes; `read_law` finds it by its `kind`. Readers ask a law what
they need to know, such as its `privacy_budget`, and infer nothing from which fields it has. Outside the package, a law
can also be read by key, as it stands in the certificate: `law["scale"]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, get_args

from pydantic import SerializerFunctionWrapHandler, ValidationError, model_serializer

from sfumato.description import Description
from sfumato.errors import DataError
from sfumato.runtime.lazy import import_laws


class PublishedLaw(Description, Mapping[str, Any]):
    """How one column was randomized. Its class name ends in Law, and every field is in `public_fields`: all leave.

    `IndependentNoiseLaw` and `AnswerLaw` fit most methods; a whole number from −d to d is `uniform` noise with scale
    d + ½ and step 1. If none fits, write one in `public/` with a `kind` of its own.
    A field that is not set, or None, is not stated: it is in no certificate and has no key.
    """

    is_synthetic: ClassVar[bool] = False
    """Whether cells were drawn from a model, so that no cell is anybody's."""
    can_be_estimated: ClassVar[bool] = True
    """Whether the distribution of the originals is estimated from the published cells, rather than counted."""

    kind: str
    """Which law it is."""

    @property
    def privacy_budget(self) -> float | None:
        """The stated ε of the column; None if the law bounds none."""
        return None

    @property
    def shows_values(self) -> bool:
        """Whether a published cell is spelled like an original."""
        return True

    @classmethod
    def list_kinds(cls) -> tuple[str, ...]:
        """The kinds that are of this class; none if it is only a part of others."""
        return get_args(cls.model_fields["kind"].annotation)

    def describe(self) -> dict[str, Any]:
        """What is stated, as JSON."""
        return self.model_dump(mode="json")

    @model_serializer(mode="wrap")
    def _select_stated(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values, stated_names = serialize(self), {"kind", *self.model_fields_set}
        return {name: values[name] for name in self.public_fields if name in stated_names and values[name] is not None}

    def __getitem__(self, name: str) -> Any:
        """A stated field, as it stands in the certificate."""
        return self.describe()[name]

    def __iter__(self) -> Iterator[str]:  # type: ignore[override]  # as a mapping
        """The names of the stated fields."""
        return iter(self.describe())

    def __len__(self) -> int:
        """The number of stated fields."""
        return len(self.describe())

    def __eq__(self, other: object) -> bool:
        """Whether the other law, or its JSON, states the same."""
        return self.describe() == dict(other) if isinstance(other, Mapping) else NotImplemented

    def __hash__(self) -> int:
        """Equal laws are of one kind."""
        return hash(self.kind)


def read_law(facts: Any) -> PublishedLaw:
    """A law as it stands in a certificate, typed by its kind; a typed law is returned unchanged."""
    if isinstance(facts, PublishedLaw):
        return facts
    classes = find_law_classes()
    kind = facts.get("kind") if isinstance(facts, Mapping) else None
    law_class = classes.get(kind) if isinstance(kind, str) else None
    if law_class is None:
        raise DataError(f"how a column was randomized needs a `kind`, which is one of {', '.join(classes)}")
    try:
        return law_class.model_validate(dict(facts))
    except ValidationError as error:
        wrong_fields = {str(problem["loc"][0]) for problem in error.errors() if problem["loc"]}
        wrong = [name for name in law_class.public_fields if name in wrong_fields]
        raise DataError(
            f"how a column was randomized is not stated completely, or not as {law_class.__name__} has it: check its "
            f"{', '.join(wrong) or 'fields'}"
        ) from None


def read_laws(public: Mapping[str, Any]) -> dict[str, PublishedLaw]:
    """The law of each column, as a certificate states them."""
    return {column: read_law(facts) for column, facts in public.items()}


def find_law_classes() -> Mapping[str, type[PublishedLaw]]:
    """Every kind of law, with its class."""
    import_laws()
    return {kind: law for law in _walk_laws(PublishedLaw) for kind in law.list_kinds()}


def _walk_laws(law_class: type[PublishedLaw]) -> Iterator[type[PublishedLaw]]:
    for subclass in law_class.__subclasses__():
        yield subclass
        yield from _walk_laws(subclass)
