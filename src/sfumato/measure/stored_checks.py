# SPDX-License-Identifier: MIT
"""The measures that can be taken on a release in its file: each declares so next to its code, by the name of its claim.

`@checks_stored_claim("k_anonymity")` is found in the source, as `@checks_claim` is; its module is loaded on first use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Literal, NamedTuple, TypeVar

from sfumato.release import Number
from sfumato.runtime.lazy import find_stored_checks

StoredMeasure = Callable[[Any, Mapping[str, Any]], Number]
"""It takes the evidence on a shape of data and the arguments of the claim."""
StoredShape = Literal["table", "baskets"]
MeasureKind = TypeVar("MeasureKind", bound=StoredMeasure)


class _StoredCheck(NamedTuple):
    """A measure, and the shape of data that it reads."""

    measure: StoredMeasure
    shape: StoredShape


_LOADED_CHECKS: dict[str, _StoredCheck] = {}


def checks_stored_claim(name: str, shape: StoredShape = "table") -> Callable[[MeasureKind], MeasureKind]:
    """Register a measure for claims on a release in its file, under the name that the claims give.

    It is found by its name in the source, which must be a word on the line of the call.
    """

    def register(measure: MeasureKind) -> MeasureKind:
        _LOADED_CHECKS[name] = _StoredCheck(measure, shape)
        return measure

    return register


def find_stored_measure(name: str, shape: StoredShape = "table") -> StoredMeasure | None:
    """The measure of a claim on data of a shape in its file; None if it needs the data in memory."""
    if name not in find_stored_checks():
        return None
    import_module(find_stored_checks()[name])
    check = _LOADED_CHECKS[name]
    return check.measure if check.shape == shape else None
