# SPDX-License-Identifier: MIT
"""Homogeneity on a release that stays in its file: what people share who look alike.

Where every column is published at one level of its hierarchy, the outcome follows from the values in each class. If
classes overlap, people are looked up among them, as in memory; in a large release some are drawn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Ints
from sfumato.attack.anonymity.homogeneity import Homogeneity
from sfumato.attack.anonymity.links import Links
from sfumato.attack.anonymity.row_search import expand_ranges
from sfumato.attack.anonymity.stored_covering import CoveredPeople, has_overlapping_classes
from sfumato.attack.attack import Outcome
from sfumato.attack.candidates import CandidateSets, choose_candidates
from sfumato.attack.stored_attack import StoredSetting, StoredTableAttack
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.engine.stored_rows import StoredRows
from sfumato.engine.stored_table import StoredTable
from sfumato.errors import DataError
from sfumato.release import Release

_DIGITS = 12


class StoredHomogeneity(StoredTableAttack[Homogeneity]):
    """What classes disclose of a column that is published unchanged."""

    runs = "homogeneity of columns that are published unchanged"

    def explain_unstored(self, attack: Homogeneity, setting: StoredSetting) -> str | None:
        """What of homogeneity cannot be counted in the file; None if it can."""
        if setting.has_blanks:
            return "homogeneity with blanked entries"
        if not setting.quasi_identifying:
            return "homogeneity without quasi-identifying columns"
        if attack.column is None and len(setting.sensitive) != 1:
            return "homogeneity without a column, if several are sensitive"
        column = attack.column or setting.sensitive[0]
        if column in setting.capped_columns:
            return "homogeneity of a capped column"
        return "homogeneity of a randomized column" if column in setting.drawn_columns else None

    def run(
        self, attack: Homogeneity, release: Release, original: StoredTable, taken_rows: StoredRows | None
    ) -> Outcome:
        """See whose value of the column follows from their class."""
        published_table: StoredTable = release.data
        column = published_table.outline.sensitive[0] if attack.column is None else attack.column
        if column not in published_table.rows.schema:
            raise DataError(f'{published_table.source}: there is no column "{column}" in the release to learn')
        if has_overlapping_classes(release):
            return _learn(attack, CoveredPeople.of(release, original, taken_rows, column), column)
        return _compare_classes(attack, published_table, column)


def _compare_classes(attack: Homogeneity, published_table: StoredTable, column: str) -> Outcome:
    """In each class, whether enough rows have the same value; then it is disclosed for those who have it."""
    names = list(published_table.quasi_identifying)
    row_counts = published_table.rows.count_rows([*names, column])
    frame = row_counts.frame.with_columns(pl.Series("\0count", row_counts.counts))
    frame = frame.with_columns(_flag_commonest(frame[column], frame["\0count"]).alias("\0commonest"))
    classes = frame.group_by(names).agg(
        pl.col("\0count").sum().alias("\0size"),
        pl.col("\0count").max().alias("\0most"),
        pl.col("\0count").filter(pl.col(column).is_not_null()).max().fill_null(0).alias("\0known"),
        pl.col("\0count").filter("\0commonest").sum().alias("\0blind"),
    )
    sizes, most, known_counts, blind_counts = (
        classes[name].to_numpy() for name in ("\0size", "\0most", "\0known", "\0blind")
    )
    agree = np.round(most / sizes - attack.share, _DIGITS) >= 0
    says_value = agree & (known_counts == most)  # a missing value is nobody's secret
    return Outcome(
        attempts=len(published_table),
        successes=int(known_counts[says_value].sum()),
        baseline=int(blind_counts[says_value].sum()),
        targets=(column,),
        known_columns=(published_table.quasi_identifying,),
        facts={
            "homogeneous_classes": int(agree.sum()),
            "classes": len(agree),
            "people_in_them": int(sizes[agree].sum()),
            "columns": [column],
        },
    )


def _flag_commonest(cells: pl.Series, counts: pl.Series) -> pl.Series:
    """Which cells have the value that is published most often."""
    texts = spell_cells(cells)
    totals = pl.DataFrame({"value": texts, "n": counts}).drop_nulls().group_by("value").agg(pl.col("n").sum())
    ranked_values = totals.sort(["n", "value"], descending=[True, False])["value"]
    return (texts == ranked_values[0] if len(ranked_values) else texts.is_not_null()).fill_null(value=False)


def _learn(attack: Homogeneity, covered_people: CoveredPeople, name: str) -> Outcome:
    """See whether enough of the rows that fit a person have the same value, and whether it is theirs."""
    values = _ValuesByClass.of(covered_people, name)

    def count_learnt(links: Links) -> float:
        return float(_Agreement.of(CandidateSets.of(links), values, attack.share).flag_learnt(values).sum())

    links, _ = choose_candidates(covered_people.release, covered_people.people, count=count_learnt)
    agreement = _Agreement.of(CandidateSets.of(links), values, attack.share)
    return Outcome(
        attempts=len(covered_people.people),
        successes=int(agreement.flag_learnt(values).sum()),
        baseline=int((agreement.flag_spoken_of(values) & (values.truth == 0)).sum()),
        targets=(name,),
        known_columns=(covered_people.published_table.quasi_identifying,),
        facts={
            "homogeneous_classes": int(agreement.agree.sum()),
            "classes": len(agreement.agree),
            "people_in_them": int(agreement.sets.spread_to_people(agreement.agree).sum()),
            "columns": [name],
        },
    )


class _ValuesByClass(NamedTuple):
    """How often each value of a column stands in each class; values are numbered by how common they are."""

    first: Ints
    """Where the values of each class begin, and last where they end."""
    codes: Ints
    counts: Ints
    truth: Ints
    """The number of each person's own value; −1 where it is missing, or not in the release at all."""
    value_count: int
    """How many values are numbered; the next number is that of a missing one."""

    @classmethod
    def of(cls, covered_people: CoveredPeople, name: str) -> _ValuesByClass:
        published_table = covered_people.published_table
        names = list(published_table.quasi_identifying)
        whole = published_table.count_values(name)
        value_totals = pl.DataFrame({"value": spell_cells(whole.frame[name]), "n": whole.counts}).drop_nulls()
        ranked_values = value_totals.sort(["n", "value"], descending=[True, False])["value"]
        numbers = pl.Series(np.arange(len(ranked_values)), dtype=pl.Int64)

        def encode(cells: pl.Series, missing: int) -> Ints:
            codes = spell_cells(cells).replace_strict(ranked_values, numbers, default=None, return_dtype=pl.Int64)
            return codes.fill_null(missing).to_numpy().astype(np.int64)

        value_counts = published_table.rows.count_rows([*names, name])
        of_class = value_counts.frame.select(pl.struct(names).rle_id()).to_series().to_numpy()
        first = np.searchsorted(of_class, np.arange(len(covered_people.sizes) + 1))
        codes, truth = (
            encode(value_counts.frame[name], len(ranked_values)),
            encode(covered_people.people.frame[name], -1),
        )
        return cls(first.astype(np.int64), codes, value_counts.counts, truth, len(ranked_values))


