# SPDX-License-Identifier: MIT
"""Totals and means of columns over the tables of three or more sites, exactly, and nobody shows a number of its own.

Every site adds up its cells as whole multiples of the last decimal place, and a secure sum gives the total and the
number of cells. Before anything is opened, the sites test on shares (`shamir`) that at least `floor` cells are left
whichever site's part is taken away; otherwise a site could subtract its own and would know those of a few people. Of a
column that fails, nothing is opened.

What is learned: the totals and numbers of cells, so also those of all other sites together; which columns fail.
Semi-honest sites, fewer than half colluding; those that collude can subtract the parts of all of them. A site that
lies changes the total and is not noticed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sfumato.arrays import Flags, Ints
from sfumato.errors import DataError, PartyError, PolicyError, count_noun, quote_names
from sfumato.parties.arithmetic.shamir import compare_shared_sums
from sfumato.parties.protocols.agreement import agree_on_parameters, confirm_result
from sfumato.parties.protocols.scalar_product import FLOOR, check_floor
from sfumato.parties.protocols.sums import add_integers
from sfumato.parties.protocols.threshold import describe_threshold_adversary
from sfumato.parties.result import SiteAnswer
from sfumato.parties.statement import Statement, Transcript
from sfumato.parties.transport.network import Network, Tap, compute, run_sites

if TYPE_CHECKING:
    import polars as pl

    from sfumato.table import Table

MOST_DECIMALS = 9
MOST_COUNT = 1 << 40
FROM_RESULT = (
    "the total, the number of cells and the mean of all other sites together: the result less this site's own",
    "what the sites that collude get by subtracting all their parts: the floor is for one site alone",
    "of several runs over tables that differ in a few rows, the sums over these rows",
)


@dataclass(frozen=True, slots=True)
class SumQuestion:
    """Which columns to add up; every site has the same."""

    columns: tuple[str, ...]
    """Columns of numbers."""
    decimals: int = 0
    """How many decimal places the cells have at most."""
    floor: int = FLOOR
    """How many cells must be left, whichever site is taken away, for a total to be opened."""

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_columns(self.columns)
        if type(self.decimals) is not int or not 0 <= self.decimals <= MOST_DECIMALS:
            raise PolicyError(f"decimals must be a whole number from 0 to {MOST_DECIMALS}")
        check_floor(self.floor)


@dataclass(frozen=True, slots=True)
class SiteSums(SiteAnswer):
    """What one site has at the end."""

    sums: pl.DataFrame
    """`column`, `total`, `count` and `mean`; nothing where too few cells are left without one of the sites."""
    statement: Statement
    transcript: Transcript

    def list_tables(self) -> dict[str, pl.DataFrame]:
        """The sums."""
        return {"sums": self.sums}


@dataclass(frozen=True, slots=True)
class JointSums:
    """Totals and means over the tables of all sites."""

    sums: pl.DataFrame
    """`column`, `total`, `count` and `mean`; nothing where too few cells are left without one of the sites."""
    statements: tuple[Statement, ...]
    """What each site learned."""


def add_columns(
    tables: Sequence[Table],
    columns: Sequence[str],
    *,
    decimals: int = 0,
    floor: int = FLOOR,
    names: Sequence[str] | None = None,
    tap: Tap | None = None,
) -> JointSums:
    """Totals and means of columns over the tables of three or more sites; all sites run in this process."""
    check_columns(columns)
    question = SumQuestion(tuple(columns), decimals, floor)

    async def add_up(network: Network, site_table: Table) -> SiteSums:
        return await add_site_columns(network, site_table, question)

    answers = run_sites(add_up, list(tables), names, tap)
    return JointSums(answers[0].sums, tuple(answer.statement for answer in answers))


async def add_site_columns(network: Network, table: Table, question: SumQuestion) -> SiteSums:
    """One site's part; the result is the same at every site. Missing cells are left out."""
    refuse_two_sites(network)
    own_sums = await compute(_add_own, table, question)
    parameters = {
        "task": "sums",
        "columns": quote_names(question.columns),
        "decimals": str(question.decimals),
        "floor": str(question.floor),
    }
    await agree_on_parameters(network, parameters)
    supported_sums = await open_supported(
        network, own_sums, own_sums[1], question.floor, SumWords("cells", "columns", "totals")
    )
    frame = _build_sum_frame(question, supported_sums)
    await confirm_result(network, str(frame.rows()))
    statement = network.state("sums", describe_threshold_adversary("shamir", len(network.sites)), FROM_RESULT)
    return SiteSums(frame, statement, network.transcript)


