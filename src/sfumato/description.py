# SPDX-License-Identifier: MIT
"""The base of methods, models, attacks and hierarchies: one frozen model for Python, policies and JSON."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict


class Description(BaseModel):
    """Refuses unknown fields, is immutable, documents every field, and never repeats a value in an error.

    Fields may be given in their order, as a paper writes them: `RandomizeResponse("ill", 0.7)`. The tag is
    not counted.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
        validate_default=True,
        allow_inf_nan=False,
    )
    public_fields: ClassVar[tuple[str, ...]] = ()
    """Fields that a certificate may hold: how something was done, never what it hides. No other field leaves."""
    private_fields: ClassVar[tuple[str, ...]] = ()
    """Fields that stay: what is hidden, reference data, and file locations."""

    def __init__(self, *given: Any, **named: Any) -> None:
        """Create from fields in order, or by name."""
        if given:
            fields = type(self).model_fields
            names = [name for name, field in fields.items() if not _is_tag(field.annotation)]
            if len(given) > len(names) or named.keys() & names[: len(given)]:
                title = type(self).__name__
                raise TypeError(f"{title} takes {', '.join(names)}: too many were given, or one was given twice")
            named |= dict(zip(names, given, strict=False))
        super().__init__(**named)


def _is_tag(kind: Any) -> bool:
    return get_origin(kind) is Literal and len(get_args(kind)) == 1
