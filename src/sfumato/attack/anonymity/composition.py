# SPDX-License-Identifier: MIT
"""Composition: two releases about the same people, each safe alone, and what they have in common.

Against custodians who release without looking at what others, or they themselves, released before: someone
looked up in both has a value that stands in both candidate sets. What leaks is the value when only one does.
Ganta, Kasiviswanathan, Smith, *Composition attacks and auxiliary information in data privacy* (2008).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import PrivateAttr

from sfumato.arrays import Flags, Ints
from sfumato.attack.anonymity.links import Links, find_links
from sfumato.attack.anonymity.row_search import expand_ranges
from sfumato.attack.attack import Attack, Outcome, count_strangers
from sfumato.attack.candidates import (
    CandidateSets,
    ValueTally,
    choose_candidates,
    choose_sensitive_columns,
    draw_tried_people,
)
from sfumato.attack.missing_readings import list_table_readings
from sfumato.data.reading.table_reader import TextFormat, read_frame
from sfumato.data.writing.formulas import unescape_frame
from sfumato.data.writing.table_writer import SEPARATOR_OF
from sfumato.errors import DataError, PolicyError, quote_names
from sfumato.randomness import Randomness
from sfumato.release import CoveredRisk, Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

CERTIFICATE = "certificate.json"


class Composition(Attack):
    """An insurer buys the releases of two hospitals, and looks up someone who has been in both.

    The adversary knows the person's quasi-identifying values, and that the person is in both releases. It takes the
    rows that fit in each, and the sensitive values that occur in both: if there is only one, that is it. A person
    without matching rows or common values in the other release is judged by the first one only. The risk is the share
    of people whose one value left is theirs. Neither k-anonymity nor l-diversity nor t-closeness holds under
    composition. Ganta, Kasiviswanathan, Smith 2008.
    """

    story: ClassVar[str] = (
        "An insurer buys another release, looks up a person who is in both, and keeps the values of {any} "
        "that both allow."
    )
    public_fields: ClassVar[tuple[str, ...]] = ("column",)
    private_fields: ClassVar[tuple[str, ...]] = ("other",)
    speaks_of_some: ClassVar[bool] = True
    covers: ClassVar[CoveredRisk] = "other releases"
    file_fields: ClassVar[tuple[str, ...]] = ("other",)
    column_fields: ClassVar[tuple[str, ...]] = ("column",)

    attack: Literal["composition"] = "composition"
    column: str | None = None
    """The sensitive column to learn; every one that both releases have in turn if not given."""
    other: str | None = None
    """The other release: its folder, or a data file. Its labels are read by the hierarchies of the table."""
    _other: Table | None = PrivateAttr(default=None)

    def add_releases(self, other: Table | Release) -> Composition:
        """The same attack with another release at hand, in the place of the file that `other` names."""
        copy = self.model_copy()
        copy._other = other.data if isinstance(other, Release) else other
        return copy

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Look up every person in both releases; count whose value is the only one in common."""
        published_table: Table = release.data
        report_progress("composition")
        other = self._explain_other_release(truth)
        names = self._choose_columns(published_table, other)
        people, control = draw_tried_people(release, truth, control)
        links, look_up = choose_candidates(
            release, people, count=lambda links: _count_disclosed_people(links, published_table, other, people, names)
        )
        other = max(
            list_table_readings(other, people, _choose_known_columns(people, other)),
            key=lambda reading: _count_disclosed_people(links, published_table, reading, people, names),
        )
        comparisons = _compare_releases(links, published_table, other, people, names)
        exposed_mask, alone_mask = np.zeros(len(people), dtype=np.bool_), np.zeros(len(people), dtype=np.bool_)
        blind = np.zeros(len(people), dtype=np.bool_)
        for comparison in comparisons:
            exposed_mask, alone_mask, blind = (
                exposed_mask | comparison.exposed_mask,
                alone_mask | comparison.exposed_before,
                blind | comparison.blind,
            )
        overlap_mask = comparisons[0].in_both
        return Outcome(
            attempts=len(people),
            successes=int(exposed_mask.sum()),
            baseline=int(blind.sum()),
            control=None
            if control is None
            else _count_disclosed_people(look_up(control), published_table, other, control, names),
            targets=names,
            known_columns=(published_table.quasi_identifying,),
            facts={
                **count_strangers(control),
                "people_in_both": int(overlap_mask.sum()),
                "exposed_by_one": int(alone_mask.sum()),
                "newly_exposed": int((exposed_mask & ~alone_mask).sum()),
                "average_candidates_before": _average_counts(
                    [comparison.first_counts[overlap_mask] for comparison in comparisons]
                ),
                "average_candidates_after": _average_counts(
                    [comparison.common_counts[overlap_mask] for comparison in comparisons]
                ),
                "columns": list(names),
            },
        )

    def _choose_columns(self, published_table: Table, other: Table) -> tuple[str, ...]:
        column_names = choose_sensitive_columns(published_table, self.column)
        names = tuple(name for name in column_names if name in other.frame.columns)
        if not names:
            raise DataError(f"{other.source}: the other release has no column {quote_names(column_names)}")
        return names

    def _explain_other_release(self, truth: Table) -> Table:
        """The other release, its labels explained by the hierarchies of the originals where it has none."""
        if self._other is None and self.other is None:
            raise PolicyError("composition: name the other release (`other`), or give it by `against`")
        other = read_other(Path(self.other or ""), truth) if self._other is None else self._other
        all_hierarchies = {**truth.hierarchies, **other.hierarchies}
        column_hierarchies = {
            name: hierarchy for name, hierarchy in all_hierarchies.items() if name in other.frame.columns
        }
        return replace(other, hierarchies=MappingProxyType(column_hierarchies))


