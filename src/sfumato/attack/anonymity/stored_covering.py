# SPDX-License-Identifier: MIT
"""Attack a stored release of ranges and sets, whose classes overlap: a person may fit several of them.

Every class is looked at once, with its size, instead of every row. People are looked up as in memory; in a large
release some are drawn, since each is compared with all classes. Linking counts the right guesses to expect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Floats, Ints
from sfumato.attack.anonymity.homogeneity import Homogeneity
from sfumato.attack.anonymity.linking import Linking
from sfumato.attack.anonymity.links import Links
from sfumato.attack.anonymity.row_search import expand_ranges
from sfumato.attack.anonymity.stored_blanks import count_fitting_classes
from sfumato.attack.anonymity.strongest_links import choose_links
from sfumato.attack.attack import Attack, Outcome, round_expected
from sfumato.attack.candidates import CandidateSets, choose_candidates
from sfumato.change import Change, ChangeKind
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.engine.aligned_batches import align_batches
from sfumato.engine.stored_rows import RowCounts, StoredRows
from sfumato.engine.stored_table import StoredTable
from sfumato.errors import DataError
from sfumato.release import Release
from sfumato.table import Table

_MOST_PAIRS, _FEWEST_TRIED = 200_000_000, 1_000
_MOST_CLASSES = 1 << 20
"""Of a release with blanks, more classes than that are not listed, but only those that someone fits."""
_DIGITS = 12
_CLASS = "\0class"


def has_overlapping_classes(changes: Sequence[Change], quasi_identifying: Sequence[str]) -> bool:
    """Whether columns of a release hold ranges, sets or blanks, of which several may cover a person."""
    return any(
        change.kind is ChangeKind.RANGES or (change.kind is ChangeKind.BLANKED and change.column in quasi_identifying)
        for change in changes
    )


def attack_covering_classes(
    attack: Attack,
    original: StoredTable,
    published_table: StoredTable,
    taken_rows: StoredRows | None,
    changes: tuple[Change, ...],
) -> Outcome:
    """Attack a release by the classes that cover each person; `taken_rows` lists the originals that were published."""
    if isinstance(attack, Linking):
        return _link(_CoveredPeople.of(original, published_table, taken_rows, changes))
    assert isinstance(attack, Homogeneity), "refused before"
    name = published_table.outline.sensitive[0] if attack.column is None else attack.column
    if name not in published_table.rows.schema:
        raise DataError(f'{published_table.source}: there is no column "{name}" in the release to learn')
    return _learn(attack, _CoveredPeople.of(original, published_table, taken_rows, changes, name), name)


class _CoveredPeople(NamedTuple):
    """The classes of a release, and people who are looked up among them."""

    published_table: StoredTable
    release: Release
    """A row for each class."""
    sizes: Ints
    """The rows of each class."""
    people: Table
    own_classes: Ints
    """The class of each person."""

    @classmethod
    def of(
        cls,
        original: StoredTable,
        published_table: StoredTable,
        taken_rows: StoredRows | None,
        changes: tuple[Change, ...],
        secret: str | None = None,
    ) -> _CoveredPeople:
        names = published_table.quasi_identifying
        class_counts = _count_classes(published_table, changes)
        classes = published_table.rows.estimate_tuples(names) if class_counts is None else len(class_counts.counts)
        most = max(_FEWEST_TRIED, _MOST_PAIRS // max(classes, 1))
        sample = _draw_rows(len(published_table), most)
        original_parts, published_parts = [], []
        begin = 0
        for original_batch, published_batch in align_batches(
            original.rows, published_table.rows, taken_rows, "looking people up"
        ):
            rows = (
                sample[np.searchsorted(sample, begin) : np.searchsorted(sample, begin + published_batch.height)] - begin
            )
            original_parts.append(original_batch.select(names if secret is None else [*names, secret])[rows])
            published_parts.append(published_batch.select(names)[rows])
            begin += published_batch.height
        if class_counts is None:
            class_counts = count_fitting_classes(published_table.rows, pl.concat(original_parts).select(names))
        numbered_classes = class_counts.frame.with_row_index(_CLASS)
        own_classes = pl.concat(published_parts).join(
            numbered_classes, on=list(names), how="left", maintain_order="left", nulls_equal=True
        )
        release = Release(published_table.outline.with_frame(class_counts.frame), None, (), {}, changes=changes)
        people = original.outline.with_frame(pl.concat(original_parts))
        return cls(published_table, release, class_counts.counts, people, own_classes[_CLASS].cast(pl.Int64).to_numpy())

    def count_rows(self, links: Links) -> Ints:
        """How many rows fit each person."""
        counts = np.zeros(len(self.people), dtype=np.int64)
        for order, start, count in links.parts:
            sums = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(self.sizes[order])])
            counts += sums[start + count] - sums[start]
        return counts

    def list_chances(self, links: Links) -> Floats:
        """How likely each person's own row is guessed."""
        return np.asarray(links.contain(self.own_classes) / np.maximum(self.count_rows(links), 1))


def _count_classes(published_table: StoredTable, changes: tuple[Change, ...]) -> RowCounts | None:
    """All classes; None if they may be as many as people, which blanks do not prevent."""
    names = published_table.quasi_identifying
    has_blanks = any(change.kind is ChangeKind.BLANKED for change in changes)
    if has_blanks and published_table.rows.estimate_tuples(names) > _MOST_CLASSES:
        return None
    return published_table.rows.count_rows(names)


def _draw_rows(count: int, most: int) -> Ints:
    """All rows, or as many as are looked up within seconds, ascending."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, most, replace=False))


def _link(covered_people: _CoveredPeople) -> Outcome:
    """Guess a row for each person in the strongest of all ways."""
    names = covered_people.published_table.quasi_identifying
    links, _ = choose_links(
        covered_people.release,
        covered_people.people,
        names,
        lambda links: float(covered_people.list_chances(links).sum()),
    )
    counts = covered_people.count_rows(links)
    matched_counts = counts[counts > 0]
    return Outcome(
        attempts=len(covered_people.people),
        successes=round(float(covered_people.list_chances(links).sum())),
        baseline=round_expected(len(covered_people.people) / len(covered_people.published_table))
        if len(covered_people.published_table)
        else 0,
        facts={
            "matched": len(matched_counts),
            "unique_matches": int((matched_counts == 1).sum()),
            "smallest_match": int(matched_counts.min()) if len(matched_counts) else 0,
            "highest_risk": float(1 / matched_counts.min()) if len(matched_counts) else 0.0,
            "knowledge": list(names),
        },
    )


def _learn(attack: Homogeneity, covered_people: _CoveredPeople, name: str) -> Outcome:
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
    def of(cls, covered_people: _CoveredPeople, name: str) -> _ValuesByClass:
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
