# SPDX-License-Identifier: MIT
"""Attacks on a release that stays in its file, and which attacks these are.

An attack runs on a stored release if a module `stored_NAME` lies next to its own module `NAME`; nothing is registered.
There, `RUNS` says in words what of the attack runs, `explain_unstored(attack, setting)` what of its parameters cannot,
and `run_stored(attack, release, original, taken_rows)` runs it.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple, Protocol, cast

from sfumato.attack.attack import Attack, Outcome
from sfumato.engine.stored_rows import StoredRows
from sfumato.release import Release
from sfumato.runtime.lazy import find_tagged, find_tagged_class


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


class StoredAttack(Protocol):
    """The module that runs an attack on a stored release."""

    RUNS: str

    def explain_unstored(self, attack: Any, setting: StoredSetting) -> str | None:
        """What of an attack does not run on a stored release; None if it runs."""

    def run_stored(self, attack: Any, release: Release, original: Any, taken_rows: StoredRows | None) -> Outcome:
        """Attack a release; `taken_rows` lists the originals that were published, if not all were."""


def list_stored_attacks(shape: str) -> tuple[str, ...]:
    """What of each attack on data of a shape runs on stored releases, in words."""
    tags = [tag for tag in find_tagged("attack") if find_tagged_class("attack", tag).shape == shape]
    modules = (_find_module(tag) for tag in tags)
    return tuple(module.RUNS for module in modules if module is not None)


def explain_unstored_attack(attack: Attack, setting: StoredSetting) -> str | None:
    """What of an attack does not run on a stored release; None if it runs."""
    module = _find_module(_get_tag(attack))
    return _get_tag(attack) if module is None else module.explain_unstored(attack, setting)


def run_stored_attack(attack: Attack, release: Release, original: Any, taken_rows: StoredRows | None = None) -> Outcome:
    """Attack a stored release."""
    module = _find_module(_get_tag(attack))
    assert module is not None, "refused before"
    return module.run_stored(attack, release, original, taken_rows)


def _find_module(tag: str) -> StoredAttack | None:
    """The module next to an attack's own in which it is run; None if there is none."""
    package, name = find_tagged("attack")[tag][0].rsplit(".", 1)
    home = f"{package}.stored_{name}"
    return cast(StoredAttack, import_module(home)) if find_spec(home) is not None else None


def _get_tag(attack: Any) -> str:
    return str(attack.attack)