def check_columns(columns: Sequence[str]) -> None:
    """Raise an error unless these are names of different columns."""
    if isinstance(columns, str) or not columns or not all(isinstance(name, str) and name for name in columns):
        raise PolicyError("columns must be a list of one or more names of columns")
    if len(set(columns)) != len(columns):
        raise PolicyError("a column is named twice; name each once")


def refuse_two_sites(network: Network) -> None:
    """Raise an error unless subtracting one's own part leaves the parts of several sites."""
    if len(network.sites) < 3:
        raise PartyError(
            "with two sites, each could subtract its own counts and learn the other's; at least three sites are needed"
        )


class SumWords(NamedTuple):
    """What is counted, in what, and the step in which totals are opened."""

    unit: str
    subject: str
    step: str


class SupportedSums(NamedTuple):
    """Which sums have enough support, and the totals of these."""

    is_open: Flags
    totals: Ints


async def open_supported(
    network: Network, own_numbers: Ints, own_counts: Ints, floor: int, words: SumWords
) -> SupportedSums:
    """The totals of numbers over all sites, where at least `floor` are counted without any one site.

    The last axis of `own_numbers` is that of `own_counts`.
    """
    is_open = await _are_supported(network, own_counts, floor, words.unit)
    network.learn(
        f"{words.unit}: of each of {len(own_counts):,} {words.subject} and each site, whether the other sites together "
        f"have {floor} {words.unit}"
    )
    open_numbers = own_numbers[..., is_open]
    totals = await add_integers(network, open_numbers, words.step) if is_open.any() else open_numbers
    return SupportedSums(is_open, totals)


async def _are_supported(network: Network, counts: Ints, floor: int, step: str) -> Flags:
    """Whether at least `floor` are left of the sites' counts together, whichever site's part is taken away."""
    own_counts = np.tile(counts, (len(network.sites), 1))
    own_counts[network.index] = 0
    terms = own_counts.ravel() - (floor if network.index == 0 else 0)
    is_large = await compare_shared_sums(network, terms, step)
    flags: Flags = np.logical_and.reduce(is_large.reshape(own_counts.shape))
    return flags


def _add_own(table: Table, question: SumQuestion) -> Ints:
    """This site's totals, in units of the last decimal place, and its numbers of cells; a column for each."""
    sums = [_add_column(table, column, question.decimals) for column in question.columns]
    return np.array(sums, dtype=np.int64).T


def _add_column(table: Table, column: str, decimals: int) -> tuple[int, int]:
    if column not in table.frame.columns:
        raise DataError(f'{table.source}: there is no column "{column}" to add up')
    cells = table.frame[column].drop_nulls()
    if len(cells) and not cells.dtype.is_numeric():
        raise DataError(f'{table.source}: the column "{column}" does not hold numbers, so it cannot be added up')
    numbers: Any = cells.to_numpy().astype(np.float64)
    scaled_numbers = np.round(numbers * 10**decimals)
    is_wrong = (
        ~np.isfinite(scaled_numbers) | (np.abs(scaled_numbers) >= 1 << 53) | (scaled_numbers / 10**decimals != numbers)
    )
    if is_wrong.any():
        raise DataError(
            f'{table.source}: "{column}": {count_noun(int(is_wrong.sum()), "number has", "numbers have")} more than '
            f"{decimals} decimal "
            "places, or cannot be added, being too large or not finite; round such numbers, or raise decimals at "
            "every site"
        )
    total = sum(map(int, scaled_numbers.tolist()))
    if abs(total) >= 1 << 54 or len(cells) >= MOST_COUNT:
        raise DataError(f'{table.source}: the total of the column "{column}" is too large; lower decimals')
    return total, len(cells)


def _build_sum_frame(question: SumQuestion, sums: SupportedSums) -> pl.DataFrame:
    import polars as pl

    open_totals, unit = iter(sums.totals.T.tolist()), 10**question.decimals
    rows: list[tuple[str, float | None, int | None, float | None]] = []
    for column, keep in zip(question.columns, sums.is_open.tolist(), strict=True):
        if keep:
            total, count = next(open_totals)
            rows.append((column, total / unit, count, total / unit / count))
        else:
            rows.append((column, None, None, None))
    schema = {"column": pl.String, "total": pl.Float64, "count": pl.Int64, "mean": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")
