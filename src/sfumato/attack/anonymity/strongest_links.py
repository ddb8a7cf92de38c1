# SPDX-License-Identifier: MIT
"""The strongest of several ways to look people up: by what cells cover, by their likelihood, by the nearest row.

Which way is the best for a release cannot always be known without the originals. So all are tried, and the one that is
right most often is reported: an upper bound on an adversary who has to choose. Where every cell is truthful, rows that
cover the person are taken, and of several kinds the narrowest if that finds more. Where cells are blanked, any row may
be preferred for what it shows, so people are also looked up by fewer columns: more knowledge never finds less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, combinations, islice
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Floats, Ints
from sfumato.attack.anonymity.column_kinds import ColumnKinds, is_blanked, list_columns_of
from sfumato.attack.anonymity.likelihood import (
    ColumnPrices,
    price_agreement,
    price_by_law,
    price_fitting,
    price_nearness,
)
from sfumato.attack.anonymity.links import Links, find_links, match_equal, require_in_both
from sfumato.attack.anonymity.match_sizes import MatchSizes
from sfumato.attack.anonymity.recoding import Recoding, list_recodings
from sfumato.attack.anonymity.row_search import RowSearch
from sfumato.attack.literal_values import LiteralValues
from sfumato.attack.missing_readings import list_readings
from sfumato.attack.row_distance import LabelColumn
from sfumato.change import ChangeKind
from sfumato.data.reading.arrow_memory import return_free_memory
from sfumato.engine.classes import count_class_sizes, pack_row_keys
from sfumato.errors import PolicyError, quote_names
from sfumato.release import Release
from sfumato.table import Missing, Table

_NOT_RECODED = Recoding({})
_MOST_PAIRS, _FEWEST_TRIED, _MOST_SUBSETS = 400_000_000, 1_000, 64
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


class StrongestLinks(NamedTuple):
    """The rows of each person in the strongest way."""

    links: Links
    look_up: LookUp
    sizes: MatchSizes
    """How many rows fit them, and as few as fit somebody by what any of the compared sets of columns tells."""


def choose_links(
    release: Release, people: Table, names: Sequence[str], count: Callable[[Links], float] = Links.count_expected_hits
) -> ChosenLinks:
    """Look people up in the way that counts most successes; by default the people behind the rows, in their order."""
    links, look_up, _ = choose_strongest(release, people, names, count)
    return ChosenLinks(links, look_up)


def choose_strongest(
    release: Release,
    people: Table,
    names: Sequence[str],
    count: Callable[[Links], float] = Links.count_expected_hits,
    count_rows: Callable[[Links], Ints] = lambda links: links.counts,
    *,
    forgets: bool = True,
) -> StrongestLinks:
    """The same, with the sizes of matches. In a release with blanked cells fewer columns may find more.

    These are tried, too, if `forgets`: not where only rows are listed that fit somebody in all columns.
    """
    refuse_codes(release, names)
    best = _choose_way(release, people, names, count)
    sizes = MatchSizes.of(count_rows(best.links))
    most: float | None = None
    for columns in _list_fewer_columns(release, people, names) if forgets else ():
        most = count(best.links) if most is None else most
        way = _choose_way(release, people, columns, count)
        sizes = sizes.join(MatchSizes.of(count_rows(way.links)))
        successes = count(way.links)
        if successes > most * (1 + 1e-9):
            best, most = way, successes
            sizes = sizes._replace(people=int((count_rows(way.links) > 0).sum()))
    return StrongestLinks(best.links, best.look_up, sizes)


def _list_fewer_columns(release: Release, people: Table, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Some of the known columns at a time, few or nearly all first; of a large release or many columns not every set.

    None if no cell was blanked: then whatever covers a person covers them by fewer columns, too.
    """
    if len(names) < 2 or not any(is_blanked(release, people, name) for name in names):
        return
    half = len(names) // 2
    sizes = dict.fromkeys(chain.from_iterable((size, len(names) - size) for size in range(1, half + 1)))
    column_sets = chain.from_iterable(combinations(names, size) for size in sizes)
    room = _MOST_PAIRS
    for columns in islice(column_sets, _MOST_SUBSETS):
        pairs = len(people) * _count_distinct(release.data, columns)
        if pairs <= room:
            room -= pairs
            yield columns


def _choose_way(release: Release, people: Table, names: Sequence[str], count: Callable[[Links], float]) -> ChosenLinks:
    """The strongest of all ways to use all of these columns."""
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
    coded_columns = [name for name in names if ChangeKind.CODED in release.list_column_kinds(name)]
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
        return strangers.replace_frame(strangers.frame.head(len(self.people)))


def draw_tried(release: Release, people: Table, names: Sequence[str]) -> TriedPeople:
    """Everybody; if many must be compared with many rows one by one, as many as that is done for within seconds."""
    require_in_both(release.data, people, names)
    most = max(_FEWEST_TRIED, _MOST_PAIRS // max(_count_distinct(release.data, names), 1))
    if len(people) <= most or _count_distinct(people, names) <= most or _can_cover(release, people, names):
        return TriedPeople(people, np.arange(len(people)), False)
    rows = np.sort(np.random.default_rng(0).choice(len(people), most, replace=False))
    return TriedPeople(people.replace_frame(people.frame[rows]), rows, True)


def _count_distinct(table: Table, names: Sequence[str]) -> int:
    return len(count_class_sizes(table.frame, names)) if names else 0


def _can_cover(release: Release, people: Table, names: Sequence[str]) -> bool:
    """Whether everybody is covered, so that nobody is compared with all rows; as stated, or else as seen."""
    recoding = Recoding.read_stated(release, people, names)
    recoded_people = recoding.apply(people)
    if len(ColumnKinds.of(release, recoded_people, names, recoding).truthful) < len(names):
        return False
    return bool(release.changes) or bool((find_links(release.data, recoded_people, names).counts > 0).all())


def try_ways(release: Release, people: Table, names: Sequence[str]) -> Iterator[ChosenLinks]:
    """Look people up in all the ways that are worth trying on a release, the plainest first."""
    require_in_both(release.data, people, names)
    values = LiteralValues.find(release, names)
    if not values.columns:
        yield from _try_readings(release, people, names)
        return
    for links, look_up in _try_readings(values.spell_release(release), values.spell(people), names):

        def look_up_spelled(targets: Table, look_up: LookUp = look_up) -> Links:
            return look_up(values.spell(targets))

        yield ChosenLinks(links, look_up_spelled)


def _try_readings(release: Release, people: Table, names: Sequence[str]) -> Iterator[ChosenLinks]:
    """All the ways with each meaning that missing cells may have."""
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

    def weigh(prices: Mapping[str, ColumnPrices]) -> LookUp:
        search = columns.search(published_table, prices)
        return lambda targets: _gather(search, targets)

    yield cover_all
    columns = ColumnKinds.of(release, people, names, recoding)
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
    if columns.blanked_columns and published_table.missing is Missing.OWN_VALUE:
        for blank_cost in (0.0, 1.0):  # all rows that may be theirs, and of these the ones that show most
            yield weigh(dict.fromkeys((*columns.truthful, *columns.blanked_columns), price_fitting(blank_cost)) | laws)
    if columns.loose:
        yield weigh(columns.price_all(release))
    drawn_columns = list_columns_of(release, columns.loose, ChangeKind.DRAWN)
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
    columns = ColumnKinds.of(release, recoding.apply(people), names, recoding)
    return columns.search(release.data, columns.price_all(release))


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
