# SPDX-License-Identifier: MIT
"""Hierarchies built from the values of a column, as described in a policy file.

Each kind is one small model; `build(values)` makes the hierarchy and adds `*` on top. The leaves are the column's
values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise
from math import lcm
from statistics import multimode
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
import polars as pl
from pydantic import Field, TypeAdapter, ValidationError, field_validator, model_validator

from sfumato.arrays import Floats, Ints
from sfumato.data.cells.cell_types import count_words, describe_words
from sfumato.data.hierarchies.coarse_range import widen_range
from sfumato.data.hierarchies.hierarchy import STAR, Hierarchy, spell_cells
from sfumato.description import Description
from sfumato.errors import DataError, PolicyError, count_noun
from sfumato.fields.problem_words import describe_problem, select_causes, suggest_field


class _Builder(Description):
    def build(self, values: pl.Series) -> Hierarchy:
        """Build the hierarchy over the column's values."""
        known_values = values.drop_nulls().unique().sort()
        if known_values.is_empty():
            return Hierarchy.of([("", STAR)], name=f'hierarchy of "{values.name}"')
        rows = self._build_rows(known_values)
        full_rows = [row if row[-1] == STAR else [*row, STAR] for row in rows]
        return replace(Hierarchy.of(full_rows, name=f'hierarchy of "{values.name}"'), is_built=True)

    def _build_rows(self, known_values: pl.Series) -> list[list[str]]:
        """One row per value, from the value up; only the value for a kind that builds differently."""
        return [[text] for text in spell_cells(known_values).to_list()]


