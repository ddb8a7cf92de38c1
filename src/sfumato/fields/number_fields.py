# SPDX-License-Identifier: MIT
"""Numbers of fields: true and false are none, though pydantic would count them as 1 and 0."""

from __future__ import annotations

from typing import Any

from pydantic_core import CoreSchema, PydanticKnownError, core_schema


def refuse_truths(schema: CoreSchema) -> CoreSchema:
    """The schema of a class, except that a number at any depth of its fields may be neither true nor false."""
    guarded_schema: CoreSchema = _refuse_in_part(schema)
    return guarded_schema


def _refuse_in_part(part: Any) -> Any:
    if isinstance(part, (list, tuple)):
        return type(part)(_refuse_in_part(item) for item in part)
    if not isinstance(part, dict) or _is_guarded(part):
        return part
    if part.get("type") == "int":
        return core_schema.no_info_before_validator_function(_refuse_whole, part)
    if part.get("type") == "float":
        return core_schema.no_info_before_validator_function(_refuse_number, part)
    return {name: _refuse_in_part(value) for name, value in part.items()}


def _is_guarded(part: dict[str, Any]) -> bool:
    """Whether the numbers of a nested class are guarded already."""
    function = part.get("function")
    return isinstance(function, dict) and function.get("function") in (_refuse_whole, _refuse_number)


def _refuse_whole(value: Any) -> Any:
    if _is_truth(value):
        raise PydanticKnownError("int_type")
    return value


def _refuse_number(value: Any) -> Any:
    if _is_truth(value):
        raise PydanticKnownError("float_type")
    return value


def _is_truth(value: Any) -> bool:
    """Whether a value is true or false, of Python or of numpy."""
    return isinstance(value, bool) or (type(value).__module__ == "numpy" and str(getattr(value, "dtype", "")) == "bool")
