# SPDX-License-Identifier: MIT
"""Singling out: find a description that fits exactly one person.

The first of the three questions of the Article 29 Working Party (WP216, 2014). The adversary knows nobody and
needs no names: a predicate such as "older than 93 and widowed and in ZIP 0213*" that isolates one person of the
originals is enough to treat that person differently. Cohen and Nissim (2020) make it precise; predicates built
from the release, random ones as a baseline, and a control group are Giomi, Boenisch, Wehmeyer, Tasnádi's
(Anonymeter, PoPETs 2023); the code is our own. A predicate leaks by being right about one person, whoever it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import islice
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field

from sfumato.arrays import Flags, Floats, Ints
from sfumato.attack.attack import Attack, Outcome, round_expected
from sfumato.attack.literal_values import LiteralValues
from sfumato.attack.missing_readings import list_table_readings
from sfumato.attack.row_distance import LabelColumn, compare_with_control, require_attacked_columns
from sfumato.data.hierarchies.hierarchy import STAR, spell_cells
from sfumato.data.hierarchies.label_ranges import read_positions
from sfumato.data.roles.role import Role
from sfumato.errors import DataError
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Missing, Table

_BLIND_DRAWS = 500  # so many that the average hardly depends on chance
_TRIES = 20
_BLOCK = 2_000_000


class SinglingOut(Attack):
    """Someone who knows nobody in the table looks for descriptions that fit exactly one person.

    The adversary builds predicates from the release alone and keeps those that fit exactly one published row, since
    those may fit exactly one person. Each of them is a guess; it is right if it fits exactly one of the originals.
    If none isolates a published row, any are taken. The risk is the share of right guesses. The baseline are
    predicates with values drawn blindly, each as often as it is published; the control counts the same predicates on
    people who are not in the data (as many as there are originals, or the two do not compare). WP216, 2014; Giomi and
    others, Anonymeter, 2023.
    """

    tries: ClassVar[str] = "descriptions"
    public_fields: ClassVar[tuple[str, ...]] = ("mode", "attempts", "columns_per_guess")

    attack: Literal["singling_out"] = "singling_out"
    mode: Literal["univariate", "multivariate"] = "multivariate"
    """One column a predicate (rare values, and the extremes of numbers), or several, taken from a published row."""
    attempts: int = Field(default=500, ge=1)
    """How many predicates are guessed at the most, and no more than there are originals."""
    columns_per_guess: int = Field(default=3, ge=1)
    """How many columns a multivariate predicate has; all of them if there are fewer."""

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Build predicates from the release; count those that fit exactly one of the originals."""
        published_table: Table = release.data
        names = [
            name for name in published_table.frame.columns if published_table.roles.get(name) is not Role.IDENTIFYING
        ]
        if not names:
            raise DataError(
                f"{published_table.source}: every column is identifying; there is nothing to describe people by"
            )
        require_attacked_columns(names, published_table, truth, control)
        chance = (randomness or Randomness.seeded(0)).generator()
        report_progress("singling out")
        outcomes = [
            self._describe_people(
                table, values.spell(truth), None if control is None else values.spell(control), names, chance
            )
            for values in LiteralValues.list_readings(release, truth, names, reads_stars=False)
            for table in list_table_readings(values.spell_release(release).data, truth, names)
        ]
        return max(outcomes, key=lambda outcome: outcome.risk)

    def _describe_people(
        self,
        published_table: Table,
        truth: Table,
        control: Table | None,
        names: Sequence[str],
        chance: np.random.Generator,
    ) -> Outcome:
        """With one meaning of missing cells."""
        view = _PublishedView.of(published_table, names)
        width = 1 if self.mode == "univariate" else min(self.columns_per_guess, len(names))
        most = min(self.attempts, len(truth))
        predicates = (
            _list_rare_predicates(view, chance)
            if self.mode == "univariate"
            else _list_row_predicates(view, width, chance, most * _TRIES)
        )
        guesses = _select_isolating_predicates(view, predicates, most)
        predicate_count = len(guesses)
        if not guesses:
            guesses = list(islice(_list_row_predicates(view, width, chance, most * _TRIES), most))
        blind_guesses = list(_draw_blind_predicates(view, width, chance, max(len(guesses), _BLIND_DRAWS)))
        blind_share = Fraction(_count_singled_out(view, blind_guesses, truth), max(len(blind_guesses), 1))
        successes = _count_singled_out(view, guesses, truth)
        strangers = None if control is None else _count_singled_out(view, guesses, control)
        return Outcome(
            attempts=len(guesses),
            successes=successes,
            baseline=round_expected(len(guesses) * blind_share),
            control=strangers,
            facts={
                "mode": self.mode,
                "isolating_in_release": predicate_count,
                **compare_with_control(successes, len(guesses), strangers, len(guesses)),
            },
        )


