# SPDX-License-Identifier: MIT
"""The base of methods, models, attacks and hierarchies: one frozen model for Python, policies and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema

from sfumato.fields.number_fields import refuse_truths
from sfumato.fields.parameter_errors import explain_parameters


class Description(BaseModel):
    """Refuses unknown fields, is immutable, documents every field, and never repeats a value in an error.

    Fields may be given in their order, as a paper writes them: `RandomizeResponse("ill", 0.7)`. The tag is
    not counted.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        validate_default=True,
        allow_inf_nan=False,
    )
    public_fields: ClassVar[tuple[str, ...]] = ()
    """Fields that a certificate may hold: how something was done, never what it hides. No other field leaves."""
    private_fields: ClassVar[tuple[str, ...]] = ()
    """Fields that stay: what is hidden, reference data, and file locations."""
    file_fields: ClassVar[tuple[str, ...]] = ()
    """Fields that name a file or folder: relative to the policy; a certificate keeps only its own name."""
    column_fields: ClassVar[tuple[str, ...]] = ()
    """Fields that name columns of the table: one, several, or the keys of a mapping."""

    def __init__(self, *values: Any, **keywords: Any) -> None:
        """Create from fields in order, or by name."""
        if values:
            fields = type(self).model_fields
            names = [name for name, field in fields.items() if not _is_tag(field.annotation)]
            if len(values) > len(names) or keywords.keys() & names[: len(values)]:
                title = type(self).__name__
                raise TypeError(f"{title} takes {', '.join(names)}: too many were given, or one was given twice")
            keywords |= dict(zip(names, values, strict=False))
        try:
            super().__init__(**{name: _wrap_single(type(self), name, value) for name, value in keywords.items()})
        except ValidationError as error:
            raise explain_parameters(error, type(self), keywords) from None

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """How fields are checked: a truth is no number."""
        return refuse_truths(handler(source))

    def list_parts(self) -> dict[str, tuple[Description, ...]]:
        """The fields that hold descriptions themselves, such as the models of a method."""
        values = {name: getattr(self, name) for name in type(self).model_fields}
        return {
            name: value
            for name, value in values.items()
            if isinstance(value, tuple) and value and all(isinstance(part, Description) for part in value)
        }

    def list_named_columns(self) -> dict[str, tuple[str, ...]]:
        """The columns that each of its fields names."""
        values = {name: getattr(self, name) for name in self.column_fields}
        fields = type(self).model_fields
        return {
            name: () if _is_choice(fields[name].annotation, value) else _flatten_names(value)
            for name, value in values.items()
        }

    @classmethod
    def list_columns_in(cls, parameters: Mapping[str, Any]) -> frozenset[str]:
        """The columns that these public parameters of it name."""
        values = {name: parameters[name] for name in cls.column_fields if name in parameters}
        columns = [
            _flatten_names(value)
            for name, value in values.items()
            if not _is_choice(cls.model_fields[name].annotation, value)
        ]
        return frozenset(name for names in columns for name in names)

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse: what a run was described with cannot change afterwards."""
        try:
            super().__setattr__(name, value)
        except ValidationError as error:
            raise explain_parameters(error, type(self), {name: value}) from None

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """What was given; what a release hides is not shown."""
        for name, field in type(self).model_fields.items():
            if name in self.model_fields_set and field.repr and not _is_tag(field.annotation):
                yield name, _RedactedValue() if name in self.private_fields else getattr(self, name)

    def __str__(self) -> str:
        """The same as the representation."""
        return repr(self)


def _wrap_single(kind: type[Description], name: str, value: Any) -> Any:
    """One description where a list of them is expected: `models=KAnonymity(k=5)`; and a number of numpy as Python's."""
    if type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0:
        value = value.item()
    field = kind.model_fields.get(name)
    several = field is not None and isinstance(value, Description) and get_origin(field.annotation) is tuple
    return (value,) if several else value


def _is_choice(annotation: Any, value: Any) -> bool:
    """Whether a value is one of the words that a field takes, such as "from_data", and so no name."""
    choices = [part for part in (annotation, *get_args(annotation)) if get_origin(part) is Literal]
    return isinstance(value, str) and any(value in get_args(choice) for choice in choices)


def _flatten_names(value: Any) -> tuple[str, ...]:
    """The names in a field: None has none, and a mapping has its keys."""
    if isinstance(value, str):
        return (value,)
    return tuple(name for part in value or () for name in _flatten_names(part))


class _RedactedValue:
    """Stands for a value that is not printed."""

    def __repr__(self) -> str:
        return "..."


def _is_tag(kind: Any) -> bool:
    return get_origin(kind) is Literal and len(get_args(kind)) == 1
