# SPDX-License-Identifier: MIT
"""Synthetic rows that equal a unique original: find and redraw them.

Simply redrawing them would remove from the release what unique people have in common: a group with more of them than
others would shrink. So a row is first replaced by one with the same words and the same missing cells; if there is none,
by one that agrees in the first half of the columns; finally by any.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from sfumato.arrays import Ints
from sfumato.errors import ImpossibleRelease
from sfumato.protect.synthesis.sequential_trees import ColumnModel, draw_rows
from sfumato.protect.synthesis.synthesis_columns import DrawnCells, SynthesisColumn

# How much of a row must stay, and how often it is tried.
_ROUNDS = ((1.0, 10), (0.5, 5), (0.0, 20))
# How many candidates are drawn at once for each row to replace, up to a limit.
_TIMES, _MANY = 5, 50_000


def build_drawn_frame(
    names: Sequence[str], learnt_columns: Mapping[str, SynthesisColumn], rows: Mapping[str, DrawnCells]
) -> pl.DataFrame:
    """Synthetic rows as they are published."""
    return pl.DataFrame([learnt_columns[name].publish(rows[name]) for name in names])


def redraw_copies(
    frame: pl.DataFrame,
    models: Sequence[ColumnModel],
    learnt_columns: Mapping[str, SynthesisColumn],
    rows: Mapping[str, DrawnCells],
    chance: np.random.Generator,
    source: str,
) -> int:
    """Redraw rows that equal a unique original, in place; return how many there were."""
    names = frame.columns
    unique = frame.filter(frame.is_unique())
    remaining_rows = first = _find_copied_rows(build_drawn_frame(names, learnt_columns, rows), unique)
    order = [model.column for model in models]
    for share, times in _ROUNDS:
        alike = order[: round(share * len(order))]
        for _ in range(times if any(column.kind == "number" for column in order) or share < 1 else 0):
            if not len(remaining_rows):
                return len(first)
            new_rows = draw_rows(models, max(len(remaining_rows), min(_TIMES * len(remaining_rows), _MANY)), chance)
            new_copies = _find_copied_rows(build_drawn_frame(names, learnt_columns, new_rows), unique)
            fresh = np.setdiff1d(np.arange(len(new_rows[names[0]].codes), dtype=np.int64), new_copies)
            copied_rows, taken_indices = _match_alike_rows(
                _describe_traits(alike, rows, remaining_rows), _describe_traits(alike, new_rows, fresh)
            )
            for name in names:
                rows[name].fill_rows(remaining_rows[copied_rows], new_rows[name].take(fresh[taken_indices]))
            remaining_rows = np.delete(remaining_rows, copied_rows)
    _repeat_others(rows, remaining_rows, chance, source)
    return len(first)


def _repeat_others(
    rows: Mapping[str, DrawnCells], remaining_rows: Ints, chance: np.random.Generator, source: str
) -> None:
    """Rows that still equal a unique original take the cells of a synthetic row that does not."""
    count = len(next(iter(rows.values())).codes)
    good = np.setdiff1d(np.arange(count, dtype=np.int64), remaining_rows)
    if not len(good):
        raise ImpossibleRelease(
            f"{source}: every one of {count} synthetic rows equals a unique original; publish fewer columns, "
            'or set copies = "allow"'
        )
    taken_rows = good[chance.integers(0, len(good), len(remaining_rows))]
    for cells in rows.values():
        cells.fill_rows(remaining_rows, cells.take(taken_rows))


def _find_copied_rows(published_frame: pl.DataFrame, unique: pl.DataFrame) -> Ints:
    """The synthetic rows that equal one of the originals."""
    keys = [f"x{index}" for index in range(unique.width)]
    people = unique.rename(dict(zip(unique.columns, keys, strict=True)))
    rows = published_frame.rename(dict(zip(unique.columns, keys, strict=True))).with_row_index("row")
    copies = rows.join(people, on=keys, how="semi", nulls_equal=True)
    return np.sort(copies["row"].to_numpy().astype(np.int64))


def _describe_traits(
    columns: Sequence[SynthesisColumn], rows: Mapping[str, DrawnCells], row_indices: Ints
) -> pl.DataFrame:
    """What must stay of some rows: the word, or whether a number is present; and the rank among equal ones."""
    cells = [(column, rows[column.name].codes[row_indices]) for column in columns]
    traits = {
        f"x{index}": codes.astype(np.int64) if column.kind == "category" else (codes < 0).astype(np.int64)
        for index, (column, codes) in enumerate(cells)
    }
    frame = pl.DataFrame({"row": np.arange(len(row_indices), dtype=np.int64), **traits})
    nth = pl.int_range(pl.len())
    return frame.with_columns((nth.over(list(traits)) if traits else nth).alias("nth"))


def _match_alike_rows(rows: pl.DataFrame, other_rows: pl.DataFrame) -> tuple[Ints, Ints]:
    """Pairs of rows and a similar other one, none used twice."""
    keys = [name for name in rows.columns if name != "row"]
    matches = rows.join(other_rows, on=keys, how="inner", suffix="_other").sort("row")
    return matches["row"].to_numpy().astype(np.int64), matches["row_other"].to_numpy().astype(np.int64)
