# SPDX-License-Identifier: MIT
"""Sequential trees: predict each column from the earlier ones, and draw its value from the leaf's people.

A table is drawn column by column. The first is drawn from everybody. For each next one a tree is grown on the earlier
columns; a synthetic row falls into a leaf, and takes the value of one of the people there. Whether a cell is missing is
drawn first, by a separate tree. A leaf has at least `min_leaf` people, so no value is drawn from fewer. What leaks:
values are people's own values unless smoothed, and a leaf whose people all agree discloses their value. Words of too
few people are not drawn: the tree of a column is grown without the people who have them. J. P. Reiter, *Using CART to
generate partially synthetic public use microdata* (2005); B. Nowok, G. M. Raab, C. Dibben, *synthpop* (2016).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.arrays import Floats, Ints
from sfumato.data.hierarchies.coarse_range import narrow_range
from sfumato.errors import ImpossibleRelease, count_noun
from sfumato.protect.synthesis.synthesis_columns import (
    DrawnCells,
    SynthesisColumn,
    group_rare_categories,
    number_target_classes,
    order_by_classes,
    order_by_mean,
)
from sfumato.runtime.progress import report_progress

# A cut must explain at least half of one person's spread. Cuts that explain less follow chance: with many columns, they
# give some people far more weight than others, and they copy.
_LEAST_GAIN = 0.5
# If more people than that have an almost unique word, the others' words would say nothing about a column.
_MOST_RARE = 0.75


@dataclass(frozen=True, eq=False, repr=False)
class TreeLeaves:
    """A tree grown on some people, who are ordered by leaf."""

    tree: Any
    """None if everybody is in one leaf."""
    readers: tuple[tuple[str, Floats | None], ...]
    """The columns that the tree uses, with the number of each category; None for a number itself."""
    places: Ints
    """The leaf's index, by the tree's own number of it."""
    donors: Ints
    """The people's cells, leaf by leaf: codes of their values, in order."""
    starts: Ints
    sizes: Ints

    @property
    def smallest(self) -> int:
        """The number of people in the smallest leaf."""
        return int(self.sizes.min())

    def find_leaves(self, rows: Mapping[str, DrawnCells], count: int) -> Ints:
        """The leaf into which each synthetic row falls."""
        if self.tree is None:
            return np.zeros(count, dtype=np.int64)
        cells = np.empty((count, len(self.readers)), dtype=np.float32)
        for index, (name, numbers) in enumerate(self.readers):
            codes = rows[name].codes
            cells[:, index] = codes if numbers is None else numbers[codes.astype(np.int64)]
        return np.asarray(self.places[self.tree.apply(cells)])


@dataclass(frozen=True)
class TreeGrowth:
    """How trees are grown."""

    min_leaf: int
    smooth: bool
    seed: int
    rare: bool = False
    """Whether words that fewer than `min_leaf` people have are also drawn."""


