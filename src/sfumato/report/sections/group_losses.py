# SPDX-License-Identifier: MIT
"""Who lost the most: people before and rows left by group, for the custodian only.

A group is everyone whose original a published label covers, the coarsest if labels of several levels are published; or,
for numbers and days, everyone in the same range of the originals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Floats, Ints, Places
from sfumato.data.cells.coded_cells import encode_narrowly, list_values
from sfumato.data.hierarchies.hierarchy import STAR, Hierarchy, spell_cells
from sfumato.data.hierarchies.published_labels import Domain
from sfumato.errors import count_noun
from sfumato.measure.anonymity.crowd_sizes import flag_starred_rows
from sfumato.measure.utility.label_losses import label_cells
from sfumato.report.content import are_rows_drawn
from sfumato.report.pictures.day_bins import choose_day_bins, parse_day_cells
from sfumato.report.pictures.number_bins import are_digits_codes, choose_bins, parse_cells
from sfumato.report.run_account import RunAccount
from sfumato.report.words import wording
from sfumato.table import Table

RANGES, GROUPS = 10, 12
"""The most ranges of a number, and the most groups of a column."""
_MOST_GROUPS, _COLUMNS = 4, 9
_FEW = 0.005
"""A group with a smaller share of all people is not named as the one that lost most."""
_OTHER_VALUES = "other values"


@dataclass(frozen=True)
class GroupLoss:
    """One group: its people, how many of them are left, and how much detail all of them lost."""

    column: str
    group: str
    original_count: int
    left_count: int
    loss: float | None
    """From 0 to 1, a person who is not left loses 1; None if published cells are not labels of their originals."""

    @property
    def lost_share(self) -> float:
        """The share of people who are not left."""
        return 1 - self.left_count / self.original_count

    @property
    def rank(self) -> tuple[float, float, int]:
        """Sorts the group that lost most first."""
        return -self.lost_share, -(self.loss or 0.0), -self.original_count


def show_groups(account: RunAccount) -> dict[str, Any] | None:
    """For each quasi-identifying column the groups that lost most, and the worst of all in a sentence."""
    columns = measure_group_losses(account)
    if not columns:
        return None
    columns.sort(key=lambda groups: groups[0].rank)
    return {
        "sentences": _describe_worst(columns),
        "cards": [_show_column(groups) for groups in columns[:_COLUMNS]],
        "detail": columns[0][0].loss is not None,
        "more": len(columns) - len(columns[:_COLUMNS]),
    }


def measure_group_losses(account: RunAccount) -> list[list[GroupLoss]]:
    """The groups of each quasi-identifying column, those that lost most first; none if nobody lost anything."""
    original, published_table, rows = account.original, account.published_data, account.details.rows
    if (
        not isinstance(original, Table)
        or not isinstance(published_table, Table)
        or rows is None
        or are_rows_drawn(account)
    ):
        return []
    names = [name for name in published_table.quasi_identifying if name in original.frame.columns]
    kept_mask = _flag_people_left(account, np.asarray(rows))
    losses = _measure_losses(account, names, np.asarray(rows), kept_mask)
    if kept_mask.all() and (losses is None or not losses.any()):
        return []
    return [
        groups for name in names if (groups := _measure_column(name, _label_column(account, name), kept_mask, losses))
    ]


def _flag_people_left(account: RunAccount, rows: np.ndarray[Any, Any]) -> Flags:
    """Which people of the originals have a row in the release that is not suppressed."""
    published_table, suppression = account.published_data, account.certificate["suppression"]
    if suppression["rows"] and suppression.get("seen"):
        rows = rows[~flag_starred_rows(published_table.frame, published_table.quasi_identifying).to_numpy()]
    kept_mask = np.zeros(len(account.original), dtype=np.bool_)
    kept_mask[rows] = True
    return kept_mask


def _measure_losses(
    account: RunAccount, names: list[str], rows: np.ndarray[Any, Any], kept_mask: Flags
) -> Floats | None:
    """How much detail each person lost, over the quasi-identifying columns; None where cells are not labels."""
    differences = [account.differences.get(name) for name in names]
    if not names or any(difference is None or difference.other for difference in differences):
        return None
    total = np.zeros(len(rows))
    for name in names:
        total += _measure_cell_losses(account, name, rows)
    person_losses = np.ones(len(account.original))
    person_losses[rows] = total / len(names)
    person_losses[~kept_mask] = 1.0
    return person_losses


def _measure_cell_losses(account: RunAccount, name: str, rows: np.ndarray[Any, Any]) -> Floats:
    """The share of values that each cell leaves open; an empty cell that was not empty before leaves all open."""
    values = account.original.frame[name]
    hierarchy = None if name in account.value_columns else account.original.hierarchies.get(name)
    domain = Domain.of(values, hierarchy)
    published_cells = account.published_data.frame[name]
    labels, codes = encode_narrowly(published_cells)
    cell_losses: Floats = domain.measure_losses(spell_cells(labels))[codes]
    if published_cells.null_count():
        cell_losses[(published_cells.is_null() & values.gather(rows).is_not_null()).to_numpy()] = 1.0
    return cell_losses


def _label_column(account: RunAccount, name: str) -> pl.Series:
    published_table: Table = account.published_data
    holds_labels = name not in account.value_columns
    return label_people(account.original, published_table, name, holds_labels=holds_labels)


def label_people(original: Table, published_table: Table, name: str, *, holds_labels: bool = True) -> pl.Series:
    """The group of each person of the originals by one column."""
    values, hierarchy = original.frame[name], original.hierarchies.get(name)
    may_have_ranges = values.n_unique() > GROUPS and not are_digits_codes(hierarchy)
    ranges = _label_ranges(values) if may_have_ranges else None
    if ranges is not None and (values.dtype.is_numeric() or hierarchy is None):
        return ranges
    distinct, codes = encode_narrowly(values)
    texts = label_cells(distinct)
    published_labels = set(spell_cells(list_values(published_table.frame[name]))) if holds_labels else set[str]()
    groups = _coarsen(texts, published_labels, hierarchy)
    if ranges is not None and groups.n_unique() > GROUPS:
        return ranges
    return _spread_labels(_gather_rare(groups, np.bincount(codes, minlength=len(groups))), codes)


def _label_ranges(values: pl.Series) -> pl.Series | None:
    """The range of each number or day; None for other values."""
    is_number, known_mask = values.dtype.is_numeric(), values.is_not_null().to_numpy()
    cells = parse_cells(values) if is_number else parse_day_cells(values)
    if cells is None or len(cells.low) < known_mask.sum():
        return None
    bins = (choose_bins if is_number else choose_day_bins)(cells.low, RANGES)
    if bins is None:
        return None
    places = np.full(len(values), len(bins.labels))
    places[known_mask] = bins.find_bins(cells.low)
    return _spread_labels(pl.Series([*bins.labels, wording.NON_VALUES[0]]), places)


def _spread_labels(labels: pl.Series, places: Ints | Places) -> pl.Series:
    """The label of each person, as a number of few bytes that shows as a text."""
    return labels.cast(pl.Enum(labels.unique().sort())).gather(places)


def _coarsen(texts: pl.Series, published_labels: set[str], hierarchy: Hierarchy | None) -> pl.Series:
    """Values as published labels, or, where these say nothing or are too many, as labels of a coarser level."""
    if hierarchy is None:
        return texts
    labels = published_labels - {STAR}
    covers = [{row[0]: next((label for label in reversed(row) if label in labels), row[0]) for row in hierarchy.rows}]
    covers += [{row[0]: row[level] for row in hierarchy.rows} for level in range(1, hierarchy.height)]
    for cover in covers:
        groups = texts.replace(cover)
        if 1 < groups.n_unique() <= GROUPS:
            return groups
    return texts


def _gather_rare(groups: pl.Series, people: Ints) -> pl.Series:
    """The groups with most people, and the rest as one."""
    if groups.n_unique() <= GROUPS:
        return groups
    counts = pl.DataFrame({"group": groups, "count": people}).group_by("group").agg(pl.sum("count"))
    frequent = counts.sort(["count", "group"], descending=[True, False]).head(GROUPS - 1)
    frequent = frequent.filter(pl.col("count") >= _FEW * int(people.sum()))
    return groups.replace(dict.fromkeys(set(counts["group"]) - set(frequent["group"]), _OTHER_VALUES))


def _measure_column(name: str, groups: pl.Series, kept_mask: Flags, losses: Floats | None) -> list[GroupLoss]:
    people = pl.DataFrame(
        {"group": groups, "left": kept_mask, "loss": np.zeros(len(kept_mask)) if losses is None else losses}
    )
    counts = people.group_by("group").agg(pl.len().alias("before"), pl.col("left").sum(), pl.col("loss").mean())
    if counts.height < 2:
        return []
    group_losses = [
        GroupLoss(name, group, int(original_count), int(count), None if losses is None else float(loss))
        for group, original_count, count, loss in counts.sort("group").iter_rows()
    ]
    return sorted(group_losses, key=lambda group: group.rank)


def _describe_worst(columns: list[list[GroupLoss]]) -> list[str]:
    """The group that lost the largest share of its people, and the one that lost the most detail."""
    people, rest = (sum(getattr(group, name) for group in columns[0]) for name in ("original_count", "left_count"))
    large = [group for groups in columns for group in groups if group.original_count >= _FEW * people]
    groups = [group for group in large if group.group != _OTHER_VALUES] or large
    worst = max(groups, key=lambda group: (group.lost_share, group.original_count))
    sentences = []
    if worst.lost_share:
        sentences.append(
            f"Hit hardest: {_name_group(worst)}, where {wording.format_count(worst.left_count)} of "
            f"{count_noun(worst.original_count, 'person is', 'people are')} left "
            f"({wording.format_percent(1 - worst.lost_share)}; of everybody {wording.format_percent(rest / people)})."
        )
    vaguest = max(groups, key=lambda group: (group.loss or 0.0, group.original_count))
    if vaguest.loss and vaguest != worst:
        sentences.append(
            f"Least detail is left for {_name_group(vaguest)}: {wording.format_percent(vaguest.loss)} of it is lost."
        )
    return sentences


def _name_group(group: GroupLoss) -> str:
    return f"{wording.shorten_label(group.column)} {wording.shorten_label(group.group)}"


def _show_column(groups: list[GroupLoss]) -> dict[str, Any]:
    """A card: the groups that lost most, and the others as one line."""
    shown_groups, rest = groups[:_MOST_GROUPS], groups[_MOST_GROUPS:]
    if len(rest) == 1:
        shown_groups, rest = groups, []
    if rest:
        original_count = sum(group.original_count for group in rest)
        loss = (
            None
            if rest[0].loss is None
            else sum((group.loss or 0.0) * group.original_count for group in rest) / original_count
        )
        name = f"{wording.format_count(len(rest))} others"
        shown_groups = [
            *shown_groups,
            GroupLoss(groups[0].column, name, original_count, sum(group.left_count for group in rest), loss),
        ]
    return {"name": groups[0].column, "rows": shown_groups}