class _ColumnTest(NamedTuple):
    """What a predicate asks of one column."""

    column: int
    label: int
    kind: Literal["is", "at_most", "at_least"]


Predicate = tuple[_ColumnTest, ...]


@dataclass(frozen=True, eq=False)
class _PublishedView:
    """The release as the adversary sees it."""

    columns: tuple[LabelColumn, ...]
    informative_labels: tuple[Flags, ...]
    """For each label of a column, whether it says anything: `*` does not, nor a missing cell unless it is a value."""
    numeric: tuple[bool, ...]
    """Which columns show numbers or moments, so that "at most" and "at least" mean something.

    The types of the originals do not say: a word in a hidden cell would tell of itself.
    """
    middles: Floats
    """The median of each column of numbers."""
    numbers: tuple[Floats, ...]
    """The number in each row of a column; NaN where there is none."""
    rows: int

    @classmethod
    def of(cls, published_table: Table, names: Sequence[str]) -> _PublishedView:
        columns = tuple(LabelColumn.of(published_table, name) for name in names)
        nulls = published_table.missing is Missing.OWN_VALUE
        informative_labels = tuple((column.texts != STAR).fill_null(nulls).to_numpy() for column in columns)
        numbers = tuple(column.low[column.codes] for column in columns)
        numeric = tuple(bool(np.isfinite(values).any()) for values in numbers)
        middles = [
            np.nanmedian(values) if is_numeric else 0.0 for values, is_numeric in zip(numbers, numeric, strict=True)
        ]
        return cls(columns, informative_labels, numeric, np.array(middles), numbers, len(published_table))

    def fits(self, test: _ColumnTest) -> Flags:
        """Which published rows a test fits."""
        if test.kind == "is":
            return np.asarray(self.columns[test.column].codes == test.label)
        return _test_beyond(self.numbers[test.column], self.columns[test.column].low[test.label], test.kind)

    def test(self, column: int, label: int, outward: bool) -> _ColumnTest:
        """Ask for a label; for a number, ask for all numbers at least as far out on its side of the middle."""
        number = self.columns[column].low[label]
        if not outward or not self.numeric[column] or not np.isfinite(number):
            return _ColumnTest(column, label, "is")
        return _ColumnTest(column, label, "at_most" if number < self.middles[column] else "at_least")


def _test_beyond(numbers: Floats, edge: float, kind: str) -> Flags:
    return np.asarray(numbers <= edge if kind == "at_most" else numbers >= edge)


def _list_rare_predicates(view: _PublishedView, chance: np.random.Generator) -> Iterator[Predicate]:
    """One test a predicate: every label that stands in one row, and the two ends of every column of numbers."""
    tests: list[_ColumnTest] = []
    for position, column in enumerate(view.columns):
        counts = np.bincount(column.codes, minlength=len(column.texts))
        tests += [
            _ColumnTest(position, int(label), "is")
            for label in np.flatnonzero(view.informative_labels[position] & (counts == 1))
        ]
        if view.numeric[position]:
            present = np.where(counts > 0, column.low, np.nan)
            tests.append(_ColumnTest(position, int(np.nanargmin(present)), "at_most"))
            tests.append(_ColumnTest(position, int(np.nanargmax(present)), "at_least"))
    for number in chance.permutation(len(tests)).tolist():
        yield (tests[number],)


