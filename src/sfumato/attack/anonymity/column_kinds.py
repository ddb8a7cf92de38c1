# SPDX-License-Identifier: MIT
"""What everybody may assume about the cells of known columns: truthful, blanked, or changed by a law or otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.attack.anonymity.likelihood import ColumnPrices, price_by_law, price_covering, price_loosely, price_means
from sfumato.attack.anonymity.recoding import Recoding
from sfumato.attack.anonymity.row_search import RowSearch
from sfumato.attack.row_distance import LabelColumn
from sfumato.change import ChangeKind
from sfumato.change_kinds import CellDifference
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.public.answer_channel import list_answered_columns
from sfumato.public.noise_law import list_noisy_columns
from sfumato.release import Release
from sfumato.table import Table


class ColumnKinds(NamedTuple):
    """What is public about the known columns: which cells are truthful, and of which the law of chance is known."""

    truthful: tuple[str, ...]
    blanked_columns: tuple[str, ...]
    """Truthful but for empty cells, which may hide anything."""
    filled_columns: tuple[str, ...]
    """Those of the blanked ones in which who lacks a value may show one."""
    by_law: tuple[str, ...]
    loose: tuple[str, ...]
    are_alike: bool
    """Whether all labels of each column stand at one level, so that none is narrower than another."""

    @classmethod
    def of(cls, release: Release, people: Table, names: Sequence[str], recoding: Recoding) -> ColumnKinds:
        """By what the release states, or else by what is seen; people are recoded as it shows them."""
        laws = {*list_noisy_columns(release), *list_answered_columns(release)}
        names_by_kind: dict[str, list[str]] = {"truthful": [], "blanked": [], "filled": [], "law": [], "loose": []}
        are_alike = True
        for name in names:
            labels = LabelColumn.of(release.data, name)
            present = labels.levels[np.flatnonzero(np.bincount(labels.codes))]
            are_alike &= len(np.unique(present)) <= 1 and int(present.min(initial=0)) >= 0
            kinds, has_rule = release.list_column_kinds(name), name in recoding.rules
            untrue = {kind for kind in kinds if not (kind.is_truthful or (has_rule and kind.meaning.read_rule))}
            if name in laws:
                kind = "law"
            elif kinds:
                kind = "loose" if untrue - {ChangeKind.BLANKED} else "blanked" if untrue else "truthful"
                if kind == "blanked" and any(CellDifference.FILLED in change.meaning.differences for change in kinds):
                    names_by_kind["filled"].append(name)
            elif is_blanked(release, people, name):  # nothing is stated: cells are truthful if they may be
                kind = "blanked" if _may_be_blanked(labels, people.frame[name]) else "loose"
            else:
                kind = "truthful" if _may_be_truthful(labels, people.frame[name]) else "loose"
            names_by_kind[kind].append(name)
        columns_by_kind = {kind: tuple(columns) for kind, columns in names_by_kind.items()}
        return cls(
            columns_by_kind["truthful"],
            columns_by_kind["blanked"],
            columns_by_kind["filled"],
            columns_by_kind["law"],
            columns_by_kind["loose"],
            are_alike,
        )

    def search(self, published_table: Table, prices: Mapping[str, ColumnPrices]) -> RowSearch:
        """A search by the cost of some cells, which knows what an empty one may be."""
        return RowSearch(published_table, prices, frozenset(self.blanked_columns), frozenset(self.filled_columns))

    def price_certain(self, release: Release) -> dict[str, ColumnPrices]:
        """What each cell that is truthful or changed by a known law costs."""
        return dict.fromkeys((*self.truthful, *self.blanked_columns), price_covering) | price_by_law(
            release, self.by_law
        )

    def price_all(self, release: Release) -> dict[str, ColumnPrices]:
        """What each cell costs, by all that is known about its column."""
        means = list_columns_of(release, self.loose, ChangeKind.MEANS)
        loosely = dict.fromkeys(self.loose, price_loosely) | dict.fromkeys(means, price_means(len(means)))
        return self.price_certain(release) | loosely


def list_columns_of(release: Release, names: Sequence[str], kind: ChangeKind) -> tuple[str, ...]:
    """Those of some columns that are stated to be changed in one way."""
    return tuple(name for name in names if kind in release.list_column_kinds(name))


def is_blanked(release: Release, people: Table, name: str) -> bool:
    """Whether some empty cells of a column hide values; if nothing is stated, whether more are empty than should be."""
    empty_cells = release.data.frame[name].null_count()
    kinds = release.list_column_kinds(name)
    if kinds or name in release.public:
        return ChangeKind.BLANKED in kinds and empty_cells > 0
    return bool(empty_cells * len(people) > people.frame[name].null_count() * len(release.data))


def _may_be_truthful(labels: LabelColumn, values: pl.Series) -> bool:
    """Whether every value that people have is covered by some label."""
    distinct = values.drop_nulls().unique()
    strange = distinct.filter(~spell_cells(distinct).is_in(labels.texts.drop_nulls().implode()))
    if (labels.levels == 0).all():
        return not len(strange)
    step = max(1, 4_000_000 // max(len(labels.texts), 1))
    parts = (strange[begin : begin + step] for begin in range(0, len(strange), step))
    return all(bool(labels.covers(part).any(axis=1).all()) for part in parts)


def _may_be_blanked(labels: LabelColumn, values: pl.Series) -> bool:
    """Whether every label covers some value that people have, so that values without a label may have been hidden."""
    distinct = values.drop_nulls().unique()
    is_covering = labels.texts.is_in(spell_cells(distinct).implode()).fill_null(True).to_numpy()
    if is_covering.all() or (labels.levels == 0).all():
        return bool(is_covering.all())
    step = max(1, 4_000_000 // max(len(labels.texts), 1))
    for begin in range(0, len(distinct), step):
        is_covering = is_covering | labels.covers(distinct[begin : begin + step]).any(axis=0)
    return bool(is_covering.all())