class _Agreement(NamedTuple):
    """In which sets of classes enough rows have the same value, and which value that is."""

    sets: CandidateSets
    agree: Flags
    commonest: Ints

    @classmethod
    def of(cls, sets: CandidateSets, values: _ValuesByClass, share: float) -> _Agreement:
        pairs, classes = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for order, start, count in sets.parts:
            pairs.append(np.repeat(np.arange(len(count)), count))
            classes.append(order[expand_ranges(start, count)].astype(np.int64))
        of_set, of_class = np.concatenate(pairs), np.concatenate(classes)
        many = np.diff(values.first)[of_class]
        value_indices = expand_ranges(values.first[of_class], many)
        width = int(values.codes.max(initial=0)) + 1
        keys, key_index = np.unique(np.repeat(of_set, many) * width + values.codes[value_indices], return_inverse=True)
        counts = np.bincount(key_index.ravel(), weights=values.counts[value_indices], minlength=len(keys))
        sizes = np.bincount(keys // width, weights=counts, minlength=len(sets.sizes))
        order = np.lexsort((keys % width, -counts, keys // width))
        best = order[np.searchsorted((keys // width)[order], np.arange(len(sets.sizes)))]
        agree = np.round(counts[best] / sizes - share, _DIGITS) >= 0
        return cls(sets, np.asarray(agree), keys[best] % width)

    def flag_learnt(self, values: _ValuesByClass) -> Flags:
        """Whose value is disclosed, and rightly."""
        guesses = np.where(self.agree, self.commonest, -2)
        return np.asarray(self.sets.spread_to_people(guesses, -2) == values.truth)

    def flag_spoken_of(self, values: _ValuesByClass) -> Flags:
        """About whom something is said; that a value is missing says nothing."""
        return np.asarray(self.sets.spread_to_people(self.agree & (self.commonest < values.value_count)))
