# SPDX-License-Identifier: MIT
"""How values are distributed: a bar for each value of a name, a histogram for numbers and days.

The public page shows the published values alone; the custodian sees the originals next to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from markupsafe import Markup

from sfumato.arrays import Floats
from sfumato.data.hierarchies.hierarchy import STAR
from sfumato.data.hierarchies.label_ranges import RangeTexts
from sfumato.engine.stored_table import StoredTable
from sfumato.errors import count_noun
from sfumato.report import content
from sfumato.report.pictures import bar_pictures
from sfumato.report.pictures.day_bins import choose_day_bins, find_end_days, parse_day_cells
from sfumato.report.pictures.number_bins import NumberBins, NumberCells, are_digits_codes, choose_bins, parse_cells
from sfumato.report.run_account import RunAccount
from sfumato.report.words import wording

_VALUES, _TOP = 24, 20
BINS = 16
"""The most bars of a histogram; numbers with fewer values have a bar for each."""


def show_distributions(account: RunAccount, most: int) -> dict[str, Any]:
    """A small picture for each of the first columns that have more than one value."""
    internal, coded_columns = account.internal, content.list_coded_columns(account.certificate)
    names = [name for name in account.distributions if name not in coded_columns]
    figures, single = [], []
    for name in names[:most]:
        counts = account.distributions[name]
        published_counts = counts.filter(pl.col("published") > 0)
        is_starred = published_counts["value"].to_list() in ([], ["*"])
        if published_counts.height <= 1 and (is_starred or counts.height <= 1 or not internal):
            single.append((name, published_counts["value"][0] if published_counts.height else None))
        else:
            shown_counts = counts if internal else published_counts
            figures.append(
                _show_histogram(account, name) or _show_bars(name, shown_counts, internal, content.name_things(account))
            )
    coded_names = wording.quote_first_names([name for name in account.distributions if name in coded_columns], most=20)
    return {"drawn": figures, "single": single, "coded": coded_names, "left": len(names) - len(names[:most])}


class _Scale(NamedTuple):
    """What a histogram is made of."""

    noun: str
    parse: Callable[[pl.Series], NumberCells | None]
    choose: Callable[[Floats, int], NumberBins | None]
    find_end_labels: Callable[[NumberBins], RangeTexts | None]
    """What stands below its ends; None for round numbers."""


_SCALES = (
    _Scale("numbers", parse_cells, choose_bins, lambda bins: None),
    _Scale("days", parse_day_cells, choose_day_bins, find_end_days),
)


def _show_histogram(account: RunAccount, name: str) -> dict[str, Any] | None:
    """Numbers or days in ranges of one scale, before next to after; None for names and for few values."""
    if isinstance(account.published_data, StoredTable):
        return None  # only counts of values are known
    columns = [account.original.frame[name]] if account.internal else []
    columns.append(account.published_data.frame[name])
    figures = (_show_ranges(account, columns, scale) for scale in _SCALES)
    return next((figure for figure in figures if figure is not None), None)


def _show_ranges(account: RunAccount, columns: Sequence[pl.Series], scale: _Scale) -> dict[str, Any] | None:
    name = columns[-1].name
    cells = [numbers for column in columns if (numbers := scale.parse(column)) is not None]
    if len(cells) < len(columns) or max(len(np.unique(numbers.low)) for numbers in cells) <= BINS:
        return None
    if account.internal and are_digits_codes(account.original.hierarchies.get(name)) and not cells[-1].ranges:
        return None
    bins = scale.choose(np.concatenate([ends for numbers in cells for ends in (numbers.low, numbers.high)]), BINS)
    if bins is None:
        return None
    counts = [bins.count(numbers) for numbers in cells]
    original, new_counts = counts[0] if account.internal else None, counts[-1]
    shown_original: Sequence[int | None] = [None] * len(new_counts) if original is None else original
    noun, untold = content.name_things(account).capitalize(), _count_untold(columns)
    return {
        "name": name,
        "svg": Markup(bar_pictures.draw_histogram(bins.edges, new_counts, original, scale.find_end_labels(bins))),
        "label": f"{noun} by {wording.shorten_label(name)}, in {count_noun(len(new_counts), 'range')} of {scale.noun}.",
        "head": "Range",
        "rows": [*zip(bins.labels, shown_original, new_counts, strict=True), *untold],
        "note": " ".join(_list_histogram_notes(bins, cells[-1], untold, scale.noun)),
    }


class _LabelCounts(NamedTuple):
    """How many cells have a label, before and after."""

    label: str
    original_count: int
    published_count: int


class _MissingCounts(NamedTuple):
    """How many cells tell nothing, before and after."""

    label: str
    original_count: int | None
    """None for readers who must not know the originals."""
    published_count: int


def _list_histogram_notes(
    bins: NumberBins, published_cells: NumberCells, untold: Sequence[_MissingCounts], noun: str
) -> list[str]:
    """What a histogram does not show by itself."""
    words = dict(zip(wording.NON_VALUES, ("missing", '"*"'), strict=True))
    not_drawn = [f"{wording.format_count(count)} {words[label]}" for label, _, count in untold if count]
    return [
        *([f"The outermost bars hold all {noun} beyond them."] if bins.open_ends else []),
        *([f"Published ranges are spread evenly over their {noun}."] if published_cells.ranges else []),
        *([f"Not drawn, in the release: {' and '.join(not_drawn)}."] if not_drawn else []),
    ]


def _count_untold(columns: Sequence[pl.Series]) -> list[_MissingCounts]:
    """How many cells are missing or suppressed, where there are any."""
    missing = [column.null_count() for column in columns]
    star_counts = [int((column == STAR).sum()) if column.dtype == pl.String else 0 for column in columns]
    return [
        _MissingCounts(label, counts[0] if len(counts) > 1 else None, counts[-1])
        for label, counts in zip(wording.NON_VALUES, (missing, star_counts), strict=True)
        if any(counts)
    ]


def _show_bars(name: str, counts: pl.DataFrame, internal: bool, row_noun: str) -> dict[str, Any]:
    rows = _shorten_counts(counts)
    labels = [label for label, _, _ in rows]
    original = [count for _, count, _ in rows] if internal else None
    published_counts = [count for _, _, count in rows]
    value_count = counts.filter(pl.col("value") != wording.NON_VALUES[0]).height
    return {
        "name": name,
        "svg": Markup(bar_pictures.draw_distribution(labels, published_counts, original)),
        "label": (
            f"{row_noun.capitalize()} by value of {wording.shorten_label(name)}, {count_noun(value_count, 'value')}."
        ),
        "head": "Value",
        "rows": [
            (wording.shorten_label(label, 60), was if internal else None, published_count)
            for label, was, published_count in rows
        ],
        "note": "",
    }


def _shorten_counts(counts: pl.DataFrame) -> list[_LabelCounts]:
    """Numbers in order, names by frequency; of very many, the most frequent ones and the rest as one row.

    Missing and suppressed cells are never among the rest.
    """
    is_value = ~pl.col("value").is_in(wording.NON_VALUES)
    ranked_counts = counts.filter(is_value).sort(["published", "original", "value"], descending=[True, True, False])
    rest = ranked_counts.height - _TOP if ranked_counts.height > _VALUES else 0
    top_counts = ranked_counts.head(_TOP) if rest else ranked_counts
    shown_counts = pl.concat([top_counts, counts.filter(~is_value)])
    rows: Sequence[tuple[Any, ...]] = shown_counts.select("value", "original", "published").rows()
    labelled_counts = [_LabelCounts(str(label), was, published_count) for label, was, published_count in rows]
    if wording.have_natural_order([label for label, _, _ in labelled_counts]):
        labelled_counts.sort(key=lambda row: wording.make_sort_key(row.label))
    else:
        labelled_counts.sort(
            key=lambda row: wording.NON_VALUES.index(row.label) + 1 if row.label in wording.NON_VALUES else 0
        )
    if rest:
        tail = ranked_counts.tail(-_TOP)
        labelled_counts.append(
            _LabelCounts(
                f"{wording.format_count(rest)} others", int(tail["original"].sum()), int(tail["published"].sum())
            )
        )
    return labelled_counts
