# SPDX-License-Identifier: MIT
"""The experiments: a table, a private set, mining, blanking; counted and timed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from papers.aggarwal_2006.zipf import zipf_table
from sfumato.arrays import Flags
from sfumato.data.cells.private_entries import PrivateEntries, build_private_mask
from sfumato.mine.entries.adversarial_rules import find_adversarial_rules, mask_sensitive_entries
from sfumato.mine.entries.cells import TableCells
from sfumato.public.thresholds import compute_least_count, parse_exact_confidence
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.table import Table

if TYPE_CHECKING:
    from sfumato.protect.entries.suppress_entries import SuppressEntries


@dataclass(frozen=True)
class MiningRun:
    """What mining found."""

    rules: int
    sensitive: int
    """Entries outside P that take part in some adversarial rule."""
    rows: int
    """Rows with such an entry."""
    seconds: float
    """Of the mining alone."""


@dataclass(frozen=True)
class BlankingRun:
    """What blanking cost."""

    as_published: int
    """|K| when the rules that were mined at first are gone, which is where the paper stops (`grades_once`)."""
    leftover_rules: int
    """Adversarial rules of the table as it is then."""
    derived: int
    """|K| when no rule is left."""
    rules: int
    sensitive: int
    seconds_as_published: float
    """Mining once, blanking, and counting what is left."""
    seconds: float
    """Mining, blanking, and mining again until no rule is left."""


def synthetic(rows: int, columns: int, cardinality: int, factor: float, seed: int) -> Table:
    """A table of the paper's generator, all of whose columns are published."""
    frame = zipf_table(rows, columns, cardinality, factor, seed)
    return Table.of(frame, dict.fromkeys(frame.columns, "quasi_identifying"), source="Zipf")


def private_share(table: Table, share: float, seed: int) -> Flags:
    """The directly private set: a share of the entries, drawn at random."""
    chance = Randomness.seeded(seed).generator()
    return build_private_mask([PrivateEntries(share=share)], table.frame, chance)


@cache
def _warm() -> None:
    """Load the kernels before anything is timed."""
    table = synthetic(50, 3, 2, 1.0, 0)
    cells = TableCells.of(table, private_share(table, 0.1, 0))
    mask_sensitive_entries(cells, find_adversarial_rules(cells, cells.states, parse_exact_confidence(0.5), 1))


@cache
def _warm_blanking() -> None:
    """The same for blanking."""
    table = synthetic(50, 3, 2, 1.0, 0)
    _method(private_share(table, 0.1, 0), 0.5, 1, 1, "grades").protect(table, Randomness.seeded(0))


def mine(table: Table, private: Flags, confidence: float, min_support: float) -> MiningRun:
    """All adversarial rules, and the entries that they make sensitive."""
    _warm()
    cells = TableCells.of(table, private)
    least = compute_least_count(min_support, len(cells.codes))
    begin = time.perf_counter()
    adversarial = find_adversarial_rules(cells, cells.states, parse_exact_confidence(confidence), least)
    seconds = time.perf_counter() - begin
    sensitive = mask_sensitive_entries(cells, adversarial)
    return MiningRun(len(adversarial), int(sensitive.sum()), int(sensitive.any(axis=1).sum()), seconds)


def blank(table: Table, private: Flags, confidence: float, min_support: float, factor: int) -> BlankingRun:
    """GraDeS with the paper's weights, `factor` entries at a time: as printed, and until mining finds no rule."""
    _warm_blanking()
    published_run, safe = (
        _time_release(_method(private, confidence, min_support, factor, search), table)
        for search in ("grades_once", "grades")
    )
    details = safe.release.details
    return BlankingRun(
        as_published=len(published_run.release.details["derived"]),
        leftover_rules=int(published_run.release.losses["leftover_rules"]),
        derived=len(details["derived"]),
        rules=len(details["rules_before"]),
        sensitive=details["sensitive_entries"],
        seconds_as_published=published_run.seconds,
        seconds=safe.seconds,
    )


class _TimedRelease(NamedTuple):
    release: Release
    seconds: float


def _time_release(method: SuppressEntries, table: Table) -> _TimedRelease:
    begin = time.perf_counter()
    release = method.protect(table, Randomness.seeded(0))
    return _TimedRelease(release, time.perf_counter() - begin)


def _method(
    private: Flags, confidence: float, min_support: float, factor: int, search: Literal["grades", "grades_once"]
) -> SuppressEntries:
    from sfumato.protect.entries.suppress_entries import SuppressEntries

    return SuppressEntries(
        private=private, confidence=confidence, min_support=min_support, blanking_factor=factor, search=search
    )