@dataclass(frozen=True, eq=False, repr=False)
class ColumnModel:
    """How one column is drawn after the earlier ones: first whether it is missing, then the value."""

    column: SynthesisColumn
    missing: TreeLeaves | None
    values: TreeLeaves | None
    growth: TreeGrowth

    @classmethod
    def fit(
        cls, column: SynthesisColumn, earlier_columns: Sequence[SynthesisColumn], growth: TreeGrowth, source: str
    ) -> ColumnModel:
        """Grow the trees of a column on the earlier ones."""
        all_people, known_people = np.arange(len(column.codes), dtype=np.int64), column.known_people
        if 0 < len(known_people) < growth.min_leaf:
            people = count_noun(len(known_people), "person who is", "people who are")
            verb = "has" if len(known_people) == 1 else "have"
            raise ImpossibleRelease(
                f'{source}: only {people} learned from {verb} a value of "{column.name}", and none may be drawn from '
                f"fewer than min_leaf = {growth.min_leaf}; lower min_leaf or leave the column out"
            )
        if len(known_people) and growth.smooth and column.kind == "number":
            _refuse_few_numbers(column, growth.min_leaf, source)
        missing = None
        if 0 < len(known_people) < len(all_people):
            missing = grow_leaves(all_people, (column.codes >= 0).astype(np.int64), 2, earlier_columns, growth)
        if not len(known_people):
            return cls(column, missing, None, growth)
        if column.kind == "category":
            givers = known_people if growth.rare else _list_givers(column, growth.min_leaf, source)
            classes, width = number_target_classes(column, givers)
            return cls(
                column,
                missing,
                grow_leaves(givers, classes, width, earlier_columns, growth, column.codes[givers]),
                growth,
            )
        return cls(
            column, missing, grow_leaves(known_people, column.codes[known_people], 0, earlier_columns, growth), growth
        )

    def draw(self, rows: Mapping[str, DrawnCells], count: int, chance: np.random.Generator) -> DrawnCells:
        """Draw the column for rows whose earlier columns are drawn."""
        codes = np.full(count, -1.0)
        numbers = np.zeros(count, dtype=self.column.numbers.dtype) if self.column.kind == "number" else np.zeros(0)
        if self.values is None:
            return DrawnCells(codes, numbers)
        present = np.ones(count, dtype=np.bool_)
        if self.missing is not None:
            present = _draw_donors(self.missing, self.missing.find_leaves(rows, count), chance)[0] == 1
        leaf = self.values.find_leaves(rows, count)
        donor_codes, donor_places = _draw_donors(self.values, leaf, chance)
        if self.column.kind == "category":
            return DrawnCells(np.where(present, donor_codes, -1).astype(np.float64), numbers)
        if self.growth.smooth:
            drawn_numbers = self._smooth_numbers(donor_codes, donor_places, leaf, chance)
        else:
            drawn_numbers = DrawnCells(donor_codes.astype(np.float64), self.column.numbers[donor_codes])
        drawn_numbers.codes[~present] = -1.0
        return drawn_numbers

    def _smooth_numbers(
        self, donor_codes: Ints, donor_places: Ints, leaf: Ints, chance: np.random.Generator
    ) -> DrawnCells:
        """Move numbers that few people have towards the nearest other one in the leaf; none beyond the extremes.

        A value of at least `min_leaf` people is nobody's own and stays, which preserves heaping at round numbers.
        """
        assert self.values is not None
        column, donors = self.column, self.values.donors
        numbers = column.numbers
        start = self.values.starts[leaf]
        last = start + self.values.sizes[leaf] - 1
        lower_codes, upper_codes = (
            donors[np.maximum(donor_places - 1, start)],
            donors[np.minimum(donor_places + 1, last)],
        )
        donor_numbers, low, high = (
            numbers[code_array].astype(np.float64) for code_array in (donor_codes, lower_codes, upper_codes)
        )
        lower_gap, upper_gap = donor_numbers - low, high - donor_numbers
        nearer_below = (donor_places > start) & ((donor_places == last) | (lower_gap <= upper_gap))
        gap = np.where(nearer_below, -lower_gap, upper_gap)
        few = column.counts[donor_codes] < self.growth.min_leaf
        moved_numbers = _move_numbers(
            numbers[donor_codes], np.where(few, gap, 0.0), chance.random(len(donor_codes)), column.decimals
        )
        low, high = _choose_published_bounds(column, self.growth.min_leaf)
        if column.decimals is None and high > low:
            # The last bits of a sum of floats would disclose its terms; nobody needs them.
            moved_numbers = np.where(
                few, np.round(moved_numbers, int(np.clip(6 - np.floor(np.log10(high - low)), 0, 300))), moved_numbers
            )
        moved_numbers = np.clip(moved_numbers, low, high)
        allowed_numbers = column.list_allowed(self.growth.min_leaf)
        if allowed_numbers is not None:
            moved_numbers = _find_nearest_listed(allowed_numbers, moved_numbers)
        return DrawnCells(_rank_numbers(numbers, moved_numbers), moved_numbers)


