# SPDX-License-Identifier: MIT
"""Attacks on a release that stays in its file: each is a class that names its attack, next to it.

An attack on tables runs there if a `class StoredLinking(StoredTableAttack[Linking])` runs it, an attack on baskets if a
`StoredBasketAttack` does. `runtime/lazy.py` finds the class in the source by the attack that it names; nothing is
registered.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from sfumato.attack.attack import Attack, Outcome
from sfumato.engine.stored_baskets import StoredBaskets
from sfumato.engine.stored_rows import StoredRows
from sfumato.engine.stored_table import StoredTable
from sfumato.release import Release
from sfumato.runtime.lazy import find_stored_class, find_tagged

AttackKind = TypeVar("AttackKind", bound=Attack)


class StoredSetting(NamedTuple):
    """What a policy says about a release before any row is read."""

    quasi_identifying: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    drawn_columns: Collection[str] = ()
    """Columns whose cells are drawn by a published law."""
    capped_columns: Collection[str] = ()
    """Columns whose extreme values become one."""
    has_blanks: bool = False
    """Whether single entries are blanked."""


class StoredAttack(ABC, Generic[AttackKind]):
    """What of an attack runs on a stored release; a subclass of one of the two classes below says how."""

    shape: ClassVar[str]
    """The shape of the data, which is that of the attack."""
    runs: ClassVar[str]
    """What of the attack runs, in words for errors: its tag first."""

    def explain_unstored(self, attack: AttackKind, setting: StoredSetting) -> str | None:
        """What of these parameters does not run on a stored release; None if all runs, as by default."""
        return None


class StoredTableAttack(StoredAttack[AttackKind]):
    """An attack on a table that stays in its file."""

    shape = "table"

    @abstractmethod
    def run(
        self, attack: AttackKind, release: Release, original: StoredTable, taken_rows: StoredRows | None
    ) -> Outcome:
        """Attack a release; `taken_rows` lists the originals that were published, if not all were."""


class StoredBasketAttack(StoredAttack[AttackKind]):
    """An attack on baskets that stay in their file, all of which were published."""

    shape = "baskets"

    @abstractmethod
    def run(self, attack: AttackKind, release: Release, original: StoredBaskets) -> Outcome:
        """Attack a release."""


def list_stored_attacks(shape: str) -> tuple[str, ...]:
    """What of each attack on data of a shape runs on stored releases, in words."""
    stored_classes = [find_stored_class("attack", tag) for tag in find_tagged("attack")]
    return tuple(kind.runs for kind in stored_classes if kind is not None and kind.shape == shape)


def explain_unstored_attack(attack: Attack, setting: StoredSetting) -> str | None:
    """What of an attack does not run on a stored release; None if it runs."""
    stored_attack = _find_stored_attack(attack)
    return _get_tag(attack) if stored_attack is None else stored_attack.explain_unstored(attack, setting)


def run_stored_attack(
    attack: Attack, release: Release, original: StoredTable | StoredBaskets, taken_rows: StoredRows | None = None
) -> Outcome:
    """Attack a stored release; the attack was refused before if it cannot."""
    stored_attack = _find_stored_attack(attack)
    if isinstance(original, StoredBaskets):
        assert isinstance(stored_attack, StoredBasketAttack), "refused before"
        return stored_attack.run(attack, release, original)
    assert isinstance(stored_attack, StoredTableAttack), "refused before"
    return stored_attack.run(attack, release, original, taken_rows)


def _find_stored_attack(attack: AttackKind) -> StoredAttack[AttackKind] | None:
    stored_class: type[StoredAttack[AttackKind]] | None = find_stored_class("attack", _get_tag(attack))
    return None if stored_class is None else stored_class()


def _get_tag(attack: Any) -> str:
    return str(attack.attack)
