# SPDX-License-Identifier: MIT
"""How methods, models, attacks and hierarchies are described: one frozen model for Python, policy, form and JSON."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict
from pydantic._internal._model_construction import ModelMetaclass


class _InOrder(ModelMetaclass):
    """Fields may be given in their order, as a paper writes them: `RandomizeResponse("ill", 0.7)`."""

    def __call__(cls, *given: Any, **named: Any) -> Any:  # noqa: N805  # of a metaclass, a class is the instance
        """Make one; a tag, which has one value only, is not counted."""
        if given:
            fields: dict[str, Any] = cls.model_fields  # type: ignore[attr-defined]
            names = [name for name, field in fields.items() if not _tag(field.annotation)]
            if len(given) > len(names) or named.keys() & names[: len(given)]:
                raise TypeError(f"{cls.__name__} takes {', '.join(names)}: too many were given, or one of them twice")
            named |= dict(zip(names, given, strict=False))
        return super().__call__(**named)


def _tag(kind: Any) -> bool:
    return get_origin(kind) is Literal and len(get_args(kind)) == 1


class Description(BaseModel, metaclass=_InOrder):
    """Nothing unknown is taken, nothing changes later, every field has a docstring, no value is echoed in an error."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
        validate_default=True,
        allow_inf_nan=False,
    )
    public_fields: ClassVar[tuple[str, ...]] = ()
    """Fields that a certificate may tell: how something was done, never what it hides. No other field leaves."""
    private_fields: ClassVar[tuple[str, ...]] = ()
    """Fields that stay: what is hidden, whom it is compared with, where the custodian keeps it."""
