# SPDX-License-Identifier: MIT
"""How methods, models, attacks and hierarchies are described: one frozen model for Python, policy, form and JSON."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict


class Description(BaseModel):
    """Nothing unknown is taken, nothing changes later, every field has a docstring, no value is echoed in an error.

    Fields may be given in their order, as a paper writes them: `RandomizeResponse("ill", 0.7)`. A tag, which has one
    value only, is not counted.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
        validate_default=True,
        allow_inf_nan=False,
    )

    def __init__(self, *given: Any, **named: Any) -> None:
        """Make one from fields in their order, or by name."""
        if given:
            fields = type(self).model_fields
            names = [name for name, field in fields.items() if not _is_tag(field.annotation)]
            if len(given) > len(names) or named.keys() & names[: len(given)]:
                title = type(self).__name__
                raise TypeError(f"{title} takes {', '.join(names)}: too many were given, or one of them twice")
            named |= dict(zip(names, given, strict=False))
        super().__init__(**named)


def _is_tag(kind: Any) -> bool:
    return get_origin(kind) is Literal and len(get_args(kind)) == 1