def read_other(path: Path, truth: Table) -> Table:
    """The data of a release folder as its certificate says that it is spelt, or a data file."""
    if not path.is_dir():
        return Table.read_like(path, truth)
    folder = next((candidate for candidate in (path, path / "release") if (candidate / CERTIFICATE).is_file()), None)
    if folder is None:
        raise DataError(f"{path}: this folder has no {CERTIFICATE}; name a release folder, or a data file")
    try:
        data: dict[str, Any] = json.loads((folder / CERTIFICATE).read_text(encoding="utf-8"))["data"]
        file, kind, mark = str(data["file"]), str(data["format"]), str(data["missing_mark"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        raise DataError(f"{folder / CERTIFICATE}: this is not a certificate that sfumato wrote") from None
    if Path(file).name != file:
        raise DataError(f"{folder / CERTIFICATE}: its data file lies outside of the folder; it is not read")
    text = TextFormat(separator=SEPARATOR_OF.get(kind, ","), missing_marks=(mark,), trim=False)
    frame = read_frame(folder / file, text)
    frame = unescape_frame(frame) if data.get("escaped_formulas") is True else frame
    return Table.of_release(frame, None, truth.missing.value, str(folder / file))


@dataclass(frozen=True)
class _ReleaseComparison:
    """For each person, what one column of both releases gives away."""

    in_both: Flags
    """Who fits some row in each release."""
    first_counts: Ints
    """How many values the first release leaves."""
    common_counts: Ints
    """How many values both leave."""
    exposed_mask: Flags
    """Whose one value in common is theirs."""
    exposed_before: Flags
    """Whose value the first release gives away alone."""
    blind: Flags
    """Of whom one value is left, and theirs is the most common of the first release."""


def _compare_releases(
    links: Links, published_table: Table, other: Table, people: Table, names: tuple[str, ...]
) -> list[_ReleaseComparison]:
    """Compare both releases column by column, by the rows of everybody in each."""
    own_sets = CandidateSets.of(links)
    other_sets = CandidateSets.of(find_links(other, people, _choose_known_columns(people, other)))
    in_both = (own_sets.of_person >= 0) & (other_sets.of_person >= 0)
    comparisons = []
    for name in names:
        tally, two = own_sets.tally(published_table, people, name), other_sets.tally(other, people, name)
        first_counts = own_sets.spread_to_people(tally.distinct, 0)
        left_values = own_sets.spread_to_people(np.where(tally.distinct == 1, tally.commonest, -2), -2)
        common_counts, alone_mask = first_counts.copy(), left_values == tally.truth
        shared_counts, only_values = _intersect_value_sets(
            tally, two, own_sets.of_person[in_both], other_sets.of_person[in_both]
        )
        agree = np.flatnonzero(in_both)[shared_counts > 0]  # if nothing is in both, one of them is not truthful
        common_counts[agree] = shared_counts[shared_counts > 0]
        left_values[agree] = only_values[shared_counts > 0]
        exposed_mask = np.asarray(left_values == tally.truth)
        blind = np.asarray((left_values >= 0) & (left_values < tally.value_count) & (tally.truth == 0))
        comparisons.append(_ReleaseComparison(in_both, first_counts, common_counts, exposed_mask, alone_mask, blind))
    return comparisons


def _choose_known_columns(people: Table, other: Table) -> list[str]:
    """The columns by which people are looked up in the other release."""
    known_columns = [name for name in people.quasi_identifying if name in other.frame.columns]
    if not known_columns:
        raise DataError(f"{other.source}: the other release has none of the quasi-identifying columns")
    return known_columns


def _count_disclosed_people(
    links: Links, published_table: Table, other: Table, people: Table, names: tuple[str, ...]
) -> int:
    comparisons = _compare_releases(links, published_table, other, people, names)
    return int(np.logical_or.reduce([comparison.exposed_mask for comparison in comparisons]).sum())


def _intersect_value_sets(
    tally: ValueTally, other_tally: ValueTally, own_numbers: Ints, other_numbers: Ints
) -> tuple[Ints, Ints]:
    """For pairs of sets, how many values they share, and the value if it is one (else −2)."""
    wide = len(other_tally.sizes) + 1
    pairs, number = np.unique(own_numbers * wide + other_numbers, return_inverse=True)
    own_numbers, other_numbers = pairs // wide, pairs % wide
    many = tally.distinct[own_numbers]
    of_pair = np.repeat(np.arange(len(pairs)), many)
    codes = tally.codes[expand_ranges(tally.first[own_numbers], many)]
    spelling = dict(zip(other_tally.values.to_list(), range(len(other_tally.values)), strict=True))
    translation = np.asarray([spelling.get(value, -1) for value in tally.values.to_list()], dtype=np.int64)
    shared_mask = other_tally.locate_values(other_numbers[of_pair], translation[codes]) >= 0
    count = np.bincount(of_pair[shared_mask], minlength=len(pairs))
    single = np.full(len(pairs), -2, dtype=np.int64)
    single[of_pair[shared_mask]] = codes[shared_mask]  # where there is one, it is this one
    only_values = np.where(count == 1, single, -2)
    return count[number], only_values[number]


def _average_counts(counts: list[Ints]) -> float:
    every = np.concatenate(counts)
    return float(every.mean()) if len(every) else 0.0
