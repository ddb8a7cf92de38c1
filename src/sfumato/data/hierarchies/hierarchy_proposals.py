# SPDX-License-Identifier: MIT
"""A proposed hierarchy for a column, with the reason, for the custodian to accept or edit.

Numbers go into round intervals, or into groups of equally many rows if most of them crowd in one interval; dates into
months and years; codes are cut from the right; countries, occupations and the like get the groups of a word list; of
other words the rare ones are grouped. A proposal is built over the column before it is made, so that it fits.

A reason contains counts and words of our own, never a value. The hierarchy itself lists values: it is private.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from math import floor, isfinite, log, log10
from typing import Any

import numpy as np
import polars as pl

from sfumato.data.cells.coded_cells import count_cells
from sfumato.data.cells.missing_marks import WORDS as MISSING_WORDS
from sfumato.data.hierarchies.category_vocabulary import TOPICS
from sfumato.data.hierarchies.hierarchy import STAR, Hierarchy, spell_cells
from sfumato.data.hierarchies.hierarchy_builders import parse_builder
from sfumato.data.hierarchies.number_bands import group_neighbours, order_number_bands
from sfumato.errors import DataError, PolicyError

FEWEST = 10
"""A word that fewer rows hold is rare."""
RARE_SHARES = (0.005, 0.02, 0.05)
"""The shares of the rows below which a word is rare, one for each level."""
LEAST_RECOGNIZED = 0.8
"""The share of rows, and of different values, that a word list must know."""
LEAST_CROWDING = 0.6
"""The share of rows in one interval from which intervals tell too little."""
INTERVALS = 20
"""Into how many intervals the range of a column is first cut, about."""
MOST_EXACT = 20_000
"""Up to this many different numbers are put into intervals in exact fractions; more would take minutes."""
LONGEST_CODE = 12
"""Codes are no longer than this."""


@dataclass(frozen=True, slots=True)
class HierarchyProposal:
    """The proposed hierarchy of a column, and why."""

    column: str
    reason: str
    """A sentence for the custodian: counts and words of our own, never a value."""
    description: Mapping[str, Any] | None
    """How a policy describes it, such as `{"kind": "prefix", "keep": [3]}`; None if it must list the values."""
    hierarchy: Hierarchy
    """The hierarchy itself: it lists the values of the column."""


def propose_hierarchy(values: pl.Series) -> HierarchyProposal | None:
    """A hierarchy for a column; None if there is nothing between a value and `*`."""
    if not isinstance(values, pl.Series):  # a column of pandas
        values = _convert_series(values)
    known_values = _drop_missing(values)
    distinct = known_values.n_unique()
    if values.dtype == pl.Boolean or distinct <= 2:
        return None
    for propose in _PROPOSERS:
        for reason, proposal in propose(known_values):
            hierarchy = _build(proposal, values)
            if hierarchy is None or not _generalizes(hierarchy):
                continue
            if isinstance(proposal, Hierarchy):
                return HierarchyProposal(values.name, reason, None, hierarchy)
            useful = _drop_idle_levels(proposal, hierarchy)
            useful_hierarchy = hierarchy if useful == dict(proposal) else parse_builder(useful).build(values)
            return HierarchyProposal(values.name, reason, useful, useful_hierarchy)
    return None


_Proposals = Iterator[tuple[str, Mapping[str, Any] | Hierarchy]]


def _convert_series(values: Any) -> pl.Series:
    """The polars column that says the same as one of another library."""
    import narwhals as nw

    try:
        series: pl.Series = nw.from_native(values, series_only=True).to_polars()
    except TypeError:
        raise DataError(
            f'a hierarchy is proposed for one column, such as df["age"], not for {type(values).__name__}'
        ) from None
    return series


def _drop_missing(values: pl.Series) -> pl.Series:
    return (values.fill_nan(None) if values.dtype.is_float() else values).drop_nulls()


def _build(proposal: Mapping[str, Any] | Hierarchy, values: pl.Series) -> Hierarchy | None:
    """The hierarchy, if it can be built over the column and covers it."""
    try:
        hierarchy = proposal if isinstance(proposal, Hierarchy) else parse_builder(proposal).build(values)
        hierarchy.code_leaves(values)
    except (DataError, PolicyError, ValueError, OverflowError):
        return None
    return hierarchy


def _generalizes(hierarchy: Hierarchy) -> bool:
    """Whether some level lies between the values and a single label."""
    counts = [len(level.labels) for level in hierarchy.levels]
    return any(1 < count < counts[0] for count in counts)


_LEVELS = {"intervals": "widths", "quantiles": "counts", "prefix": "keep", "date": "units"}
"""The field of each kind that has an entry for every level."""


def _drop_idle_levels(description: Mapping[str, Any], hierarchy: Hierarchy) -> dict[str, Any]:
    """The description without levels that merge nothing, or everything: a wider label would tell less for nothing."""
    field = _LEVELS[description["kind"]]
    counts = [len(level.labels) for level in hierarchy.levels]
    useful = [entry for n, entry in enumerate(description[field], 1) if 1 < counts[n] < counts[n - 1]]
    return {**description, field: useful}


# --- dates

_FORMATS = (
    "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%d %B %Y", "%d %b %Y",
    "%d-%b-%Y", "%d-%B-%Y", "%B %d, %Y", "%d/%m/%y", "%m/%d/%y", "%d.%m.%y", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M",
    "%d/%m/%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S",
)  # fmt: skip
_AMBIGUOUS_DATES = (
    "Dates by year: day and month are ambiguous. If you know the order, set the format and add the month."
)
_YEARS = range(1850, 2151)
"""A column of other years holds numbers, not dates."""


def _propose_dates(known_values: pl.Series) -> _Proposals:
    if not (
        known_values.dtype == pl.String or known_values.dtype in (pl.Date, pl.Datetime) or _is_day_number(known_values)
    ):
        return
    texts = spell_cells(known_values.unique()).to_list()
    iso = _parse_every_date(texts, None)
    if iso is not None:
        yield "Dates, by month and year.", {"kind": "date", "units": _choose_units(iso)}
        return
    readings = {form: dates for form in _FORMATS if (dates := _parse_every_date(texts, form)) is not None}
    for form, dates in readings.items():
        if len(readings) == 1:
            yield "Dates, by month and year.", {"kind": "date", "units": _choose_units(dates), "format": form}
            return
        coarse = [unit for unit in _choose_units(dates) if unit in ("year", "decade")]
        if coarse:
            yield _AMBIGUOUS_DATES, {"kind": "date", "units": coarse, "format": form}


def _is_day_number(known_values: pl.Series) -> bool:
    """Whether whole numbers are days written as 19991231."""
    return known_values.dtype.is_integer() and bool(
        known_values.cast(pl.Float64).is_between(18_500_101, 21_501_231).all()
    )


def _parse_every_date(texts: Sequence[str], form: str | None) -> list[date] | None:
    dates = []
    for text in texts:
        try:
            moment = datetime.strptime(text, form).date() if form else datetime.fromisoformat(text).date()
        except ValueError:
            return None
        if moment.year not in _YEARS:
            return None
        dates.append(moment)
    return dates


def _choose_units(dates: Sequence[date]) -> list[str]:
    """Units from fine to coarse, as many as the span of the dates needs."""
    first, last = min(dates), max(dates)
    days = (last - first).days
    if days <= 92:
        return ["week"]
    if first.year == last.year:
        return ["month", "quarter"]
    return ["month", "quarter", "year"] if days <= 366 * 20 else ["month", "year", "decade"]


# --- codes

_PLACE_NAME = re.compile(r"zip|post|plz|fips|tract|cep$|^cap$|code|icd|naics|isco|sic$", re.IGNORECASE)


def _propose_prefixes(known_values: pl.Series) -> _Proposals:
    """Codes such as ZIP codes, cut from the right; numbers only if their name says that they are codes."""
    if not (
        known_values.dtype == pl.String or (known_values.dtype.is_integer() and _PLACE_NAME.search(known_values.name))
    ):
        return
    texts = spell_cells(known_values.unique()).to_list()
    longest = max(map(len, texts))
    if longest > LONGEST_CODE or not _look_like_codes(texts, known_values.name):
        return
    yield "Codes, cut from the right.", {"kind": "prefix", "keep": list(range(longest - 1, 0, -1))}


def _look_like_codes(texts: Sequence[str], name: str) -> bool:
    """Words with a digit in each; of nearly one length, unless the name says that they are codes."""
    plain = all(re.fullmatch(r"[\w.\-/]*\d[\w.\-/]*( [\w.\-/]*\d[\w.\-/]*)?", text) for text in texts)
    return plain and (len({len(text) for text in texts}) <= 2 or bool(_PLACE_NAME.search(name)))


# --- numbers

_UNEVEN_NUMBERS = (
    "Numbers that lie unevenly, in groups of about equally many rows: the ends of a group are values of the data."
)


def _propose_numbers(known_values: pl.Series) -> _Proposals:
    if not known_values.dtype.is_numeric():
        return
    numbers = known_values.cast(pl.Float64)
    low, high = float(numbers.min() or 0), float(numbers.max() or 0)  # type: ignore[arg-type]  # a column of numbers
    if not (isfinite(low) and isfinite(high) and isfinite(high - low)):
        return
    widths = choose_round_widths(low, high, whole=bool((numbers == numbers.floor()).all()))
    even = _measure_crowding(numbers, widths[0]) < LEAST_CROWDING if widths else False
    if even and known_values.n_unique() <= MOST_EXACT:
        yield (
            "Numbers, in round intervals: their ends do not depend on the data.",
            {"kind": "intervals", "widths": widths},
        )
    counts = [count for count in (16, 8, 4, 2) if 2 * count <= known_values.n_unique()]
    if counts:
        yield _UNEVEN_NUMBERS, {"kind": "quantiles", "counts": counts}
    if widths:
        yield "Numbers, in round intervals.", {"kind": "intervals", "widths": widths}


def choose_round_widths(low: float, high: float, *, whole: bool) -> list[float]:
    """Widths such as 5, 10, 20, 40: each a multiple of the one before, the first about a twentieth of the range."""
    span = high - low
    if not span:
        return []
    if whole and span <= INTERVALS:
        first, factor = Decimal(2), 2
    else:
        power = floor(log10(span / INTERVALS))
        steps = [Decimal(step).scaleb(power) for step in (1, 2, 5, 10)]
        wide = [step for step in steps if step > 1 or not whole]  # whole numbers one apart are not generalized
        first = min(wide, key=lambda step: abs(log(float(step) * INTERVALS / span)))
        factor = 2 if first.as_tuple().digits == (5,) else 5
    widths = [first, first * factor]
    while float(widths[-1]) * 2 < span:
        widths.append(widths[-1] * 2)
    return [_simplify_number(width) for width in widths if float(width) < span]


def _simplify_number(width: Decimal) -> float:
    return int(width) if width == width.to_integral_value() else float(width)


def _measure_crowding(numbers: pl.Series, width: float) -> float:
    """The share of the rows in the fullest interval."""
    counts = count_cells((numbers / width).floor()).counts
    return float(counts.max(initial=0)) / len(numbers)


# --- words

_UNKNOWN_WORDS = (
    "Words without a known order: those of few rows are grouped. Better groups, by meaning, are worth your time."
)


def _propose_vocabulary(known_values: pl.Series) -> _Proposals:
    """Groups of the word list that knows most of the values."""
    if known_values.dtype.is_numeric():
        return
    counts = _count_value_words(known_values)
    rows = sum(counts.values())
    best = max(TOPICS, key=lambda topic: sum(_fold_word(word) in _index_topic(topic) for word in counts))
    paths = {word: path for word in counts if (path := _index_topic(best).get(_fold_word(word)))}
    strange = [word for word in counts if word not in paths and word.casefold() not in MISSING_WORDS]
    if (
        len(strange) > (1 - LEAST_RECOGNIZED) * len(counts)
        or sum(counts[word] for word in strange) > (1 - LEAST_RECOGNIZED) * rows
    ):
        return
    if len(paths) < 3:
        return
    rows_of_leaves = [
        [word, *(_choose_label(group, counts) for group in paths.get(word, ("other", "other"))), STAR]
        for word in counts
    ]
    yield (
        f"Recognized as {best}, {len(paths)} of {len(counts)} values; the groups come from a word list.",
        _build_from_rows(rows_of_leaves, known_values.name),
    )


def _propose_number_bands(known_values: pl.Series) -> _Proposals:
    """Words that are ranges of numbers, such as 18-27, in pairs of neighbours; what means missing stays by itself."""
    if known_values.dtype != pl.String:
        return
    words = [word for word in known_values.unique().to_list() if word.strip().casefold() not in MISSING_WORDS]
    ordered_ranges = order_number_bands(words) if 2 < len(words) <= MOST_EXACT else None
    if ordered_ranges is None:
        return
    rows = group_neighbours(ordered_ranges)
    taken_labels = dict.fromkeys(words)
    label_rows = [[row[0], *(_choose_group(label, row[0], taken_labels) for label in row[1:]), STAR] for row in rows]
    other_words = [word for word in known_values.unique().sort().to_list() if word not in ordered_ranges]
    label_rows += [[word] * (len(label_rows[0]) - 1) + [STAR] for word in other_words]
    yield "Ranges of numbers, in their order: neighbours are grouped.", _build_from_rows(label_rows, known_values.name)


def _choose_group(label: str, word: str, taken_labels: Mapping[str, Any]) -> str:
    """The label of a group; a group of a single word is that word."""
    return label if label == word else _choose_label(label, taken_labels)


def _propose_rare_groups(known_values: pl.Series) -> _Proposals:
    """Words that few rows hold become one group, which grows from level to level."""
    if known_values.dtype.is_nested() or known_values.dtype.is_object():
        return
    counts = _count_value_words(known_values)
    rows = sum(counts.values())
    limits = sorted({max(FEWEST, int(share * rows)) for share in RARE_SHARES})
    other = _choose_label("other values", counts)
    groups = [{word: other if count < limit else word for word, count in counts.items()} for limit in limits]
    useful_groups = [group for group in groups if 2 < len(set(group.values())) < len(counts)]
    unequal = [group for number, group in enumerate(useful_groups) if group not in useful_groups[:number]]
    if unequal:
        rows_of_leaves = [[word, *(group[word] for group in unequal), STAR] for word in counts]
        yield _UNKNOWN_WORDS, _build_from_rows(rows_of_leaves, known_values.name)


def _count_value_words(known_values: pl.Series) -> dict[str, int]:
    """How many rows hold each value, the most frequent first."""
    counts = spell_cells(known_values).alias("word").value_counts().sort(["count", "word"], descending=[True, False])
    return dict(zip(counts["word"].to_list(), counts["count"].to_list(), strict=True))


def _build_from_rows(rows: list[list[str]], name: str) -> Hierarchy:
    """The hierarchy without levels that equal the one below."""
    levels = list(zip(*rows, strict=True))
    kept_levels = [level for number, level in enumerate(levels) if not number or level != levels[number - 1]]
    return Hierarchy.of(zip(*kept_levels, strict=True), name=f'hierarchy of "{name}"')


def _choose_label(label: str, taken_labels: Mapping[str, Any]) -> str:
    """A label that is no value of the column: one word must not mean two things."""
    while label in taken_labels:
        label = f"{label} (group)"
    return label


def _fold_word(word: str) -> str:
    """Letters and digits only, without case and accents."""
    plain = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in plain if letter.isalnum())


@cache
def _index_topic(topic: str) -> Mapping[str, tuple[str, str]]:
    """Each folded word of a topic with its narrow and its wide group."""
    index: dict[str, tuple[str, str]] = {}
    for wide, narrow_groups in TOPICS[topic].items():
        for narrow, words in narrow_groups.items():
            for word in filter(None, map(str.strip, re.split(r"[|\n]", words))):
                index.setdefault(_fold_word(word), (narrow, wide))
    return index


_PROPOSERS = (
    _propose_dates,
    _propose_number_bands,
    _propose_prefixes,
    _propose_numbers,
    _propose_vocabulary,
    _propose_rare_groups,
)
"""What is tried, in this order."""


def count_level_rows(hierarchy: Hierarchy, values: pl.Series) -> pl.DataFrame:
    """For each level: how many labels the column would have, and the rows of the rarest and the most common label."""
    codes = hierarchy.code_leaves(values)
    leaves = codes[codes < len(hierarchy.rows)]
    counts = [np.bincount(level.group_of_leaf[leaves], minlength=1) for level in hierarchy.levels]
    return pl.DataFrame(
        {
            "level": range(hierarchy.height + 1),
            "labels": [int((count > 0).sum()) for count in counts],
            "fewest_rows": [int(count[count > 0].min(initial=len(values))) for count in counts],
            "most_rows": [int(count.max()) for count in counts],
        }
    )
