# SPDX-License-Identifier: MIT
"""Sensitive values among the rows that someone may be: what homogeneity and background knowledge have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from sfumato.arrays import Flags
from sfumato.attack.anonymity.links import Links
from sfumato.attack.attack import Attack, Outcome, count_strangers
from sfumato.attack.candidates import (
    CandidateSets,
    ValueTally,
    choose_candidates,
    choose_sensitive_columns,
    draw_tried_people,
)
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table


class SensitiveAttack(Attack):
    """An adversary who looks people up and reads their sensitive values off the rows found; see the subclasses."""

    guesses_anyway: ClassVar[bool] = False
    """Whether it guesses about everybody whom rows fit, so that it may as well guess the most common value."""

    column: str | None = None
    """The sensitive column to learn. If not given, every sensitive column in turn; learning any of them counts as a
    success."""

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Look up every person; count whose value is learned, and rightly."""
        published_table: Table = release.data
        names = choose_sensitive_columns(published_table, self.column)
        report_progress(self.model_dump()["attack"].replace("_", " "))
        people, control = draw_tried_people(release, truth, control)
        links, look_up = choose_candidates(
            release, people, count=lambda links: self.count_learnt(links, published_table, people, names)
        )
        sets = CandidateSets.of(links)
        tallies = [sets.tally(published_table, people, name) for name in names]
        learnt_count, blind_count = (
            int(_unite_masks([flag(tally) for tally in tallies]).sum()) for flag in (self.flag_learnt, self.flag_blind)
        )
        is_looking = learnt_count >= blind_count or not self.guesses_anyway
        flag = self.flag_learnt if is_looking else self.flag_blind
        return Outcome(
            attempts=len(people),
            successes=learnt_count if is_looking else blind_count,
            baseline=blind_count,
            control=None
            if control is None
            else _count_flagged(flag, look_up(control), published_table, control, names),
            targets=names,
            known_columns=(published_table.quasi_identifying,),
            facts={
                **count_strangers(control),
                **self.state_facts(sets, _unite_masks([self.flag_telling(tally) for tally in tallies])),
                "columns": list(names),
            },
        )

    def count_learnt(self, links: Links, published_table: Table, people: Table, names: tuple[str, ...]) -> int:
        """Of how many of some people a value is learned."""
        return _count_flagged(self.flag_learnt, links, published_table, people, names)

    @abstractmethod
    def flag_learnt(self, tally: ValueTally) -> Flags:
        """Whose value is learned, and rightly."""

    @abstractmethod
    def flag_blind(self, tally: ValueTally) -> Flags:
        """Whose value would be guessed without looking them up."""

    @abstractmethod
    def flag_telling(self, tally: ValueTally) -> Flags:
        """Which people or sets of rows the facts are about."""

    @abstractmethod
    def state_facts(self, sets: CandidateSets, telling_mask: Flags) -> Mapping[str, Any]:
        """The facts for the report, from what is flagged in any column."""


def _unite_masks(masks: list[Flags]) -> Flags:
    return np.asarray(np.logical_or.reduce(masks))


def _count_flagged(
    flag: Callable[[ValueTally], Flags], links: Links, published_table: Table, people: Table, names: tuple[str, ...]
) -> int:
    """How many people are flagged in any column."""
    sets = CandidateSets.of(links)
    return int(_unite_masks([flag(sets.tally(published_table, people, name)) for name in names]).sum())
