# SPDX-License-Identifier: MIT
"""Chance decides each column and each row by itself, unless a method says that it draws columns together.

Who sees that two columns were drawn alike, learns from one what the other was. A column is protected together with a
twin that holds the same: with independent draws, the two are as different in one release as in two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

import sfumato as sf
from sfumato.arrays import Floats
from sfumato.change import ChangeKind
from sfumato.protect import METHODS
from sfumato.protect.method import KeyedMethod
from sfumato.randomness import Randomness
from tests.contract.examples import METHOD_EXAMPLES, Example
from tests.contract.releases import Made, make_all, make_once, released

SLOW = (sf.Synthesize, sf.SwapConfidential)
"""Methods of which sixty releases take seconds; all others are tried each time."""
each = pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, id=kind.__name__, marks=[pytest.mark.slow] if kind in SLOW else []) for kind in METHODS],
)
OF_CHANCE = (ChangeKind.SWAPPED, ChangeKind.DRAWN, ChangeKind.ANSWERED, ChangeKind.NOISE, ChangeKind.CODED)
SEEDS = 6
SIGMAS = 6
"""How many standard errors chance may deviate."""
CURE = (
    "draw each column, and each row of it, with the next numbers of one generator, `(randomness or "
    "Randomness.secure()).generator()`, and make no second generator from a seed"
)


class Twins(NamedTuple):
    """An example and its data, with a column that holds the same as another, and is protected in the same way."""

    example: Example
    data: sf.Table
    name: str
    twin: str


def list_drawn_columns(made: Made) -> list[str]:
    """The columns of a table that chance decides."""
    changes = made.release.changes if made.is_table else ()
    return [change.column for change in changes if change.kind in OF_CHANCE]


def name_twin(value: Any, name: str, twin: str) -> Any:
    """What a field says of a column, said of its twin too."""
    if isinstance(value, Mapping) and name in value:
        return {**value, twin: value[name]}
    return (name, twin) if value == name else (*value, twin) if isinstance(value, tuple) and name in value else value


def add_twin(example: Example, name: str) -> Twins | None:
    """The example with a twin of a column; None if the method takes only one."""
    method, data, twin = example.subject, example.data(), f"{name} twin"
    fields = {field: name_twin(getattr(method, field), name, twin) for field in type(method).model_fields}
    try:
        subject = type(method).model_validate(fields)
    except ValidationError:
        return None
    frame = data.frame.with_columns(data.frame[name].alias(twin))
    table = replace(data, frame=frame, roles={**data.roles, twin: data.roles[name]})
    return Twins(replace(example, subject=subject), table, name, twin)


def number_cells(column: pl.Series, values: pl.Series) -> Floats:
    """Cells as numbers: words by their place among all values."""
    if column.dtype.is_numeric() or column.dtype.is_temporal():
        return column.to_physical().cast(pl.Float64).fill_null(0).to_numpy()
    order = pl.Enum(pl.concat([column.cast(pl.String), values.cast(pl.String)]).drop_nulls().unique().sort())
    return column.cast(pl.String).cast(order).to_physical().cast(pl.Float64).fill_null(-1).to_numpy()


def measure_alterations(release: sf.Release, table: sf.Table, name: str) -> Floats:
    """By how much each cell of a column moved; of new rows, what it is."""
    column, rows = release.data.frame[name], release.details.rows
    original = table.frame[name] if rows is None else table.frame[name].gather(rows)
    published_numbers = number_cells(column, original)
    is_aligned = len(original) == len(column) and original.dtype == column.dtype
    return published_numbers - number_cells(original, column) if is_aligned else published_numbers


def correlate(first: Floats, second: Floats) -> float:
    if not (np.ptp(first) and np.ptp(second)):
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


def measure_common_chance(twins: Twins) -> float:
    """How much more alike twins are in one release than in two, in standard errors; those of keys are the same or not.

    A key decides all cells of a column at once, so that rows are no repetitions of chance.
    """
    releases = [released(twins.example, twins.data, seed) for seed in range(1, SEEDS + 1)]
    if isinstance(twins.example.subject, KeyedMethod):
        frames = [release.data.frame for release in releases]
        same = all(frame[twins.name].to_list() == frame[twins.twin].to_list() for frame in frames)
        return float("inf") if same else 0.0
    first, second = (
        [measure_alterations(release, twins.data, name) for release in releases] for name in (twins.name, twins.twin)
    )
    together = [correlate(*pair) for pair in zip(first, second, strict=True)]
    apart = [correlate(first[one], second[other]) for one, other in permutations(range(SEEDS), 2)]
    return float(np.mean(together) - np.mean(apart)) * float(np.sqrt(len(first[0]) * SEEDS))


def list_common_chances(made: Made) -> list[float]:
    pairs = [add_twin(made.example, name) for name in list_drawn_columns(made)[:2]]
    return [measure_common_chance(twins) for twins in pairs if twins is not None]


@each
def test_columns_are_drawn_independently_unless_a_method_says_otherwise(kind: type[sf.Method]) -> None:
    for made in make_all(kind):
        common, method = max(list_common_chances(made), default=0.0), made.example.subject
        if method.draws_columns_together:
            assert common > SIGMAS, (
                f'{kind.__name__}, example "{made.example.name}": it says draws_columns_together, and draws two '
                "columns that hold the same as if they had nothing to do with each other: leave it out"
            )
            continue
        assert common < SIGMAS, (
            f'{kind.__name__}, example "{made.example.name}": it draws much the same for two columns that hold the '
            f"same ({common:.0f} standard errors more alike in one release than in two), so that one tells of the "
            f"other: {CURE}; only if columns are meant to be drawn together, say draws_columns_together: "
            "ClassVar[bool] = True, and tell it in the guarantee"
        )


FEW_ROWS = 14
MANY_SEEDS = 60


def tell_apart(column: pl.Series) -> pl.Series:
    """The column with another value in each row, by which one sees where it came from."""
    rows = pl.int_range(20, 20 + len(column), eager=True)
    cells = rows if column.dtype.is_numeric() else column.cast(pl.String) + " " + rows.cast(pl.String)
    return cells.cast(column.dtype, strict=False).alias(column.name)


def list_outcomes(made: Made, name: str) -> list[list[Any]]:
    """What is published in each of a few rows, seed by seed; none if they are refused, or are not those rows."""
    few = made.data.frame.head(FEW_ROWS)
    for frame in (few.with_columns(tell_apart(few[name])), few):
        table = made.data.replace_frame(frame)
        try:
            releases = [released(made.example, table, seed) for seed in range(1, MANY_SEEDS + 1)]
        except sf.SfumatoError:
            continue
        columns = [
            release.data.frame[name].gather(np.argsort(release.details.rows))
            for release in releases
            if release.details.rows is not None and len(release.data) == FEW_ROWS
        ]
        return [list(outcomes) for outcomes in zip(*columns, strict=True)] if len(columns) == MANY_SEEDS else []
    return []


def find_tied_rows(rows: Sequence[Sequence[Any]]) -> tuple[int, int] | None:
    """Two rows of which one always tells what the other is, though both vary; None if there are none.

    Two rows that exchange their values are tied rightly, so that a row counts if it has three outcomes or more. Numbers
    that never repeat are compared by their correlation.
    """
    counts = [len(set(outcomes)) for outcomes in rows]
    for first, second in combinations(range(len(rows)), 2):
        pairs = set(zip(rows[first], rows[second], strict=True))
        most = max(counts[first], counts[second])
        if min(counts[first], counts[second]) < 3:
            continue
        if most * 3 < MANY_SEEDS:
            if len(pairs) <= most:
                return first, second
        elif all(isinstance(cell, int | float) for pair in pairs for cell in pair):
            numbers = [np.asarray(rows[row], dtype=np.float64) for row in (first, second)]
            if abs(correlate(numbers[0], numbers[1])) * np.sqrt(MANY_SEEDS) > SIGMAS:
                return first, second
    return None


@each
def test_a_row_does_not_tell_what_was_drawn_in_another(kind: type[sf.Method]) -> None:
    for made in [made for made in make_all(kind) if not issubclass(kind, KeyedMethod)]:
        for name in list_drawn_columns(made)[:2]:
            tied_rows = find_tied_rows(list_outcomes(made, name))
            assert tied_rows is None, (
                f'{kind.__name__}, example "{made.example.name}": in {MANY_SEEDS} releases of {FEW_ROWS} rows, the '
                f'cell of "{name}" in row {tied_rows[0]} always tells that in row {tied_rows[1]}, as if all rows were '
                f"moved by one draw: {CURE}; an order of chance is `generator.permutation`; if few outcomes are "
                "possible in so few rows, as with a narrow window, choose other values in the example"
            )


def test_noise_that_is_the_same_in_two_columns_is_noticed() -> None:
    class CopiedNoise(sf.AddNoise):
        """Noise that is drawn with the same numbers in every column."""

        def protect(self, data: sf.Table, randomness: Randomness | None = None) -> sf.Release:
            """Draw the noise of the first column, and add it to all."""
            release = super().protect(data, randomness)
            first, others = self.columns[0], self.columns[1:]
            added = release.data.frame[first] - data.frame[first]
            frame = release.data.frame.with_columns((data.frame[name] + added).alias(name) for name in others)
            return replace(release, data=release.data.replace_frame(frame))

    example = next(example for example in METHOD_EXAMPLES if example.name == "add noise")
    copied = replace(example, subject=CopiedNoise.model_validate(dict(example.subject)))
    for candidate, is_common in ((example, False), (copied, True)):
        twins = add_twin(candidate, "age")
        assert twins is not None
        assert (measure_common_chance(twins) > SIGMAS) == is_common


def test_codes_that_are_the_same_in_two_columns_are_noticed() -> None:
    class SameCodes(sf.EncodeForTrees):
        """One key for all columns."""

        def protect(self, data: sf.Table, key: Any = None, randomness: Any = None) -> Any:  # type: ignore[override]
            release = super().protect(data, key, randomness)
            frame = release.data.frame.with_columns(release.data.frame["age"].alias("age twin"))
            return replace(release, data=release.data.replace_frame(frame))

    example = next(example for example in METHOD_EXAMPLES if example.name == "encode for trees, some columns")
    same = replace(example, subject=SameCodes.model_validate(dict(example.subject)))
    for candidate, is_common in ((example, False), (same, True)):
        twins = add_twin(candidate, "age")
        assert twins is not None
        assert (measure_common_chance(twins) > SIGMAS) == is_common


def test_rows_that_move_together_are_noticed() -> None:
    class Rotated(sf.SwapConfidential):
        """Values that all move by the same number of rows."""

        def protect(self, data: sf.Table, randomness: Randomness | None = None) -> sf.Release:
            """Draw one number for all rows."""
            release = super().protect(data, randomness)
            steps = int((randomness or Randomness.secure()).generator().integers(1, len(data)))
            moved_cells = data.frame["disease"].gather(np.roll(np.arange(len(data)), steps))
            return replace(release, data=release.data.replace_frame(release.data.frame.with_columns(moved_cells)))

    made = make_once(next(example for example in METHOD_EXAMPLES if example.subject.method == "swap_confidential"))
    rotated = replace(made.example, subject=Rotated.model_validate(dict(made.example.subject)))
    assert find_tied_rows(list_outcomes(made, "disease")) is None
    assert find_tied_rows(list_outcomes(made._replace(example=rotated), "disease")) is not None
    noise = np.random.default_rng(1).normal(size=MANY_SEEDS)
    assert find_tied_rows([list(noise), list(noise + 5)]) == (0, 1)
