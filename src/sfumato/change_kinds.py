# SPDX-License-Identifier: MIT
"""Every kind of change that a method may state about a column, and all that follows from the statement.

A kind is one line of `ChangeKind`: its words, how written cells may differ from their originals, how the loss is
measured, what everybody may assume about a cell. Methods only name a kind. What follows is done by code that shares
nothing with them: `measure/changes.py` refuses false statements, `measure/change_losses.py` measures the loss,
`attack/anonymity/recoding.py` looks people up by the rule, `workflow/verdict.py` asks who is named. A field left out
has the value that assumes the least: it trusts the column less, and never hides a finding.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, Self

import polars as pl

from sfumato.data.cells.recoding_rules import Recode, RecodedColumn, are_numbers, read_rounding
from sfumato.data.hierarchies.hierarchy import spell_cells


class CellDifference(StrEnum):
    """How a published cell differs from its original."""

    BLANKED = "blanked"
    """It is empty and was not."""
    COARSER = "coarser"
    """Its label, other than `*`, covers the original: one of the column's hierarchy, a range or a set."""
    SUPPRESSED = "suppressed"
    """It is `*`, which covers anything."""
    FILLED = "filled"
    """It was empty and has a value, other than a label of all values."""
    OTHER = "other"
    """It has any other value."""


class LossMeasure(StrEnum):
    """How `measure/change_losses.py` measures what a kind of change loses, 0 to 1."""

    CHANGED_CELLS = "changed_cells"
    """The share of all cells that differ: right for any rule."""
    CHANGED_KNOWN_CELLS = "changed_known_cells"
    """The share of cells that differ, of those that are not empty."""
    NOISE_SHARE = "noise_share"
    """The share of the published variance that is noise."""
    MIDPOINT_SHARE = "midpoint_share"
    """The share of the variance that midpoints do not show."""
    WITHIN_GROUPS = "within_groups"
    """The share of the spread that is within groups."""
    PUBLISHED_LAW = "published_law"
    """How often chance answers, by the published law."""
    AMBIGUOUS_CODES = "ambiguous_codes"
    """The share of cells whose code stands for several originals, so that no key decodes it."""


class LossWords(NamedTuple):
    """A loss in words, for reports."""

    meaning: str
    """What it is a share of, as a sentence."""
    caption: str
    """What the rest, 1 − loss, is a share of: the line above a percentage."""
    scope: str
    """The line below it: where, or in what."""


_NO_DIFFERENCES: frozenset[CellDifference] = frozenset()
_ANY = frozenset(CellDifference)
_BLANKS = frozenset({CellDifference.BLANKED})
_LABELS = frozenset({CellDifference.COARSER, CellDifference.SUPPRESSED})
_NEW_LABELS = frozenset({CellDifference.COARSER, CellDifference.OTHER})
_RECODED_AND_FILLED = _NEW_LABELS | {CellDifference.FILLED}


class KindMeaning(NamedTuple):
    """What a kind of change says about each cell of a column."""

    words: str = ""
    """The change in a report's table of columns. Without words: changed by the method."""
    differences: frozenset[CellDifference] = _ANY
    """How cells may differ from their originals; any other difference stops the release."""
    most_new_values: int | None = None
    """How many different values may take the place of originals that they do not cover; None: any number."""
    values_of_other_rows: bool = False
    """Whether a new value must be one that the column had."""
    loss: LossMeasure | None = None
    """How gates measure the loss; None if labels show it, or nothing does."""
    loss_words: LossWords | None = None
    """The loss by this measure in words: a method that states this kind alone writes none of its own."""
    read_rule: Callable[[RecodedColumn], Recode | None] | None = None
    """How attacks read the rule off the release, if it is public and without chance: they see people as it shows them.
    It gives None where it cannot read it."""
    publishes_originals: bool = True
    """Whether a cell may tell what one person alone had: a name in another row, in a set or at the end of a range is
    still a name."""
    known_to_nobody: bool = False
    """Whether a cell is of chance or a code, so that being unique by it singles nobody out."""
    hides_cells: bool = True
    """Whether some originals can no longer be seen, so that the column's type must not tell of them."""
    is_original_or_label: bool = False
    """Whether each cell of a column without hierarchy is its original, empty, or a label that tells no spelling. Then
    the published cells decide how the originals among them are spelled."""
    is_of_any_method: bool = False
    """Whether each method may do so to columns that it does not treat."""
    techniques: tuple[str, ...] = ()
    """The techniques of ISO/IEC 20889 that make such cells; `iso_20889` of a method that states the kind names one."""


