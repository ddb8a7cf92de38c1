# SPDX-License-Identifier: MIT
"""The data of the experiments, and many encodings of one column.

The paper does not say what its classes are. Its Figure 8 comes out exactly, all ten counts of pure pieces, for one
cover type (5, aspen) against all others, and pieces of at least two values, and at no other choice that the study
`classes` tries; so that is what we use everywhere.

It tries radii of 1, 2 and 5 % and does not say which of them a figure shows. So every statement that depends on the
radius is judged at all three.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from papers.census import INCOME, read_adult
from papers.study import Assumption, Setting, Statement, Tolerance, require_all
from sfumato.arrays import Floats, Ints
from sfumato.protect.codes.encode_for_trees import EncodeForTrees, RankedColumn
from sfumato.protect.codes.tree_codes import Curve
from sfumato.public.codes.coded_columns import CodedColumn
from sfumato.public.codes.crack_functions import Fit, KnowledgePoints, fit_curve
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

COVERTYPE, WDBC, ADULT = "covtype/covtype.csv.gz", "wdbc/wdbc.data", "adult/adult.data"
TARGET, ASPEN, MIN_WIDTH, SEED = "class", 5, 2, 2007
RADII, DRAWN_RADIUS = (0.01, 0.02, 0.05), 0.02
"""The radii that the paper tries, and the one that our pictures show: it comes nearest to Figure 11."""
ASPEN_CLASSES = "aspen against the other cover types, two values or more"
CLASSES = Assumption("classes and width of a pure piece", (ASPEN_CLASSES,), identified_by="the counts of Figure 8")
WHOLE_PER_CENT = Tolerance(0.5, "printed as whole per cent")
MEDIANS = Tolerance(0.1, "both are medians of 500 random trials", relative=True)
ATTRIBUTES = 10
TRIALS, QUICK_TRIALS = 500, 30
_Z = 1.959963984540054
NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")


def write_radius(radius: float) -> str:
    """A radius in words."""
    return f"{100 * radius:g} %"


def require_all_radii(by_radius: Mapping[float, Sequence[Statement]]) -> tuple[Statement, ...]:
    """The same statements at every radius: each holds only if it does at all of them."""
    values = [write_radius(radius) for radius in by_radius]
    return tuple(
        require_all("the radius", dict(zip(values, column, strict=True)))
        for column in zip(*by_radius.values(), strict=True)
    )


@cache
def covertype(data: Path, cover_type: int | None = ASPEN) -> Table:
    """The ten columns of numbers, and whether the cover is of a type; the type itself for None."""
    frame = pl.read_csv(data / COVERTYPE)
    types = frame["Cover_Type"]
    classes = types if cover_type is None else (types == cover_type).cast(pl.Int64)
    numbers = frame.select(frame.columns[:ATTRIBUTES])
    return Table.of(numbers.with_columns(classes.alias(TARGET)), source="Covertype")


@cache
def wdbc(data: Path) -> Table:
    """Thirty measures of cells, benign or malignant; the id is left out."""
    frame = pl.read_csv(data / WDBC, has_header=False)
    columns = frame.columns
    measures = frame.select(pl.col(name).alias(f"measure {number}") for number, name in enumerate(columns[2:], 1))
    return Table.of(measures.with_columns(frame[columns[1]].alias(TARGET)), source="WDBC")


@cache
def adult(data: Path) -> Table:
    """Adult's six columns of numbers, and the income."""
    frame = read_adult(data, (ADULT,))
    numbers = [pl.col(name).cast(pl.Int64) for name in NUMBERS]
    return Table.of(frame.select(*numbers, pl.col(INCOME).alias(TARGET)), source="Adult")


def count_trials(setting: Setting) -> int:
    """How often a figure's chance is drawn."""
    return QUICK_TRIALS if setting.quick else TRIALS


@dataclass(frozen=True)
class Attribute:
    """A column, sorted once; encoded many times."""

    ranks: RankedColumn
    rows: Ints
    """How many rows have each value."""
    value_index: Ints
    """The value of each row."""

    @classmethod
    def of(cls, table: Table, name: str) -> Attribute:
        """Sort a column, and look at its classes."""
        classes = table.frame[TARGET].rank("dense").cast(pl.Int64).to_numpy() - 1
        _, value_index, rows = np.unique(table.frame[name].to_numpy(), return_inverse=True, return_counts=True)
        return cls(RankedColumn.of(table, name, classes), rows, value_index)

    def encode(self, method: EncodeForTrees, chance: np.random.Generator) -> tuple[CodedColumn, Ints]:
        """Codes drawn anew, and the number of each value's code among the sorted codes."""
        key = method.draw_key(self.ranks, chance)
        order = np.argsort(key.codes)
        values = self.ranks.values[order]
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.arange(len(order))
        column = CodedColumn(
            self.ranks.name,
            key.codes[order],
            values,
            values,
            self.rows[order],
            self.value_index,
            self.ranks.values,
            self.rows,
        )
        return column, number


@cache
def attributes(data: Path) -> tuple[Attribute, ...]:
    """Covertype's ten columns."""
    table = covertype(data)
    return tuple(Attribute.of(table, name) for name in table.frame.columns[:ATTRIBUTES])


SQRT_LOG: tuple[Curve, ...] = ("sqrt_log",)


def one_curve(curves: tuple[Curve, ...] = SQRT_LOG) -> EncodeForTrees:
    """No breakpoint at all."""
    return EncodeForTrees(target=TARGET, breakpoints="random", pieces=1, curves=curves)


def choose_bp(pieces: int, curves: tuple[Curve, ...] = SQRT_LOG) -> EncodeForTrees:
    """Breakpoints at random."""
    return EncodeForTrees(target=TARGET, breakpoints="random", pieces=pieces, curves=curves)


def choose_max_mp(curves: tuple[Curve, ...] = SQRT_LOG) -> EncodeForTrees:
    """Pure pieces as long as can be, and at least twenty pieces."""
    return EncodeForTrees(target=TARGET, min_width=MIN_WIDTH, curves=curves)


@dataclass(frozen=True)
class MedianRisk:
    """The median of some trials, with a distribution-free 95 % interval of it."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, shares: npt.ArrayLike) -> MedianRisk:
        """From the share cracked in each trial."""
        sorted_shares = np.sort(np.asarray(shares, dtype=np.float64))
        reach = _Z * np.sqrt(len(sorted_shares)) / 2
        low, high = int(np.floor(len(sorted_shares) / 2 - reach)), int(np.ceil(len(sorted_shares) / 2 + reach))
        return cls(
            float(np.median(sorted_shares)),
            sorted_shares[max(low, 0)],
            sorted_shares[min(high, len(sorted_shares) - 1)],
        )

    def __str__(self) -> str:
        """A share in per cent, with its interval."""
        return f"{self.median:.1%} ({self.low:.1%} to {self.high:.1%})"


def domain_risks(
    attribute: Attribute,
    method: EncodeForTrees,
    many: int,
    radius: float,
    fit: Fit = "polyline",
    good: int = 4,
    bad: int = 0,
    seed: int = SEED,
) -> Floats:
    """The share of values cracked in each of many trials, each with a new key and new knowledge points."""
    chance = np.random.Generator(np.random.PCG64DXSM(seed))
    shares = np.zeros(many)
    for trial in range(many):
        report_progress("trials of an encoding", trial, many)
        column, _ = attribute.encode(method, chance)
        points = KnowledgePoints.draw(column, good, bad, radius, 1, chance)
        shares[trial] = column.flag_cracks(fit_curve(points, column.codes, fit), radius).mean()
    return shares
