# SPDX-License-Identifier: MIT
"""Range reveal: bounded noise keeps a value within reach, and gaps in the data narrow that reach further.

Against uniform noise and intervals. The promise is an interval as wide as the noise, 2α, around the published value.
But the release also reveals where values occur at all: gaps within reach can be excluded. With uniform noise of α = 1
on values in [0, 1] and [4, 5], the half of every record is revealed, and an interval of 1 or less remains of the
promised 2. Agrawal, Aggarwal, *On the design and quantification of privacy preserving data mining algorithms* (PODS
2001), section 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field

from sfumato.arrays import Flags, Floats, Ints
from sfumato.attack.attack import Outcome
from sfumato.attack.candidates import trace_people
from sfumato.attack.noise.judged_estimates import judge_estimate, summarize_errors
from sfumato.attack.noise.noisy_numbers import (
    NumberAttack,
    NumberEstimates,
    choose_noisy_columns,
    filter_noisy_columns,
    read_number_matrix,
    replace_estimated_columns,
)
from sfumato.attack.row_distance import compare_with_control, require_attacked_columns, sample_people
from sfumato.errors import DataError
from sfumato.public.noise_law import Noise, NoiseLaw, get_noise, get_published_range
from sfumato.published_law import PublishedLaw
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

_STEP = "range reveal"
_STEPS = 200
# Twice the loss of log-likelihood: a gap must be significant at three standard errors, its edges at one.
_MOST_DOUBT, _EDGE = 9.0, 1.0


class RangeReveal(NumberAttack):
    """A reader knows that nobody earns between one and four, and that noise is at most one: so 2.1 was at most one.

    The adversary reconstructs where true values lie, excludes gaps that the release makes certain, and measures what
    remains of the interval that the noise allows for a value. A success is an interval that is narrow relative to the
    promised one and holds the true value. The baseline knows the published range, but no gaps; for a column where
    believing in gaps does worse, the adversary does not. Unbounded noise excludes nothing and is rejected. Agrawal,
    Aggarwal 2001.
    """

    story: ClassVar[str] = (
        "A reader knows which values of {target} nobody has and how far numbers can have been moved, and concludes "
        "in which range the true value lies."
    )
    public_fields: ClassVar[tuple[str, ...]] = ("columns", "attempts", "width", "bins", "density")
    report_labels: ClassVar[Mapping[str, str]] = {"width": "Remaining interval at most this share of the noise's span"}
    column_fields: ClassVar[tuple[str, ...]] = ("columns",)

    attack: Literal["range_reveal"] = "range_reveal"
    width: float = Field(default=0.75, ge=0.0, lt=1.0)
    """Success threshold: maximum width of the remaining interval, as a share of the interval that noise spans."""
    bins: int = Field(default=100, ge=2)
    """Into how many bins the column's range is cut to see where people are."""
    density: float = Field(default=0.25, gt=0.0, le=1.0)
    """A gap is accepted if people in it, at this share of the column's mean density, would have been seen."""

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Compute what remains of everybody's interval; count the narrow ones that hold the truth."""
        names = choose_noisy_columns(release, self.columns)
        require_attacked_columns(names, release.data, truth, control)
        people, chance = trace_people(release, truth), (randomness or Randomness.seeded(0)).generator()
        revealed_columns = [
            self._reveal_column(release, people, name) for name in self._list_bounded_columns(release, names)
        ]
        rows = np.sort(chance.choice(len(people), min(self.attempts, len(people)), replace=False))
        column_indices = chance.integers(0, len(revealed_columns), len(rows))
        strangers = None if control is None else sample_people(control, self.attempts, chance)
        right_strangers = (
            None if strangers is None else self._count_revealed_strangers(revealed_columns, strangers, chance)
        )
        rows_by_column = [
            (column, rows[column_indices == position]) for position, column in enumerate(revealed_columns)
        ]
        middles = self._build_middle_frame(release, revealed_columns)
        plain = [
            int(column.narrow(self.width, gaps=False)[column_rows].sum()) for column, column_rows in rows_by_column
        ]
        gap_hits = [int(column.narrow(self.width)[column_rows].sum()) for column, column_rows in rows_by_column]
        right = sum(map(max, gap_hits, plain))
        return Outcome(
            attempts=len(rows),
            successes=right,
            baseline=sum(plain),
            control=right_strangers,
            targets=tuple(column.name for column in revealed_columns),
            facts={
                "columns": [column.name for column in revealed_columns],
                "components": {column.name: len(column.support.starts) for column in revealed_columns},
                "one_component": sum(
                    int(column.narrow_in_one(self.width)[column_rows].sum()) for column, column_rows in rows_by_column
                ),
                "width_left": {column.name: column.average_width() for column in revealed_columns},
                **compare_with_control(right, len(rows), right_strangers, 0 if strangers is None else len(strangers)),
                **summarize_errors(
                    [judge_estimate(release, people, middles, column.name) for column in revealed_columns]
                ),
            },
        )

    def estimate_with_facts(self, release: Release) -> NumberEstimates:
        """The middle of what remains."""
        names = self._list_bounded_columns(release, choose_noisy_columns(release, self.columns))
        return NumberEstimates(
            self._build_middle_frame(release, [self._reveal_column(release, release.data, name) for name in names]), {}
        )

    def _build_middle_frame(self, release: Release, revealed_columns: Sequence[RevealedColumn]) -> pl.DataFrame:
        frame: pl.DataFrame = release.data.frame
        names = filter_noisy_columns(release, [column.name for column in revealed_columns])
        middles = [column.remaining_interval.middle for column in revealed_columns if column.name in names]
        return replace_estimated_columns(frame, names, iter([np.stack(middles)])) if names and frame.height else frame

    @classmethod
    def weighs_law(cls, law: PublishedLaw) -> bool:
        """Noise with bounds: other noise excludes nothing."""
        return isinstance(law, NoiseLaw) and law.noise.is_bounded

    def _list_bounded_columns(self, release: Release, names: Sequence[str]) -> tuple[str, ...]:
        """The columns that can be attacked: those with bounded noise or none."""
        endless = [name for name in filter_noisy_columns(release, names) if not get_noise(release, name).is_bounded]
        bounded_columns = tuple(name for name in names if name not in endless)
        if not bounded_columns:
            raise DataError(
                f'{release.data.source}: the noise in "{endless[0]}" has no bounds, so no value can be excluded; '
                "attack it by a Bayes estimate or the likeliest value"
            )
        return bounded_columns

    def _reveal_column(self, release: Release, people: Table, name: str) -> RevealedColumn:
        report_progress(f'{_STEP} of "{name}"', 0, len(release.data))
        published_table, true = release.data, read_number_matrix(people.frame, (name,), people.source)[:, 0]
        cells = read_number_matrix(published_table.frame, (name,), published_table.source)[:, 0]
        present_mask = np.isfinite(cells)
        if not filter_noisy_columns(release, (name,)) or not present_mask.any():
            return RevealedColumn.build_without_noise(name, cells, true)
        noise, value_range = get_noise(release, name), get_published_range(release, name)
        low, high = (float(end) for end in value_range or (cells[present_mask].min(), cells[present_mask].max()))
        lower_bounds, upper_bounds = bound_true_values(cells, noise)
        anywhere = ValueSupport.build_single(low - noise.step / 2, high + noise.step / 2)
        if noise.kind == "discretize" or low == high:  # an interval does not reveal where in it values lie
            support = anywhere
        else:
            support = find_support(cells[present_mask], noise, (low, high), self.bins, self.density)
        plain = (
            anywhere
            if value_range
            else ValueSupport.build_single(
                float(lower_bounds[present_mask].min()), float(upper_bounds[present_mask].max())
            )
        )
        return RevealedColumn(
            name,
            true,
            support,
            support.intersect(lower_bounds, upper_bounds, cells),
            plain.intersect(lower_bounds, upper_bounds, cells),
        )

    def _count_revealed_strangers(
        self, revealed_columns: Sequence[RevealedColumn], strangers: Table, chance: np.random.Generator
    ) -> int:
        """A stranger has no row: only the support of all values is known."""
        column_indices = chance.integers(0, len(revealed_columns), len(strangers))
        right = 0
        for position, column in enumerate(revealed_columns):
            true = read_number_matrix(strangers.frame, (column.name,), strangers.source)[column_indices == position, 0]
            span = float(np.nanmax(column.remaining_interval.span, initial=0.0))
            narrow = span > 0 and column.support.length <= self.width * span
            right += int((column.support.holds(true) & narrow).sum())
        return right


