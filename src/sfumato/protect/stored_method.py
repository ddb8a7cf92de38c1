# SPDX-License-Identifier: MIT
"""Methods on data that stay where they are: each is a class that names its method, next to it.

A method on tables runs there if a `class StoredTopCode(StoredTableMethod[TopCode])` plans it, a method on baskets if a
`StoredBasketMethod` does. `runtime/lazy.py` finds the class in the source by the method that it names; nothing is
registered. Everything else, from writing to the certificate, follows from its plan.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, overload

from sfumato.engine.stored_baskets import StoredBaskets
from sfumato.engine.stored_table import StoredTable
from sfumato.protect.method import Method
from sfumato.protect.stored_plan import StoredPlan
from sfumato.randomness import Randomness
from sfumato.runtime.lazy import find_stored_class, find_tagged

if TYPE_CHECKING:
    from sfumato.protect.baskets.stored_hiding import StoredHidingPlan

MethodKind = TypeVar("MethodKind", bound=Method)


class StoredMethod(ABC, Generic[MethodKind]):
    """What of a method runs on stored data; a subclass of one of the two classes below says how."""

    shape: ClassVar[str]
    """The shape of the data, which is that of the method."""
    runs: ClassVar[str]
    """What of the method runs, in words for errors: its tag first."""

    def explain_unstored(self, method: MethodKind) -> str | None:
        """What of these parameters does not run on stored data; None if all runs, as by default."""
        return None


class StoredTableMethod(StoredMethod[MethodKind]):
    """A method on tables that stay where they are."""

    shape = "table"

    @abstractmethod
    def plan(self, method: MethodKind, table: StoredTable, randomness: Randomness) -> StoredPlan:
        """Decide what is published of each row."""


class StoredBasketMethod(StoredMethod[MethodKind]):
    """A method on baskets that stay in their file."""

    shape = "baskets"

    @abstractmethod
    def plan(self, method: MethodKind, baskets: StoredBaskets, randomness: Randomness) -> StoredHidingPlan:
        """Decide what is removed from each basket."""


def list_stored_methods(shape: str) -> tuple[str, ...]:
    """What of each method on data of a shape runs on stored data, in words."""
    stored_classes = [find_stored_class("method", tag) for tag in find_tagged("method")]
    return tuple(kind.runs for kind in stored_classes if kind is not None and kind.shape == shape)


def explain_unstored_method(method: Method) -> str | None:
    """What of a method does not run on stored data; None if it runs."""
    stored_method = _find_stored_method(method)
    return _get_tag(method) if stored_method is None else stored_method.explain_unstored(method)


@overload
def plan_stored(method: Method, data: StoredTable, randomness: Randomness) -> StoredPlan: ...
@overload
def plan_stored(method: Method, data: StoredBaskets, randomness: Randomness) -> StoredHidingPlan: ...
def plan_stored(
    method: Method, data: StoredTable | StoredBaskets, randomness: Randomness
) -> StoredPlan | StoredHidingPlan:
    """Decide what is published of each row or basket; the method was refused before if it cannot."""
    stored_method = _find_stored_method(method)
    if isinstance(data, StoredBaskets):
        assert isinstance(stored_method, StoredBasketMethod), "refused before"
        return stored_method.plan(method, data, randomness)
    assert isinstance(stored_method, StoredTableMethod), "refused before"
    return stored_method.plan(method, data, randomness)


def _find_stored_method(method: MethodKind) -> StoredMethod[MethodKind] | None:
    stored_class: type[StoredMethod[MethodKind]] | None = find_stored_class("method", _get_tag(method))
    return None if stored_class is None else stored_class()


def _get_tag(method: Any) -> str:
    return str(method.method)