def grow_leaves(
    people: Ints,
    target: Ints,
    classes: int,
    earlier_columns: Sequence[SynthesisColumn],
    growth: TreeGrowth,
    donated_codes: Ints | None = None,
) -> TreeLeaves:
    """A tree that predicts a target (of this many classes; 0 for a number) of some people from earlier columns."""
    donated_codes = target if donated_codes is None else donated_codes
    if not earlier_columns or len(people) < 2 * growth.min_leaf or len(np.unique(target)) < 2:
        return _sort_into_leaves(None, (), np.zeros(len(people), dtype=np.int64), donated_codes)
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    readers = tuple(_choose_reader(column, people, target, classes, growth) for column in earlier_columns)
    cells = np.empty((len(people), len(earlier_columns)), dtype=np.float32)
    for index, (column, (_, numbers)) in enumerate(zip(earlier_columns, readers, strict=True)):
        codes = column.codes[people]
        cells[:, index] = codes if numbers is None else numbers[codes]
    kind = DecisionTreeClassifier if classes else DecisionTreeRegressor
    least = _LEAST_GAIN * _compute_spread(target, classes) / len(target)
    tree = kind(min_samples_leaf=growth.min_leaf, min_impurity_decrease=least, random_state=growth.seed)
    with warnings.catch_warnings():
        # Few people may have many different values; min_leaf, not the number of classes, keeps them apart.
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        tree.fit(cells, target if classes else target.astype(np.float64))
    return _sort_into_leaves(tree.tree_, readers, np.asarray(tree.tree_.apply(cells)), donated_codes)


def _compute_spread(target: Ints, classes: int) -> float:
    """The impurity of everybody together: Gini's index of classes, the variance of numbers."""
    if not classes:
        return float(target.astype(np.float64).var())
    shares = np.bincount(target, minlength=classes) / len(target)
    return float(1 - (shares * shares).sum())


def _choose_reader(
    column: SynthesisColumn, people: Ints, target: Ints, classes: int, growth: TreeGrowth
) -> tuple[str, Floats | None]:
    """How a tree reads a column: numbers as they are, categories in an order that suits the target."""
    if column.kind == "number":
        return column.name, None
    group, count = group_rare_categories(column, growth.min_leaf)
    groups = group[column.codes[people]]  # −1, a missing cell, is the last
    group_scores = (
        order_by_classes(groups, count, target, classes)
        if classes
        else order_by_mean(groups, count, target.astype(np.float64))
    )
    # Ranks, because trees read single precision: different numbers must stay different.
    _, ranks = np.unique(group_scores, return_inverse=True)
    return column.name, ranks.reshape(-1).astype(np.float64)[group]


def _sort_into_leaves(
    tree: Any, readers: tuple[tuple[str, Floats | None], ...], leaf: Ints, donated_codes: Ints
) -> TreeLeaves:
    """People in the order of their leaves, and of their values within."""
    numbers, inverse, sizes = np.unique(leaf, return_inverse=True, return_counts=True)
    inverse = inverse.reshape(-1)
    order = np.lexsort((donated_codes, inverse))
    places = np.zeros(int(numbers[-1]) + 1, dtype=np.int64)
    places[numbers] = np.arange(len(numbers))
    sizes = sizes.astype(np.int64)
    return TreeLeaves(tree, readers, places, donated_codes[order].astype(np.int64), np.cumsum(sizes) - sizes, sizes)


def _draw_donors(leaves: TreeLeaves, leaf: Ints, chance: np.random.Generator) -> tuple[Ints, Ints]:
    """For each row the cell of one of its leaf's people, uniformly, and that person's position."""
    donor_places = leaves.starts[leaf] + (chance.random(len(leaf)) * leaves.sizes[leaf]).astype(np.int64)
    return leaves.donors[donor_places], donor_places


def _move_numbers(numbers: npt.NDArray[Any], gap: Floats, part: Floats, decimals: int | None) -> npt.NDArray[Any]:
    """Numbers moved part of the way to another one; whole ones end up in between, if possible."""
    if numbers.dtype.kind == "i":
        wide = np.abs(gap) >= 2
        whole_steps = np.sign(gap) * (1 + np.floor(part * (np.abs(gap) - 1)))
        return np.asarray(numbers + np.where(wide, whole_steps, np.rint(part * gap)).astype(np.int64))
    moved_numbers = numbers + part * gap
    return np.asarray(moved_numbers if decimals is None else np.round(moved_numbers, decimals))


