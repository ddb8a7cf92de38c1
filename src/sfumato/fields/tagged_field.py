# SPDX-License-Identifier: MIT
"""A field that takes any method, attack or model, chosen by its tag: only the class that is named is imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticKnownError

from sfumato.description import Description
from sfumato.runtime.lazy import find_tagged, find_tagged_class


def declare_tagged(tag: str) -> Any:
    """The type of such a field. A union of all classes would import every one of them to parse a single policy."""
    return Annotated[Any, BeforeValidator(_make_parser(tag))]


def _make_parser(tag: str) -> Callable[[Any], Description]:
    def parse(value: Any) -> Description:
        if isinstance(value, Description) and tag in type(value).model_fields:
            return value
        if isinstance(value, type) and issubclass(value, Description):
            raise ValueError(f"give {value.__name__}(...) with its parameters, not the class")
        if not isinstance(value, Mapping):
            raise PydanticKnownError("model_attributes_type")
        if tag not in value:
            raise PydanticKnownError("union_tag_not_found", {"discriminator": f"'{tag}'"})
        kind = find_tagged_class(tag, value[tag]) if isinstance(value[tag], str) else None
        if kind is None:
            expected_tags = ", ".join(f"'{name}'" for name in find_tagged(tag))
            raise PydanticKnownError(
                "union_tag_invalid",
                {"discriminator": f"'{tag}'", "tag": str(value[tag]), "expected_tags": expected_tags},
            )
        description: Description = kind.model_validate(value)
        return description

    return parse
