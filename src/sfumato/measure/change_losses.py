# SPDX-License-Identifier: MIT
"""The loss of changes that labels do not show, measured on the file: noise, means, rounding, caps, groups, codes.

A method states what it did to each column, and its own loss; a limit on the loss must not rest on the method's word. So
the loss is computed again here from the originals and the file, by the definition on the method's page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import polars as pl

from sfumato.arrays import Floats
from sfumato.change import Change, ChangeKind
from sfumato.change_kinds import LossMeasure
from sfumato.data.cells.coded_cells import count_cells
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.measure.alignment import Rows, align_originals
from sfumato.measure.cell_readers import Reader, choose_moment_reader, choose_number_reader
from sfumato.public.answer_channel import AnswerLaw
from sfumato.published_law import PublishedLaw
from sfumato.table import Table

SeriesPairs = Sequence[tuple[pl.Series, pl.Series]]
"""Columns before and after."""


def measure_change_loss(
    original: Table,
    published_table: Table,
    changes: Iterable[Change],
    public: Mapping[str, PublishedLaw],
    rows: Rows = None,
) -> float | None:
    """The largest loss of a kind of change; None if no column was changed in a way that these measure."""
    original_frame = align_originals(original, published_table, rows)
    kinds: dict[ChangeKind, list[str]] = {}
    for change in changes:
        if change.column in published_table.frame.columns:
            kinds.setdefault(change.kind, []).append(change.column)
    losses, answer_laws = [], []
    for kind, names in kinds.items():
        if kind.meaning.loss is LossMeasure.PUBLISHED_LAW:
            answer_laws += [law for name in names if isinstance(law := public.get(name), AnswerLaw)]
        elif kind.meaning.loss is not None:
            measure = _MEASURES[kind.meaning.loss]
            losses.append(
                measure([(original_frame[name], published_table.frame[name]) for name in dict.fromkeys(names)])
            )
    if answer_laws:
        # How often chance answers is in the published law, which a claim compares with the answers.
        losses.append(sum(law.chance_share for law in answer_laws) / len(answer_laws))
    return max(losses) if losses else None


def _measure_noise(columns: SeriesPairs) -> float:
    """The mean share of the published variance that is noise."""
    return _average(
        columns,
        lambda was, published_numbers: float((published_numbers - was).var()) / (float(published_numbers.var()) or 1.0),
    )


def _measure_intervals(columns: SeriesPairs) -> float:
    """The mean share of the variance that midpoints do not show."""
    return _average(
        columns,
        lambda was, published_numbers: float(((published_numbers - was) ** 2).mean()) / (float(was.var()) or 1.0),
    )


def _average(columns: SeriesPairs, measure: Callable[[Floats, Floats], float]) -> float:
    pairs = [_read_known_numbers(column, choose_number_reader(column[0])) for column in columns]
    shares = [min(measure(*pair), 1.0) for pair in pairs if pair is not None and len(pair[0])]
    return sum(shares) / len(shares) if shares else 0.0


def _read_known_numbers(column: tuple[pl.Series, pl.Series], read: Reader | None) -> tuple[Floats, Floats] | None:
    """The cells that are known before and after, as numbers; None without a reader."""
    was, published_cells = column
    if read is None:
        return None
    number_pairs = pl.DataFrame(
        {"was": read(was).cast(pl.Float64), "now": read(published_cells).cast(pl.Float64)}
    ).drop_nulls()
    return number_pairs["was"].to_numpy(), number_pairs["now"].to_numpy()


def _measure_means(columns: SeriesPairs) -> float:
    """The share of the spread within groups: squares of standardized numbers and moments, and categories that differ.

    Amounts that are kept as text have no mean that a method could publish: they are categories.
    """
    within_sum = total = 0.0
    for column in columns:
        choose_reader = choose_number_reader if column[0].dtype.is_numeric() else choose_moment_reader
        numbers = _read_known_numbers(column, choose_reader(column[0]))
        if numbers is not None:
            was, published_numbers = numbers
            # The variance of equal numbers may be the residue of rounding.
            spread = float(was.var()) if len(was) and was.min() < was.max() else 0.0
            within_sum += float(((was - published_numbers) ** 2).sum()) / spread if spread else 0.0
            total += len(was) if spread else 0.0
        else:
            texts, published_texts = spell_cells(column[0]), spell_cells(column[1])
            within_sum += int(texts.ne_missing(published_texts).sum())
            total += len(texts) - int(count_cells(texts).counts.max())
    return min(within_sum / total, 1.0) if total else 0.0


def _measure_changed_known_share(columns: SeriesPairs) -> float:
    """The share of known cells that differ."""
    changed_count = sum(
        int(spell_cells(was).ne_missing(spell_cells(published_cells)).sum()) for was, published_cells in columns
    )
    known_count = sum(was.count() for was, _ in columns)
    return changed_count / known_count if known_count else 0.0


def _measure_changed_share(columns: SeriesPairs) -> float:
    """The share of all cells that differ: an empty one may have got a value, too."""
    changed_count = sum(
        int(spell_cells(was).ne_missing(spell_cells(published_cells)).sum()) for was, published_cells in columns
    )
    cells = sum(len(was) for was, _ in columns)
    return changed_count / cells if cells else 0.0


def _measure_ambiguous_share(columns: SeriesPairs) -> float:
    """The share of cells whose code stands for several originals."""
    ambiguous_count = cells = 0
    for was, published_cells in columns:
        pairs = pl.DataFrame({"was": spell_cells(was), "code": spell_cells(published_cells)})
        ambiguous_count += int(pairs.select((pl.col("was").n_unique().over("code") > 1).sum()).item())
        cells += len(was)
    return ambiguous_count / cells if cells else 0.0


_MEASURES: Mapping[LossMeasure, Callable[[SeriesPairs], float]] = {
    LossMeasure.NOISE_SHARE: _measure_noise,
    LossMeasure.MIDPOINT_SHARE: _measure_intervals,
    LossMeasure.WITHIN_GROUPS: _measure_means,
    LossMeasure.CHANGED_KNOWN_CELLS: _measure_changed_known_share,
    LossMeasure.CHANGED_CELLS: _measure_changed_share,
    LossMeasure.AMBIGUOUS_CODES: _measure_ambiguous_share,
}