@dataclass(frozen=True, eq=False)
class RemainingInterval:
    """What remains of each interval."""

    span: Floats
    """The width of the interval that the noise allows for the value."""
    width: Floats
    """The width of what remains of it."""
    middle: Floats
    """The middle of what remains; the published value where nothing does."""
    low: Floats
    high: Floats
    components: Ints
    """How many pieces of the support it touches."""


@dataclass(frozen=True, eq=False)
class ValueSupport:
    """Where true values can be: disjoint intervals."""

    starts: Floats
    ends: Floats

    @classmethod
    def build_single(cls, low: float, high: float) -> ValueSupport:
        """A single interval."""
        return cls(np.array([low]), np.array([high]))

    @property
    def length(self) -> float:
        """The total width of all pieces."""
        return float((self.ends - self.starts).sum())

    def holds(self, values: Floats) -> Flags:
        """Which values lie in a piece, up to rounding errors; a missing value never does."""
        slack = 1e-9 * (self.ends[-1] - self.starts[0])
        inside_mask = (values[:, None] >= self.starts - slack) & (values[:, None] <= self.ends + slack)
        return np.asarray(inside_mask.any(axis=1))

    def intersect(self, low: Floats, high: Floats, published_numbers: Floats) -> RemainingInterval:
        """What remains of some intervals, from their lower to their upper ends."""
        width, moment = np.zeros(len(low)), np.zeros(len(low))
        touch_counts, spot = np.zeros(len(low), dtype=np.int64), published_numbers.copy()
        for start, end in zip(self.starts, self.ends, strict=True):
            low_end, other = np.maximum(low, start), np.minimum(high, end)
            overlap = np.maximum(other - low_end, 0.0)
            width += overlap
            moment += np.where(overlap > 0, overlap * (low_end + other) / 2, 0.0)
            touch_counts += other >= low_end
            spot = np.where(other >= low_end, low_end, spot)
        middle = np.divide(moment, width, out=spot, where=width > 0)
        return RemainingInterval(high - low, width, middle, low, high, touch_counts)