def _read_caps(column: RecodedColumn) -> Recode | None:
    """The smallest and the largest published number; None for words, and for numbers with noise."""
    cells = column.cells.drop_nulls()
    if column.has_law or not are_numbers(cells, column.known_values):
        return None
    ends = cells.sort()
    return lambda values: values.clip(ends[0], ends[-1])


def _read_groups(column: RecodedColumn) -> Recode | None:
    """What is published stays; all else has the label: the cell that more rows hold than people are known to."""
    cells = column.cells
    if not cells.count():
        return None
    texts = spell_cells(cells)
    people = spell_cells(column.known_values).alias("cell").value_counts(name="people")
    surplus = texts.alias("cell").value_counts(name="rows").join(people, on="cell", how="left", nulls_equal=True)
    ranked_cells = surplus.filter(pl.col("cell").is_not_null()).sort(
        pl.col("rows") - pl.col("people").cast(pl.Int64).fill_null(0), pl.col("cell")
    )
    label, published_texts = ranked_cells["cell"][-1], texts.drop_nulls().unique().implode()

    def recode(values: pl.Series) -> pl.Series:
        value_texts = spell_cells(values)
        stays = value_texts.is_in(published_texts).fill_null(texts.null_count() > 0)
        labels = pl.repeat(label, len(value_texts), dtype=pl.String, eager=True)
        recoded_texts = value_texts.zip_with(stays, labels)
        return recoded_texts == "true" if cells.dtype == pl.Boolean else recoded_texts.cast(cells.dtype)

    return recode


