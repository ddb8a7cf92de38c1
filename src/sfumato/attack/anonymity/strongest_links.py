# SPDX-License-Identifier: MIT
"""The strongest of several ways to look people up: by what cells cover, by their likelihood, by the nearest row.

Which way is the best for a release cannot always be known without the originals. So all are tried, and the one that is
right most often is reported: an upper bound on an adversary who has to choose. Where every cell is truthful, rows that
cover the person are taken, and of several kinds the narrowest if that finds more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Floats, Ints
from sfumato.attack.anonymity.likelihood import (
    Pricing,
    price_agreement,
    price_by_law,
    price_covering,
    price_loosely,
    price_means,
    price_nearness,
)
from sfumato.attack.anonymity.links import Links, find_links, match_equal, require_in_both
from sfumato.attack.anonymity.recoding import Recoding, list_recodings
from sfumato.attack.anonymity.row_search import RowSearch
from sfumato.attack.missing_readings import list_readings
from sfumato.attack.row_distance import LabelColumn
from sfumato.change import ChangeKind
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.data.reading.arrow_memory import return_free_memory
from sfumato.engine.classes import count_class_sizes, pack_row_keys
from sfumato.errors import PolicyError, quote_names
from sfumato.public.answer_channel import list_answered_columns
from sfumato.public.noise_law import list_noisy_columns
from sfumato.release import Release
from sfumato.table import Table

_NOT_RECODED = Recoding({})
_MOST_PAIRS, _FEWEST_TRIED = 400_000_000, 1_000
LookUp = Callable[[Table], Links]


class ChosenLinks(NamedTuple):
    """The rows of each person, and how other people are looked up in the same way."""

    links: Links
    look_up: LookUp

    def fill_from(self, other_way: ChosenLinks) -> ChosenLinks:
        """This way; for people without any row, another one."""
        return ChosenLinks(
            self.links.fill_from(other_way.links),
            lambda targets: self.look_up(targets).fill_from(other_way.look_up(targets)),
        )


def choose_links(
    release: Release, people: Table, names: Sequence[str], count: Callable[[Links], float] = Links.count_expected_hits
) -> ChosenLinks:
    """Look people up in the way that counts most successes; by default the people behind the rows, in their order."""
    refuse_codes(release, names)
    ways = try_ways(release, people, names)
    best = next(ways)
    return_free_memory()  # what looking everybody up took
    most: float | None = None
    for way in ways:
        most = count(best.links) if most is None else most
        successes = count(way.links)
        if successes > most * (1 + 1e-9):
            best, most = way, successes
        del way  # before the next is made: links are as large as the release
    return best


def refuse_codes(release: Release, names: Sequence[str]) -> None:
    """Stop if people are to be looked up by codes: their order may tell who is who, which is not tried here."""
    coded_columns = [name for name in names if ChangeKind.CODED in release.kinds_of(name)]
    if coded_columns:
        raise PolicyError(
            f"{release.data.source}: {quote_names(coded_columns)} holds codes, by which people are not looked up, "
            "though their order may tell who is who; name other columns that the adversary knows"
        )


class TriedPeople(NamedTuple):
    """The people who are looked up."""

    people: Table
    rows: Ints
    """Which of the people behind the published rows they are."""
    is_sample: bool

    def take_as_many(self, strangers: Table | None) -> Table | None:
        """The control; no more than are tried if those were drawn."""
        if strangers is None or not self.is_sample:
            return strangers
        return strangers.with_frame(strangers.frame.head(len(self.people)))


def draw_tried(release: Release, people: Table, names: Sequence[str]) -> TriedPeople:
    """Everybody; if many must be compared with many rows one by one, as many as that is done for within seconds."""
    require_in_both(release.data, people, names)
    most = max(_FEWEST_TRIED, _MOST_PAIRS // max(_count_distinct(release.data, names), 1))
    if len(people) <= most or _count_distinct(people, names) <= most or _can_cover(release, people, names):
        return TriedPeople(people, np.arange(len(people)), False)
    rows = np.sort(np.random.default_rng(0).choice(len(people), most, replace=False))
    return TriedPeople(people.with_frame(people.frame[rows]), rows, True)


def _count_distinct(table: Table, names: Sequence[str]) -> int:
    return len(count_class_sizes(table.frame, names)) if names else 0


def _can_cover(release: Release, people: Table, names: Sequence[str]) -> bool:
    """Whether everybody is covered, so that nobody is compared with all rows; as stated, or else as seen."""
    recoding = Recoding.read_stated(release, people, names)
    recoded_people = recoding.apply(people)
    if len(_ColumnKinds.of(release, recoded_people, names, recoding).truthful) < len(names):
        return False
    return bool(release.changes) or bool((find_links(release.data, recoded_people, names).counts > 0).all())


def try_ways(release: Release, people: Table, names: Sequence[str]) -> Iterator[ChosenLinks]:
    """Look people up in all the ways that are worth trying on a release, the plainest first."""
    require_in_both(release.data, people, names)
    declared_release, *other_readings = list_readings(release, people, names)
    yield from _try_reading(declared_release, people, names)
    for reading in other_readings:
        plainest_way = next(_try_reading(declared_release, people, names))
        for way in _try_reading(reading, people, names):
            yield way.fill_from(plainest_way)


def _try_reading(release: Release, people: Table, names: Sequence[str]) -> Iterator[ChosenLinks]:
    """All the ways with one meaning of missing cells."""
    for recoding in list_recodings(release, people, names):
        yield from _try_recoded(release, people, names, recoding)


def _try_recoded(release: Release, people: Table, names: Sequence[str], recoding: Recoding) -> Iterator[ChosenLinks]:
    """All the ways of looking people up once their numbers are recoded as the release shows them."""
    recoded_people = recoding.apply(people)
    for look_up in _list_ways(release, recoded_people, names, recoding):

        def look_up_recoded(targets: Table, look_up: LookUp = look_up) -> Links:
            return look_up(recoding.apply(targets))

        yield ChosenLinks(look_up(recoded_people), look_up_recoded)


def _list_ways(release: Release, people: Table, names: Sequence[str], recoding: Recoding) -> Iterator[LookUp]:
    published_table: Table = release.data
    links = find_links(published_table, people, names)

    def cover(chosen_columns: Sequence[str]) -> LookUp:
        return lambda targets: find_links(published_table, targets, chosen_columns)

    def cover_all(targets: Table) -> Links:
        return links if targets is people else cover(names)(targets)

    def weigh(prices: Mapping[str, Pricing]) -> LookUp:
        search = RowSearch(published_table, prices, frozenset(columns.blanked_columns))
        return lambda targets: _gather(search, targets)

    yield cover_all
    columns = _ColumnKinds.of(release, people, names, recoding)
    if published_table.frame.select(names).null_count().sum_horizontal()[0] or not columns.are_alike:
        yield lambda targets: match_equal(published_table, targets, names).fill_from(cover_all(targets))
    if len(columns.truthful) == len(names) and bool((links.counts > 0).all()):
        if len(people) != len(published_table) or _fit_more_than_equal_rows(links, published_table, names):
            widths = _measure_widths(published_table, people, names)
            yield lambda targets: cover_all(targets).keep_cheapest(widths)
        return
    if 0 < len(columns.truthful) < len(names):
        yield cover(columns.truthful)
    laws = price_by_law(release, columns.by_law)
    if laws or columns.blanked_columns:
        yield weigh(columns.price_certain(release))
    if columns.loose:
        yield weigh(columns.price_all(release))
    drawn_columns = _list_columns_of(release, columns.loose, ChangeKind.DRAWN)
    if drawn_columns and len(drawn_columns) < len(names):  # drawn values are nobody's
        yield weigh({name: price for name, price in columns.price_all(release).items() if name not in drawn_columns})
    if columns.loose or not laws:
        yield weigh(dict.fromkeys(names, price_agreement) | laws)
    yield weigh(dict.fromkeys(names, price_nearness))


def search_by_likelihood(
    release: Release, people: Table, names: Sequence[str], recoding: Recoding = _NOT_RECODED
) -> RowSearch:
    """A search by all that is published about the known columns; people serve to see which cells may be truthful.

    Those who are searched for must be recoded in the same way.
    """
    columns = _ColumnKinds.of(release, recoding.apply(people), names, recoding)
    return RowSearch(release.data, columns.price_all(release), frozenset(columns.blanked_columns))


class _ColumnKinds(NamedTuple):
    """What is public about the known columns: which cells are truthful, and of which the law of chance is known."""

    truthful: tuple[str, ...]
    blanked_columns: tuple[str, ...]
    """Truthful but for missing cells, which may be anything."""
    by_law: tuple[str, ...]
    loose: tuple[str, ...]
    are_alike: bool
    """Whether all labels of each column stand at one level, so that none is narrower than another."""

    @classmethod
    def of(cls, release: Release, people: Table, names: Sequence[str], recoding: Recoding) -> _ColumnKinds:
        laws = {*list_noisy_columns(release), *list_answered_columns(release)}
        names_by_kind: dict[str, list[str]] = {"truthful": [], "blanked": [], "law": [], "loose": []}
        are_alike = True
        for name in names:
            labels = LabelColumn.of(release.data, name)
            present = labels.levels[np.flatnonzero(np.bincount(labels.codes))]
            are_alike &= len(np.unique(present)) <= 1 and int(present.min(initial=0)) >= 0
            kinds, has_rule = release.kinds_of(name), name in recoding.rules
            untrue = {kind for kind in kinds if not (kind.is_truthful or (has_rule and kind.meaning.read_rule))}
            if name in laws:
                kind = "law"
            elif kinds:
                kind = "loose" if untrue - {ChangeKind.BLANKED} else "blanked" if untrue else "truthful"
            else:  # nothing is stated: cells are truthful if they may be
                kind = "truthful" if _may_be_truthful(labels, people.frame[name]) else "loose"
            names_by_kind[kind].append(name)
        columns_by_kind = {kind: tuple(columns) for kind, columns in names_by_kind.items()}
        return cls(
            columns_by_kind["truthful"],
            columns_by_kind["blanked"],
            columns_by_kind["law"],
            columns_by_kind["loose"],
            are_alike,
        )

    def price_certain(self, release: Release) -> dict[str, Pricing]:
        """What each cell that is truthful or changed by a known law costs."""
        return dict.fromkeys((*self.truthful, *self.blanked_columns), price_covering) | price_by_law(
            release, self.by_law
        )

    def price_all(self, release: Release) -> dict[str, Pricing]:
        """What each cell costs, by all that is known about its column."""
        means = _list_columns_of(release, self.loose, ChangeKind.MEANS)
        loosely = dict.fromkeys(self.loose, price_loosely) | dict.fromkeys(means, price_means(len(means)))
        return self.price_certain(release) | loosely


def _list_columns_of(release: Release, names: Sequence[str], kind: ChangeKind) -> tuple[str, ...]:
    return tuple(name for name in names if kind in release.kinds_of(name))


def _may_be_truthful(labels: LabelColumn, values: pl.Series) -> bool:
    """Whether every value that people have is covered by some label."""
    distinct = values.drop_nulls().unique()
    strange = distinct.filter(~spell_cells(distinct).is_in(labels.texts.drop_nulls().implode()))
    if (labels.levels == 0).all():
        return not len(strange)
    step = max(1, 4_000_000 // max(len(labels.texts), 1))
    parts = (strange[begin : begin + step] for begin in range(0, len(strange), step))
    return all(bool(labels.covers(part).any(axis=1).all()) for part in parts)


def _measure_widths(published_table: Table, people: Table, names: Sequence[str]) -> Floats:
    """How many tuples of values each row covers, as a logarithm: one that fits few people is more likely theirs."""
    widths = np.zeros(len(published_table))
    for name in names:
        labels = LabelColumn.of(published_table, name)
        widths += np.log(labels.count_values(people.frame[name]))[labels.codes]
    return widths


def _fit_more_than_equal_rows(links: Links, published_table: Table, names: Sequence[str]) -> bool:
    """Whether more rows fit someone than look like their own: if not, none of them is to be preferred."""
    keys, radix = pack_row_keys(published_table.frame, names)
    if radix > 4 * len(keys):
        keys = pl.Series(keys).rank("dense").to_numpy()
    return bool((links.counts > np.bincount(keys)[keys]).any())


def _gather(search: RowSearch, people: Table) -> Links:
    part = search.find_rows(people)
    return Links((part,), part.counts.astype(np.int64, copy=False))
