# SPDX-License-Identifier: MIT
"""The data of the experiment: Adult, balanced as the paper says, and offers of our own for those that are lost.

The paper deletes poorer records of Adult at random until 25,049 are left, and cuts the six numeric columns into
intervals of equal frequency by Weka; it does not say into how many. The salary survey of 1999 to 2002 is no longer
available. Its stand-in has the same size, 509 records of 13 columns with salaries in three groups, columns that predict
the salary about as well, and about as many identifiable records; nothing in it is about anybody.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from papers.census import INCOME, NAMES, read_adult
from sfumato.data.hierarchies.discretization import cut_equal_frequency
from sfumato.table import Table

SALARY = "salary"
RECORDS, INTERVALS, DELETED_SEED = 25_049, 3, 1
TRIED_INTERVALS = (2, INTERVALS, 5, 10)
"""How many intervals a column may have been cut into; at three, the counts of identifiable records come nearest."""
OFFERS, OFFERS_SEED = 509, 2004
NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
_POOR = "<=50K"


@cache
def census(data: Path, records: int = RECORDS, intervals: int = INTERVALS) -> Table:
    """Adult with this many records: all the richer ones, as far as there is room for the paper's share of them."""
    frame = read_adult(data)
    chance = np.random.default_rng(DELETED_SEED)
    poor = np.flatnonzero((frame[INCOME] == _POOR).to_numpy())
    rich = np.flatnonzero((frame[INCOME] != _POOR).to_numpy())
    kept_rich = round(records * len(rich) / RECORDS)
    row_indices = np.concatenate(
        [
            chance.choice(poor, records - kept_rich, replace=False),
            rich if kept_rich == len(rich) else chance.choice(rich, kept_rich, replace=False),
        ]
    )
    frame = frame[np.sort(row_indices)]
    cut = frame.with_columns(
        cut_equal_frequency(numbers, intervals).apply(numbers)
        for numbers in (frame[name].cast(pl.Int64) for name in NUMBERS)
    )
    return Table.of(cut, dict.fromkeys(NAMES, "quasi_identifying") | {INCOME: "sensitive"}, source="Adult")


_COLUMNS: tuple[tuple[str, tuple[str, ...], float], ...] = (
    ("position", ("lecturer", "assistant", "associate", "full"), 1.8),
    ("course_load", ("6", "5", "4", "3", "2"), 1.5),
    ("years_teaching", ("0", "1 to 3", "4 to 8", "9 and more"), 1.2),
    ("campus", ("college", "teaching", "balanced", "research"), 1.5),
    ("control", ("public", "private"), 0.75),
    ("degree", ("in progress", "doctorate"), 1.35),
    ("summer_support", ("none", "one month", "two months", "more"), 1.35),
    ("research_money", ("none", "some", "much"), 1.05),
    ("accredited", ("no", "yes"), 1.2),
    ("preparations", ("4", "3", "2"), 0.6),
    ("region", ("Midwest", "Northeast", "South", "West", "elsewhere"), 0.0),
    ("year", ("1999", "2000", "2001", "2002"), 0.0),
)
"""Name, values from those of poor offers to those of rich ones, and how strongly they go with the salary."""


def offers() -> Table:
    """509 invented offers: a hidden standing of the school and candidate moves salary and most columns together."""
    chance = np.random.default_rng(OFFERS_SEED)
    school_rank = chance.normal(size=OFFERS)
    columns = {}
    for name, values, pull in _COLUMNS:
        level = pull * school_rank + chance.normal(size=OFFERS)
        order = np.argsort(np.argsort(level)) / OFFERS
        cuts = np.cumsum(chance.dirichlet(np.full(len(values), 3.0)))[:-1]
        columns[name] = [values[index] for index in np.searchsorted(cuts, order, side="right")]
    salary = (
        school_rank + 0.35 * chance.normal(size=OFFERS) + 0.1 * np.array([int(year) - 1999 for year in columns["year"]])
    )
    thirds = np.argsort(np.argsort(salary)) * 3 // OFFERS
    frame = pl.DataFrame(columns | {SALARY: [("low", "middle", "high")[index] for index in thirds]})
    return Table.of(frame, dict.fromkeys(columns, "quasi_identifying") | {SALARY: "sensitive"}, source="offers")