class ChangeKind(StrEnum):
    """What happened to the cells of a column."""

    meaning: KindMeaning

    def __new__(cls, value: str, meaning: KindMeaning = KindMeaning()) -> Self:  # noqa: B008  # it cannot be changed
        """A kind by its word in certificates, and what it says."""
        kind = str.__new__(cls, value)
        kind._value_ = value
        kind.meaning = meaning
        return kind

    KEPT = (
        "kept",
        KindMeaning("unchanged", _NO_DIFFERENCES, hides_cells=False, is_original_or_label=True, is_of_any_method=True),
    )
    GENERALIZED = (
        "generalized",
        KindMeaning(
            "generalized, row by row",
            _LABELS,
            publishes_originals=False,
            hides_cells=False,
            is_original_or_label=True,
            techniques=("generalization", "masking"),
        ),
    )
    PARTLY_GENERALIZED = (
        "partly_generalized",
        KindMeaning(
            "generalized, some values as they were",
            _LABELS,
            hides_cells=False,
            is_original_or_label=True,
            techniques=("generalization",),
        ),
    )
    RANGES = (
        "ranges",
        KindMeaning("ranges or sets of values", _LABELS, hides_cells=False, techniques=("generalization",)),
    )
    ROUNDED = (
        "rounded",
        KindMeaning(
            "rounded to multiples of a step",
            _NEW_LABELS,
            loss=LossMeasure.CHANGED_KNOWN_CELLS,
            loss_words=LossWords(
                "Of the known numbers in the rounded columns, the share that was changed.",
                "of numbers left as they were",
                "in the rounded columns",
            ),
            read_rule=read_rounding,
            hides_cells=False,
            techniques=("rounding", "generalization"),
        ),
    )
    CAPPED = (
        "capped",
        KindMeaning(
            "extremes capped",
            _NEW_LABELS,
            most_new_values=2,
            loss=LossMeasure.CHANGED_KNOWN_CELLS,
            loss_words=LossWords(
                "Of the known values in the capped columns, the share that was capped.",
                "of values not capped",
                "in the capped columns",
            ),
            read_rule=_read_caps,
            techniques=("top and bottom coding",),
        ),
    )
    GROUPED = (
        "grouped",
        KindMeaning(
            "rare values under one label",
            _RECODED_AND_FILLED,
            most_new_values=1,
            loss=LossMeasure.CHANGED_CELLS,
            loss_words=LossWords(
                "Of the cells in the grouped columns, the share that became the label.",
                "of cells left as they were",
                "in the grouped columns",
            ),
            read_rule=_read_groups,
            is_original_or_label=True,
            techniques=("generalization",),
        ),
    )
    MEANS = (
        "means",
        KindMeaning(
            "mean, median or mode of a group",
            _ANY,  # most of a group may lack a word
            loss=LossMeasure.WITHIN_GROUPS,
            loss_words=LossWords(
                "Of the spread (variance) of the aggregated columns, the share that lies within the groups.",
                "of the spread kept",
                "variance between groups, in the aggregated columns",
            ),
            techniques=("microaggregation",),
        ),
    )
    NOISE = (
        "noise",
        KindMeaning(
            "noise added",
            _NEW_LABELS,
            loss=LossMeasure.NOISE_SHARE,
            loss_words=LossWords(
                "Of the spread (variance) of the published numbers, the share that is noise.",
                "of the spread is data",
                "variance of noisy columns; the rest is noise",
            ),
            known_to_nobody=True,
            hides_cells=False,
            techniques=("noise addition",),
        ),
    )
    INTERVALS = (
        "intervals",
        KindMeaning(
            "midpoints of intervals",
            _NEW_LABELS,
            loss=LossMeasure.MIDPOINT_SHARE,
            loss_words=LossWords(
                "Of the spread (variance) of the numbers, the share that the midpoints do not show; the method "
                "estimates it from the release.",
                "of the spread is shown",
                "variance of columns cut into intervals",
            ),
            read_rule=read_rounding,
            publishes_originals=False,
            hides_cells=False,
            techniques=("generalization",),
        ),
    )
    SWAPPED = (
        "swapped",
        KindMeaning(
            "values may be swapped",
            values_of_other_rows=True,
            loss=LossMeasure.CHANGED_KNOWN_CELLS,
            loss_words=LossWords(
                "Of the values in swapped columns, the share that is not the person's own.",
                "of values left as they were",
                "in the swapped columns",
            ),
            hides_cells=False,
            techniques=("permutation",),
        ),
    )
    DRAWN = (
        "drawn",
        KindMeaning("drawn from a model", known_to_nobody=True, hides_cells=False, techniques=("synthetic data",)),
    )
    ANSWERED = (
        "answered",
        KindMeaning(
            "randomized answers",
            loss=LossMeasure.PUBLISHED_LAW,
            loss_words=LossWords(
                "The share of answers that are drawn at random, whatever the truth is.",
                "of answers depend on the truth",
                "the rest are drawn at random",
            ),
            hides_cells=False,
            techniques=("noise addition",),
        ),
    )
    BLANKED = (
        "blanked",
        KindMeaning(
            "some cells may be blanked",
            _BLANKS,
            is_original_or_label=True,
            techniques=("masking", "local suppression"),
        ),
    )
    CODED = (
        "coded",
        KindMeaning(
            "codes instead of values",
            loss=LossMeasure.AMBIGUOUS_CODES,
            loss_words=LossWords(
                "Of the coded cells, the share whose code stands for several values: the key decodes the others.",
                "of codes stand for one value",
                "the key decodes them",
            ),
            publishes_originals=False,
            known_to_nobody=True,
            hides_cells=False,
            techniques=("pseudonymization", "cryptographic tools"),
        ),
    )
    DROPPED = "dropped", KindMeaning("removed", publishes_originals=False, hides_cells=False, is_of_any_method=True)
    OTHER = "other"

    @property
    def is_exact(self) -> bool:
        """Whether a cell that is not empty is the original."""
        return self.meaning.differences <= _BLANKS

    @property
    def is_truthful(self) -> bool:
        """Whether a cell equals or covers its original, so that anyone who knows the original finds its row."""
        return self.meaning.differences <= _LABELS

    @property
    def makes_labels(self) -> bool:
        """Whether a cell may be a label that covers several values: else a text that looks like one is a value."""
        return self._may_cover and CellDifference.COARSER in self.meaning.differences

    @property
    def makes_stars(self) -> bool:
        """Whether a cell may be `*` that was not: swaps, models and randomized answers show one only as a value."""
        return self._may_cover and CellDifference.SUPPRESSED in self.meaning.differences

    @property
    def _may_cover(self) -> bool:
        return self.is_truthful or self is ChangeKind.OTHER