def _list_row_predicates(
    view: _PublishedView, width: int, chance: np.random.Generator, tries: int
) -> Iterator[Predicate]:
    """What some columns of a published row say, as predicates; columns that say nothing are left out."""
    if not view.rows:
        return
    for row in chance.integers(0, view.rows, tries).tolist():
        columns = chance.permutation(len(view.columns))[:width].tolist()
        outward = chance.random(width) < 0.5
        labels = [int(view.columns[column].codes[row]) for column in columns]
        tests = [
            view.test(column, label, bool(out))
            for column, label, out in zip(columns, labels, outward, strict=True)
            if view.informative_labels[column][label]
        ]
        if tests:
            yield tuple(sorted(tests))


def _draw_blind_predicates(
    view: _PublishedView, width: int, chance: np.random.Generator, count: int
) -> Iterator[Predicate]:
    """Predicates of values that need not go together, each as likely as it is published.

    Were every label as likely as any, one that is published once would be drawn as often as one that is everywhere, and
    one hidden person who has it, too, would move the baseline by more than a person's share.
    """
    telling_labels = [
        column.codes[informative[column.codes]]
        for column, informative in zip(view.columns, view.informative_labels, strict=True)
    ]
    usable = [position for position, labels in enumerate(telling_labels) if len(labels)]
    for _ in range(count if usable else 0):
        columns = chance.permutation(usable)[:width].tolist()
        yield tuple(
            view.test(position, int(chance.choice(telling_labels[position])), bool(chance.random() < 0.5))
            for position in columns
        )


def _select_isolating_predicates(view: _PublishedView, predicates: Iterator[Predicate], most: int) -> list[Predicate]:
    """Different predicates that fit exactly one published row, as many as asked for if there are."""
    isolating_predicates: list[Predicate] = []
    tried_predicates: set[Predicate] = set()
    for predicate in predicates:
        if len(isolating_predicates) == most:
            break
        if predicate in tried_predicates:
            continue
        tried_predicates.add(predicate)
        if _count_fitting_rows([view.fits(test) for test in predicate]) == 1:
            isolating_predicates.append(predicate)
    return isolating_predicates


def _count_fitting_rows(tests: Sequence[Flags]) -> int:
    """How many rows fit all tests."""
    return int(np.count_nonzero(reduce(np.logical_and, tests)))


def _count_singled_out(view: _PublishedView, predicates: Sequence[Predicate], people: Table) -> int:
    """How many predicates fit exactly one person."""
    distinct_tests = sorted({test for predicate in predicates for test in predicate})
    fits: dict[_ColumnTest, Flags] = {}
    for position, column in enumerate(view.columns):
        tests = [test for test in distinct_tests if test.column == position]
        if tests:
            fits |= dict(zip(tests, _apply_column_tests(column, tests, people.frame[column.name]), strict=True))
    return sum(_count_fitting_rows([fits[test] for test in predicate]) == 1 for predicate in predicates)


def _apply_column_tests(column: LabelColumn, tests: Sequence[_ColumnTest], values: pl.Series) -> Iterator[Flags]:
    """For each test of a column, which people it fits."""
    distinct = values.unique(maintain_order=True)
    value_index = values.to_frame("v").join(
        distinct.to_frame("v").with_row_index("at"), on="v", how="left", nulls_equal=True, maintain_order="left"
    )
    codes: Ints = value_index["at"].to_numpy().astype(np.int64)
    cells = values if values.dtype.is_numeric() else spell_cells(values)
    numbers = read_positions(cells).fill_null(float("nan")).to_numpy()
    step = max(1, _BLOCK // max(len(distinct), 1))
    for start in range(0, len(tests), step):
        part = tests[start : start + step]
        cover_mask = column.take(np.array([test.label for test in part])).covers(distinct)
        for number, test in enumerate(part):
            if test.kind == "is":
                yield cover_mask[:, number][codes]
            else:
                yield _test_beyond(numbers, column.low[test.label], test.kind)