@dataclass(frozen=True, eq=False)
class RevealedColumn:
    """One column: the true values, and what remains of everybody's interval."""

    name: str
    true: Floats
    support: ValueSupport
    remaining_interval: RemainingInterval
    """What remains within the support."""
    plain: RemainingInterval
    """What remains by the published range alone."""

    @classmethod
    def build_without_noise(cls, name: str, cells: Floats, true: Floats) -> RevealedColumn:
        """A column without noise: only the value itself remains."""
        present_cells = cells[np.isfinite(cells)]
        support = ValueSupport.build_single(
            float(present_cells.min(initial=np.inf)), float(present_cells.max(initial=-np.inf))
        )
        zero_widths = np.zeros(len(cells))
        interval = RemainingInterval(zero_widths, zero_widths, cells, cells, cells, np.ones(len(cells), dtype=np.int64))
        return cls(name, true, support, interval, interval)

    def narrow(self, share: float, gaps: bool = True) -> Flags:
        """Which intervals are narrow enough and hold the truth."""
        interval = self.remaining_interval if gaps else self.plain
        return np.asarray((interval.width <= share * interval.span * (1 + 1e-9)) & self._flag_right(interval, gaps))

    def narrow_in_one(self, share: float) -> Flags:
        """Of those, which lie in one of several pieces."""
        return np.asarray(
            self.narrow(share) & (self.remaining_interval.components == 1) & (len(self.support.starts) > 1)
        )

    def average_width(self) -> float | None:
        """The mean share that remains of the interval that the noise allows."""
        width, span = self.remaining_interval.width, self.remaining_interval.span
        positive_mask = np.isfinite(span) & (span > 0)
        if not positive_mask.any():
            return None
        return float(f"{np.mean(width[positive_mask] / span[positive_mask]):.9g}")

    def _flag_right(self, interval: RemainingInterval, gaps: bool) -> Flags:
        slack = 1e-9 * np.maximum(np.abs(self.true), interval.span)
        inside_mask = (self.true >= interval.low - slack) & (self.true <= interval.high + slack)
        return np.asarray(inside_mask & (self.support.holds(self.true) | (not gaps)))


