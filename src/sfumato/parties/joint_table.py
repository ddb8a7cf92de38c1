# SPDX-License-Identifier: MIT
"""A contingency table over the rows of three or more sites: how many people have each combination of values.

The sites agree on the values of each column first, so that no site shows which values it has. They then test on
shares (`shamir`), for each combination, that at least `floor` people are left whichever site's part is taken away, and
open the counts of these combinations only, by a secure sum. Nothing is disclosed about the others, not even whether
they occur.

What is learned: the opened counts, so also those of all other sites together. Semi-honest sites, fewer than half
colluding; those that collude can subtract the parts of all of them.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from sfumato.arrays import Ints
from sfumato.errors import DataError, PolicyError, count_noun, quote_names
from sfumato.parties.joint_sums import SumWords, SupportedSums, check_columns, open_supported, refuse_two_sites
from sfumato.parties.protocols.agreement import agree_on_parameters, confirm_result
from sfumato.parties.protocols.scalar_product import FLOOR, check_floor
from sfumato.parties.protocols.threshold import describe_threshold_adversary
from sfumato.parties.result import SiteAnswer
from sfumato.parties.statement import Statement, Transcript
from sfumato.parties.transport.network import Network, Tap, compute, run_sites

if TYPE_CHECKING:
    import polars as pl

    from sfumato.table import Table

MOST_COMBINATIONS = 20_000
COUNT = "count"
FROM_RESULT = (
    "the opened counts of all other sites together: the result less this site's own",
    "what the sites that collude get by subtracting all their parts: the floor is for one site alone",
    "of several runs over tables that differ in a few rows, what these rows hold",
)


@dataclass(frozen=True, slots=True)
class TableQuestion:
    """Which columns to cross, with the values that they may have; every site has the same."""

    categories: Mapping[str, Sequence[str]]
    """For each column, its possible values as text."""
    floor: int = FLOOR
    """How many people must be left in a combination, whichever site is taken away, for its count to be opened."""

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_columns(tuple(self.categories))
        check_floor(self.floor)
        for column, values in self.categories.items():
            is_list = not isinstance(values, str) and all(isinstance(value, str) for value in values)
            if not is_list or not values or len(set(values)) != len(values):
                raise PolicyError(f'the values of "{column}" must be a list of one or more different texts')
        if COUNT in self.categories:
            raise PolicyError(f'a column cannot be called "{COUNT}", as the result has one of that name; rename it')
        size = prod(len(values) for values in self.categories.values())
        if size > MOST_COMBINATIONS:
            raise PolicyError(f"{size:,} combinations are too many; at most {MOST_COMBINATIONS:,} can be counted")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns, in order."""
        return tuple(self.categories)

    def list_combinations(self) -> list[tuple[str, ...]]:
        """All combinations, in order."""
        return list(product(*self.categories.values()))

    def as_parameters(self) -> dict[str, str]:
        """What the sites must agree on."""
        text = json.dumps([[column, list(values)] for column, values in self.categories.items()])
        return {
            "columns": quote_names(self.columns),
            "list of values": hashlib.sha256(text.encode("utf-8")).hexdigest(),
            "floor": str(self.floor),
        }


@dataclass(frozen=True, slots=True)
class SiteCounts(SiteAnswer):
    """What one site has at the end."""

    counts: pl.DataFrame
    """The columns and `count`, which is missing where too few people are left without one of the sites."""
    statement: Statement
    transcript: Transcript

    def list_tables(self) -> dict[str, pl.DataFrame]:
        """The counts."""
        return {"counts": self.counts}


@dataclass(frozen=True, slots=True)
class JointCounts:
    """How many people of all sites have each combination of values."""

    counts: pl.DataFrame
    """The columns and `count`, which is missing where too few people are left without one of the sites."""
    statements: tuple[Statement, ...]
    """What each site learned."""


def count_combinations(
    tables: Sequence[Table],
    categories: Mapping[str, Sequence[str]],
    *,
    floor: int = FLOOR,
    names: Sequence[str] | None = None,
    tap: Tap | None = None,
) -> JointCounts:
    """A contingency table over the rows of three or more sites; all sites run in this process."""
    question = TableQuestion(categories, floor)

    async def count(network: Network, site_table: Table) -> SiteCounts:
        return await count_site_combinations(network, site_table, question)

    answers = run_sites(count, list(tables), names, tap)
    return JointCounts(answers[0].counts, tuple(answer.statement for answer in answers))


async def count_site_combinations(network: Network, table: Table, question: TableQuestion) -> SiteCounts:
    """One site's part; the result is the same at every site. Rows with a missing cell are left out."""
    refuse_two_sites(network)
    own_counts = await compute(_count_own, table, question)
    await agree_on_parameters(network, {"task": "contingency", **question.as_parameters()})
    supported_sums = await open_supported(
        network, own_counts, own_counts, question.floor, SumWords("people", "combinations", "counts")
    )
    frame = _build_count_frame(question, supported_sums)
    await confirm_result(network, str(frame.rows()))
    statement = network.state("contingency", describe_threshold_adversary("shamir", len(network.sites)), FROM_RESULT)
    return SiteCounts(frame, statement, network.transcript)


def _count_own(table: Table, question: TableQuestion) -> Ints:
    """How many of this site's rows have each combination."""
    import polars as pl

    missing = [column for column in question.columns if column not in table.frame.columns]
    if missing:
        raise DataError(f'{table.source}: there is no column "{missing[0]}" to count')
    cells = table.frame.select(pl.col(column).cast(pl.String) for column in question.columns).drop_nulls()
    for column, values in question.categories.items():
        unknown = int((~cells[column].is_in(list(values))).sum())
        if unknown:
            raise DataError(
                f'{table.source}: "{column}": {count_noun(unknown, "cell is", "cells are")} not in the agreed list '
                "of values; add "
                "such values to the list at every site, or clean the cells"
            )
    counts = Counter(cells.iter_rows())
    return np.array([counts[combination] for combination in question.list_combinations()], dtype=np.int64)


def _build_count_frame(question: TableQuestion, sums: SupportedSums) -> pl.DataFrame:
    import polars as pl

    open_counts = iter(sums.totals.tolist())
    counts = [next(open_counts) if keep else None for keep in sums.is_open.tolist()]
    rows = [(*names, count) for names, count in zip(question.list_combinations(), counts, strict=True)]
    schema = {**dict.fromkeys(question.columns, pl.String), COUNT: pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")