def _find_nearest_listed(numbers: npt.NDArray[Any], values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The nearest listed number."""
    upper_indices = np.clip(np.searchsorted(numbers, values), 1, max(len(numbers) - 1, 1))
    low, high = numbers[upper_indices - 1], numbers[np.minimum(upper_indices, len(numbers) - 1)]
    return np.asarray(np.where(values - low <= high - values, low, high))


def _find_shared_extremes(column: SynthesisColumn, fewest: int) -> tuple[int, int]:
    """The indices of the lowest and the highest value that at least this many people reach or exceed."""
    from_below = np.cumsum(column.counts)
    from_above = from_below[-1] - from_below + column.counts
    return int(np.argmax(from_below >= fewest)), int(len(from_above) - 1 - np.argmax(from_above[::-1] >= fewest))


def _choose_published_bounds(column: SynthesisColumn, fewest: int) -> tuple[Any, Any]:
    """The limits of published numbers: those that enough people reach, moved inward to a coarse grid.

    The number itself would be someone's own, to whom everybody beyond was pulled back; one that enough people have is
    nobody's own, and stays. The grid is a 1-2-5 number that is a hundredth of the distance between them, or more.
    """
    least, most = _find_shared_extremes(column, fewest)
    low, high = column.numbers[least], column.numbers[most]
    if not high > low:
        return low, high
    whole = column.numbers.dtype.kind == "i"
    inner = narrow_range(low.item(), high.item(), whole=whole)
    inner_low, inner_high = ((int if whole else float)(end) for end in inner)
    low_kept, high_kept = (bool(column.counts[index] >= fewest) for index in (least, most))
    coarse = low if low_kept else inner_low, high if high_kept else inner_high
    return coarse if coarse[0] < coarse[1] else (low, high)


def _list_givers(column: SynthesisColumn, fewest: int, source: str) -> Ints:
    """The people whose word may be drawn, because enough have it."""
    if column.measure_rare_share(fewest) > _MOST_RARE:
        rare = len(column.known_people) - len(column.list_common(fewest))
        raise ImpossibleRelease(
            f"{source}: {rare} of the {len(column.known_people)} people that are learned from have a word of "
            f'"{column.name}" that fewer than min_leaf = {fewest} have; leave the column out, make its words coarser, '
            'spell dates and amounts in a single format, lower min_leaf, or set rare = "keep" to publish them '
            "unchanged"
        )
    return column.list_common(fewest)


def _refuse_few_numbers(column: SynthesisColumn, fewest: int, source: str) -> None:
    low, high = _find_shared_extremes(column, fewest)
    if low > high:
        raise ImpossibleRelease(
            f'{source}: "{column.name}" has {count_noun(len(column.known_people), "number")}, and none that has '
            f"min_leaf = {fewest} people at or below it and as many at or above it; lower min_leaf, add people, or set "
            "smooth = false"
        )


def _rank_numbers(numbers: npt.NDArray[Any], values: npt.NDArray[Any]) -> Floats:
    """The positions of numbers among the distinct ones; halfway between two if they are none of them."""
    positions = np.searchsorted(numbers, values)
    listed_mask = numbers[np.minimum(positions, len(numbers) - 1)] == values
    return np.where(listed_mask, positions, positions - 0.5)


def fit_models(
    columns: Sequence[SynthesisColumn], kept_columns: Sequence[SynthesisColumn], growth: TreeGrowth, source: str
) -> tuple[ColumnModel, ...]:
    """A model for each column, on the kept and the earlier ones."""
    models: list[ColumnModel] = []
    for index, column in enumerate(columns):
        report_progress("growing trees", index, len(columns))
        models.append(ColumnModel.fit(column, (*kept_columns, *columns[:index]), growth, source))
    return tuple(models)


def draw_rows(
    models: Sequence[ColumnModel],
    count: int,
    chance: np.random.Generator,
    kept_cells: Mapping[str, DrawnCells] | None = None,
) -> dict[str, DrawnCells]:
    """Draw synthetic rows, column by column."""
    rows: dict[str, DrawnCells] = dict(kept_cells or {})
    for model in models:
        report_progress("drawing rows")
        rows[model.column.name] = model.draw(rows, count, chance)
    return rows