class TrueBounds(NamedTuple):
    """Between which two numbers each original must lie."""

    low: Floats
    high: Floats


def bound_true_values(published_numbers: Floats, noise: Noise) -> TrueBounds:
    """The smallest and largest original that could have become each published value. Where values were rounded, this
    includes half a step; where there is a grid, the rounding of both the original and the noise.
    """
    if noise.kind == "discretize":
        low = noise.origin + np.floor((published_numbers - noise.origin) / noise.scale + 1e-9) * noise.scale
        return TrueBounds(low - noise.step / 2, low + noise.scale - noise.step / 2)
    reach = noise.scale + (noise.step / 2 or noise.grid)
    return TrueBounds(published_numbers - reach, published_numbers + reach)


def find_support(
    values: Floats, noise: Noise, value_range: tuple[float, float], bins: int, density: float
) -> ValueSupport:
    """Where true values can be: bins with some probability, one more bin on either side, and uncertain gaps."""
    from sfumato.mine.noise.reconstruction import (
        binned_em,
        build_channel,
        build_noisy_edges,
        build_true_edges,
        compute_even_shares,
        count_in_bins,
    )

    edges = build_true_edges(*value_range, bins, noise.step)
    noisy_edges = build_noisy_edges(noise, edges)
    counts, channel = count_in_bins(values, noisy_edges), build_channel(noise, edges, noisy_edges)
    probabilities = binned_em(counts, channel, compute_even_shares(edges), stop=_STEPS)
    full = probabilities >= density * compute_even_shares(edges)
    full[1:], full[:-1] = full[1:] | full[:-1], full[:-1] | full[1:]
    likely = _maximize_likelihood(counts, channel, probabilities, np.zeros(len(probabilities)))

    def doubt(start: int, end: int) -> float:
        """How much less likely the release would be with people in some bins."""
        fixed_shares = np.where(
            (np.arange(len(probabilities)) >= start) & (np.arange(len(probabilities)) < end),
            density * compute_even_shares(edges),
            0.0,
        )
        return 2 * (likely - _maximize_likelihood(counts, channel, probabilities, fixed_shares))

    for start, end in _list_true_runs(~full):
        if doubt(start, end) < _MOST_DOUBT:
            full[start:end] = True
            continue
        full[start : start + _count_unsure_bins(doubt, start, end, is_rising=True)] |= start > 0
        full[end - _count_unsure_bins(doubt, start, end, is_rising=False) : end] |= end < len(full)
    pieces = _list_true_runs(full)
    return ValueSupport(edges[[start for start, _ in pieces]], edges[[end for _, end in pieces]])


def _count_unsure_bins(doubt: Callable[[int, int], float], start: int, end: int, *, is_rising: bool) -> int:
    """The most bins at one edge of a gap that could hold people; by bisection, as doubt grows with them."""
    low, high = 0, end - start
    while low < high:
        middle = (low + high + 1) // 2
        edge_doubt = doubt(start, start + middle) if is_rising else doubt(end - middle, end)
        low, high = (middle, high) if edge_doubt < _EDGE else (low, middle - 1)
    return low


def _maximize_likelihood(counts: Ints, channel: Floats, start: Floats, fixed_shares: Floats) -> float:
    """The log-likelihood of the best distribution that keeps the fixed shares, near another one."""
    seen_mask, rest, shares = counts > 0, 1 - fixed_shares.sum(), start
    rows, bin_counts = channel[seen_mask], counts[seen_mask]
    for _ in range(_STEPS):
        shares = shares * ((bin_counts / (rows @ (fixed_shares + rest * shares))) @ rows)
        shares = shares / shares.sum()
    return float(bin_counts @ np.log(rows @ (fixed_shares + rest * shares)))


def _list_true_runs(flags: Flags) -> list[tuple[int, int]]:
    """Where runs of true begin and end."""
    turns = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [(int(start), int(end)) for start, end in zip(turns[::2], turns[1::2], strict=True)]
