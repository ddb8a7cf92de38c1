# SPDX-License-Identifier: MIT
"""A field that takes any method, attack or model, chosen by its tag: only the class that is named is imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticKnownError

from sfumato.description import Description
from sfumato.lazy import find_tagged, find_tagged_class


def declare_tagged(tag: str) -> Any:
    """The type of such a field. A union of all classes would import every one of them to parse a single policy."""
    return Annotated[Any, BeforeValidator(_make_parser(tag))]


def _make_parser(tag: str) -> Callable[[Any], Description]:
    def parse(given: Any) -> Description:
        if isinstance(given, Description) and tag in type(given).model_fields:
            return given
        if isinstance(given, type) and issubclass(given, Description):
            raise ValueError(f"give {given.__name__}(...) with its parameters, not the class")
        if not isinstance(given, Mapping):
            raise PydanticKnownError("model_attributes_type")
        if tag not in given:
            raise PydanticKnownError("union_tag_not_found", {"discriminator": f"'{tag}'"})
        kind = find_tagged_class(tag, given[tag]) if isinstance(given[tag], str) else None
        if kind is None:
            expected = ", ".join(f"'{name}'" for name in find_tagged(tag))
            raise PydanticKnownError(
                "union_tag_invalid", {"discriminator": f"'{tag}'", "tag": str(given[tag]), "expected_tags": expected}
            )
        parsed: Description = kind.model_validate(given)
        return parsed

    return parse