class Intervals(_Builder):
    """Numbers into intervals of growing width, each width a multiple of the previous one: [20, 25), [20, 30), …"""

    kind: Literal["intervals"] = "intervals"
    widths: tuple[float, ...] = Field(min_length=1)
    """The widths, narrowest first, each a multiple of the previous one."""
    origin: float = 0
    """Where an interval begins."""

    @field_validator("widths")
    @classmethod
    def _check_nested(cls, widths: tuple[float, ...]) -> tuple[float, ...]:
        if any(width <= 0 for width in widths):
            raise ValueError("every width must be greater than 0")
        if any(
            wide <= narrow or (_parse_decimal(wide) / _parse_decimal(narrow)) % 1 for narrow, wide in pairwise(widths)
        ):
            raise ValueError("every width must be a multiple of the previous one, so that levels nest")
        return widths

    def _build_rows(self, known_values: pl.Series) -> list[list[str]]:
        # In exact decimals: 0.3 begins an interval of width 0.1, although 0.3 / 0.1 is less than 3 in floats. They are
        # whole multiples of the smallest unit among them, since fractions take ten times as long.
        fractions = [_parse_decimal(number) for number in _require_numbers(known_values).tolist()]
        origin, widths = _parse_decimal(self.origin), list(map(_parse_decimal, self.widths))
        unit = lcm(*{number.denominator for number in (*fractions, origin, *widths)})
        begin, numbers = int(origin * unit), [number.numerator * (unit // number.denominator) for number in fractions]
        rows = [[text] for text in spell_cells(known_values).to_list()]
        for width in (int(width * unit) for width in widths):
            labels: dict[int, str] = {}
            for row, number in zip(rows, numbers, strict=True):
                start = (number - begin) // width
                if start not in labels:
                    ends = (Fraction(start * width + begin, unit), Fraction((start + 1) * width + begin, unit))
                    labels[start] = f"[{_format_number(float(ends[0]))}, {_format_number(float(ends[1]))})"
                row.append(labels[start])
        return rows


class Quantiles(_Builder):
    """Numbers into groups of about equally many rows: counts = [16, 4] gives sixteenths, then quarters."""

    kind: Literal["quantiles"] = "quantiles"
    counts: tuple[Annotated[int, Field(ge=1, le=1_000_000)], ...] = Field(min_length=1)
    """The number of groups, largest first; each a divisor of the previous one."""
    exact_ends: bool = False
    """Whether the outermost labels name the minimum and the maximum of the data, which are someone's values; otherwise
    they reach to the next point of a coarse grid."""
    range: tuple[float, float] | None = None
    """The lowest and the highest possible number, known without looking at the data: the outermost labels name them,
    and say nothing about the minimum and the maximum, not even of people who are suppressed later."""

    @model_validator(mode="after")
    def _check_ends(self) -> Quantiles:
        if self.range is not None and (self.exact_ends or not self.range[0] < self.range[1]):
            raise ValueError("range needs a lower and a higher end, and cannot be combined with exact_ends")
        return self

    @field_validator("counts")
    @classmethod
    def _check_nested(cls, counts: tuple[int, ...]) -> tuple[int, ...]:
        if any(count < 1 for count in counts) or any(many % few or many <= few for many, few in pairwise(counts)):
            raise ValueError("every count must be a divisor of the previous one, so that levels nest")
        return counts

    def build(self, values: pl.Series) -> Hierarchy:
        """The hierarchy whose groups hold about equally many rows; equal values stay together."""
        known_values = values.drop_nulls()
        if known_values.is_empty():
            return super().build(values)
        distinct = known_values.unique().sort()
        count_below = known_values.sort().search_sorted(distinct, side="left").to_numpy()
        return self._build_groups(distinct, count_below / len(known_values))

    def build_counted(self, distinct: pl.Series, counts: Ints) -> Hierarchy:
        """The same from the distinct values in ascending order, and how often each occurs."""
        if distinct.is_empty():
            return super().build(distinct)
        return self._build_groups(distinct, (np.cumsum(counts) - counts) / counts.sum())

    def _build_groups(self, distinct: pl.Series, share_below: Floats) -> Hierarchy:
        """The share of rows below a value determines its group, at every level by the same share: levels nest."""
        numbers = _require_numbers(distinct)
        ends = None if self.exact_ends else self._format_range(numbers, distinct.name) or _format_outer_ends(numbers)
        rows = [[text] for text in spell_cells(distinct).to_list()]
        for count in self.counts:
            part = np.floor(share_below * count).astype(np.int64)
            for row, label in zip(rows, _label_spans(part, rows, ends), strict=True):
                row.append(label)
        full_rows = [[*row, STAR] for row in rows]
        return replace(Hierarchy.of(full_rows, name=f'hierarchy of "{distinct.name}"'), is_built=True)

    def _format_range(self, numbers: np.ndarray[Any, np.dtype[np.float64]], column: str) -> tuple[str, str] | None:
        """The given ends; a number beyond them would make a label untrue."""
        if self.range is None:
            return None
        outlier_count = int(((numbers < self.range[0]) | (numbers > self.range[1])).sum())
        if outlier_count:
            raise DataError(
                f'column "{column}": {count_noun(outlier_count, "value lies", "values lie")} outside the range of its '
                "quantiles; widen it"
            )
        return _format_number(self.range[0]), _format_number(self.range[1])


class Prefix(_Builder):
    """Codes by their first characters, the rest masked: keep = [4, 3] turns 13053 into 1305* and 130**."""

    kind: Literal["prefix"] = "prefix"
    keep: tuple[int, ...] = Field(min_length=1)
    """How many characters are kept, most first; 0 keeps none."""

    @field_validator("keep")
    @classmethod
    def _check_falling(cls, keep: tuple[int, ...]) -> tuple[int, ...]:
        if any(count < 0 for count in keep) or any(more <= fewer for more, fewer in pairwise(keep)):
            raise ValueError("the number of kept characters must decrease from level to level")
        return keep

    def _build_rows(self, known_values: pl.Series) -> list[list[str]]:
        texts = spell_cells(known_values).to_list()
        usual = max(multimode(map(len, texts)))

        def mask_text(text: str, count: int) -> str:
            # Codes of different length are masked to one length: the length also discloses something. It is the usual
            # one, since the longest may be that of one person, who is suppressed.
            return text[:count] + STAR * max(usual - count, 1) if count else STAR

        return [[text, *(mask_text(text, count) for count in self.keep)] for text in texts]


class Dates(_Builder):
    """Dates by week, month, quarter, year or decade. Weeks do not nest in months: use one or the other."""

    kind: Literal["date"] = "date"
    units: tuple[Literal["week", "month", "quarter", "year", "decade"], ...] = Field(min_length=1)
    """`week` alone, or some of `month`, `quarter`, `year`, `decade`, finest first."""
    format: str | None = None
    """How dates are written, in strftime codes; ISO (2009-06-30) if omitted."""

    @field_validator("units")
    @classmethod
    def _check_nested(cls, units: tuple[str, ...]) -> tuple[str, ...]:
        order = ["week", "month", "quarter", "year", "decade"]
        places = [order.index(unit) for unit in units]
        if places != sorted(set(places)):
            raise ValueError("units must go from fine to coarse")
        if "week" in units and len(units) > 1:
            raise ValueError("a week can span two months or two years; use week alone")
        return units

    @field_validator("format")
    @classmethod
    def _check_readable(cls, form: str | None) -> str | None:
        try:
            datetime.strptime("", form or "")
        except re.error:
            raise ValueError("the date format is invalid or repeats a code") from None
        except ValueError:
            return form
        return form

    def _build_rows(self, known_values: pl.Series) -> list[list[str]]:
        texts = spell_cells(known_values).to_list()
        is_date_column = known_values.dtype == pl.Date  # whatever the file's spelling was
        dates = known_values.to_list() if is_date_column else [self._parse_date(text) for text in texts]
        unread = sum(moment is None for moment in dates)
        if unread:
            raise DataError(
                f'column "{known_values.name}": {count_noun(unread, "value is not a date", "values are not dates")}'
                f"{f' in the format {self.format}' if self.format else ' in ISO form; give their format'}"
            )
        return [
            [text, *(_UNIT[unit](moment) for unit in self.units)]
            for text, moment in zip(texts, dates, strict=True)
            if moment is not None
        ]

    def _parse_date(self, text: str) -> date | None:
        try:
            if self.format:
                return datetime.strptime(text, self.format).date()
            return datetime.fromisoformat(text).date()
        except ValueError:
            return None


class Tree(_Builder):
    """Named groups, nested to any depth: groups = { Europe = { North = ["Norway"], South = ["Italy"] } }."""

    kind: Literal["tree"] = "tree"
    groups: Mapping[str, Any]
    """A group's name → its values, or its subgroups."""

    def build(self, values: pl.Series) -> Hierarchy:
        """The hierarchy of the named groups; shallow branches repeat their label."""
        paths = _list_group_paths(self.groups, ())
        depth = max((len(path) for path in paths), default=0)
        # A shallow branch repeats its label for the levels it lacks.
        rows = [[path[-1], *([path[-1]] * (depth - len(path))), *reversed(path[:-1])] for path in paths]
        hierarchy = Hierarchy.of([[*row, STAR] for row in rows], name=f'hierarchy of "{values.name}"')
        return replace(hierarchy, is_written=True)


HierarchyBuilder: TypeAlias = Annotated[Intervals | Quantiles | Prefix | Dates | Tree, Field(discriminator="kind")]
_ADAPTER: TypeAdapter[HierarchyBuilder] = TypeAdapter(HierarchyBuilder)


def parse_builder(description: Mapping[str, Any], name: str = "hierarchy") -> HierarchyBuilder:
    """Read `{ kind = "prefix", keep = [4, 3] }`; errors begin with the name."""
    try:
        return _ADAPTER.validate_python(dict(description))
    except ValidationError as error:
        raise PolicyError(f"{name}: {_explain_builder_errors(error)}") from None


def _explain_builder_errors(error: ValidationError) -> str:
    kinds: tuple[type[_Builder], ...] = (Intervals, Quantiles, Prefix, Dates, Tree)
    models = {kind.model_fields["kind"].default: kind for kind in kinds}
    sentences = {}
    for problem in select_causes(error):
        field = ".".join(str(part) for part in problem["loc"][1:])
        fields = list(models[str(problem["loc"][0])].model_fields) if problem["loc"] else []
        sentences[field] = f"{field}{': ' if field else ''}{describe_problem(dict(problem), fields)}"
        if problem["type"] == "extra_forbidden":  # a field that is missing only because its name is misspelt
            sentences.pop(suggest_field(field, fields) or "", None)
    return "; ".join(sentences.values())


def _require_numbers(values: pl.Series) -> np.ndarray[Any, np.dtype[np.float64]]:
    if not values.dtype.is_numeric():
        distinct = values.unique()
        words = count_words(distinct, "different values")
        cure = "correct these" if describe_words(distinct) else "for text, take prefix or tree, for dates date"
        raise DataError(f'column "{values.name}" holds text ({words}); intervals and quantiles need numbers; {cure}')
    return values.cast(pl.Float64).to_numpy()


_EXACT = 2**53
"""Below this, a whole number is the same as a float and as it is written."""


def _parse_decimal(number: float) -> Fraction:
    """The decimal number that a float is written as."""
    return Fraction(int(number)) if number % 1 == 0 and abs(number) < _EXACT else Fraction(repr(number))


def _format_number(number: float) -> str:
    return f"{number:.12g}"


def _format_outer_ends(numbers: np.ndarray[Any, np.dtype[np.float64]]) -> tuple[str, str]:
    """The ends of a coarse range around the values."""
    low, high = float(numbers[0]), float(numbers[-1])
    if not (low < high and np.isfinite(high - low)):
        return _format_number(low), _format_number(high)
    coarse_range = widen_range(low, high, whole=bool((numbers == np.floor(numbers)).all()))
    return _format_number(float(coarse_range.low)), _format_number(float(coarse_range.high))


def _label_spans(
    part: np.ndarray[Any, np.dtype[np.int64]], rows: list[list[str]], ends: tuple[str, str] | None
) -> list[str]:
    """Name each group by its first and last value; the outermost by the ends, if given."""
    first: dict[int, str] = {}
    last: dict[int, str] = {}
    for number, row in zip(part.tolist(), rows, strict=True):
        first.setdefault(number, row[0])
        last[number] = row[0]
    names = {}
    for n, least in first.items():
        begin = ends[0] if ends and n == min(first) else least
        end = ends[1] if ends and n == max(first) else last[n]
        names[n] = least if least == last[n] else f"[{begin}, {end}]"
    return [names[number] for number in part.tolist()]


def _list_group_paths(group: Any, parent_path: tuple[str, ...]) -> list[tuple[str, ...]]:
    if isinstance(group, Mapping):
        return [path for name, inner in group.items() for path in _list_group_paths(inner, (*parent_path, str(name)))]
    if isinstance(group, (list, tuple)):
        return [(*parent_path, str(value)) for value in group]
    raise PolicyError("hierarchy: a tree consists of named groups with lists of values inside them")


_UNIT: dict[str, Callable[[date], str]] = {
    "week": lambda d: f"{d.isocalendar().year}-W{d.isocalendar().week:02d}",
    "month": lambda d: f"{d.year:04d}-{d.month:02d}",
    "quarter": lambda d: f"{d.year:04d}-Q{(d.month + 2) // 3}",
    "year": lambda d: f"{d.year:04d}",
    "decade": lambda d: f"{d.year // 10 * 10:04d}s",
}
