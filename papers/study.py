# SPDX-License-Identifier: MIT
"""What a study is: one table or figure of a paper, what the paper says of it, and what we find.

A statement counts as reproduced only if it holds at the paper's own parameters, within a tolerance that is printed
beside it. Where the paper leaves a parameter open, it must hold at every value tried, and these are always shown.
Otherwise the statement differs, or it cannot be compared; both come with a reason.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple

import polars as pl

from sfumato.errors import PolicyError

Verdict = Literal["reproduced", "differs", "not comparable"]
_NAME = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")


@dataclass(frozen=True)
class Grid:
    """A table of numbers, ours and theirs. It becomes a CSV file and a table of the page."""

    name: str
    """Short, unique within the study: the end of the CSV file's name."""
    title: str
    frame: pl.DataFrame
    """Its column names are shown with spaces for underscores; a null is a number that the paper does not give."""
    remark: str = ""

    def __post_init__(self) -> None:
        """Refuse a name that is not a file name."""
        _refuse_odd(self.name)


@dataclass(frozen=True)
class Plot:
    """A picture: SVG that follows the page's colours."""

    title: str
    svg: str
    caption: str
    """What is drawn, in words and numbers, computed from the values that are drawn."""


@dataclass(frozen=True)
class Assumption:
    """A parameter that the paper leaves open, and every value of it that we tried."""

    parameter: str
    """In words, with an article: "the radius"."""
    values: tuple[str, ...]
    identified_by: str = ""
    """Printed numbers that all come out at this one value, and at no other that was tried."""

    def __post_init__(self) -> None:
        """Refuse an assumption of nothing."""
        if not self.values:
            raise ValueError(f"no value was tried of {self.parameter}")

    @property
    def supports_a_verdict(self) -> bool:
        """One value that we chose shows nothing about the paper, unless printed numbers identify it."""
        return len(self.values) > 1 or bool(self.identified_by)

    def __str__(self) -> str:
        """What is assumed, for the page."""
        reason = f"identified by {self.identified_by}" if self.identified_by else "the paper does not state it"
        return f"{self.parameter}: {', '.join(self.values)} ({reason})"


@dataclass(frozen=True)
class Statement:
    """Something that a paper states, and what we find."""

    paper_result: str
    """What the paper says, with its number."""
    own_result: str
    holds: bool | None
    """Whether ours agrees within the tolerance; None where the two cannot be compared."""
    reason: str = ""
    """Why the two may differ or cannot be compared; shown only where that is the verdict."""
    source: Literal["paper", "independent count"] = "paper"
    """An independent count is a number of our own, found by other code; it says nothing about the paper."""
    assumes: tuple[Assumption, ...] = ()
    """What the paper leaves open and the statement depends on; always shown."""
    cases: int | None = None
    """Of how many things of our run it speaks, where that may be none."""
    tolerance: str = ""
    """How far numbers may be apart, and why, in words; empty where none are compared."""

    def __post_init__(self) -> None:
        """Refuse a comparison that is avoided without a reason."""
        if self.holds is None and not self.reason:
            raise ValueError(f"no reason why this cannot be compared: {self.paper_result}")

    @property
    def verdict(self) -> Verdict:
        """The outcome in words. What holds of nothing, or at a single choice of ours, is not reproduced."""
        if self.holds is None or self._explain_no_evidence():
            return "not comparable"
        return "reproduced" if self.holds else "differs"

    @property
    def explanation(self) -> str:
        """Why it is not reproduced; empty where it is."""
        if self.verdict == "reproduced":
            return ""
        return self._explain_no_evidence() or self.reason or "The reason is not known."

    def _explain_no_evidence(self) -> str:
        """Why a statement that holds shows nothing about the paper; empty if it does."""
        open_parameters = [assumption.parameter for assumption in self.assumes if not assumption.supports_a_verdict]
        if self.holds and self.cases == 0:
            return "Our run has nothing that the statement speaks of, so that it shows nothing."
        if self.holds and open_parameters:
            return f"It holds at the one choice tried; the paper does not state {' and '.join(open_parameters)}."
        return ""

    @property
    def assumption(self) -> str:
        """What the paper leaves open, in words, whatever the verdict; empty where that is nothing."""
        return f"Assumes {'; '.join(map(str, self.assumes))}." if self.assumes else ""


def require_all(parameter: str, statements: Mapping[str, Statement], reason: str = "") -> Statement:
    """One statement at several values of a parameter that the paper leaves open: it holds only if it does at all."""
    first = next(iter(statements.values()))
    own_result = "; ".join(f"{value}: {statement.own_result.rstrip('.')}" for value, statement in statements.items())
    assumes = (*first.assumes, Assumption(parameter, tuple(statements)))
    if any(statement.holds is None for statement in statements.values()):
        return replace(first, own_result=own_result, holds=None, assumes=assumes)
    holding_values = [value for value, statement in statements.items() if statement.holds]
    holding_text = (
        f"holds at {', '.join(holding_values)} only" if holding_values else "holds at none of the values tried"
    )
    full_reason = (
        f"The paper does not state {parameter}; the statement {holding_text}. {reason or first.reason}".strip()
    )
    return replace(
        first, own_result=own_result, holds=len(holding_values) == len(statements), reason=full_reason, assumes=assumes
    )


@dataclass(frozen=True)
class Tolerance:
    """How far our number may be from theirs, and why that much."""

    size: float
    reason: str = ""
    """A reason that applies to the quantity compared: how it is rounded, or what chance it rests on."""
    relative: bool = False
    """Whether the size is a share of their number."""

    def __post_init__(self) -> None:
        """Refuse a tolerance without a reason."""
        if self.size and not self.reason:
            raise ValueError(f"no reason for a tolerance of {self.size:g}")

    def accepts(self, pair: Pair) -> bool:
        """Whether our number is near enough."""
        return abs(pair.own_result - pair.paper_result) <= self.size * (abs(pair.paper_result) if self.relative else 1)

    def describe(self, unit: str) -> str:
        """The tolerance in the unit of the numbers, with its reason."""
        if not self.size:
            return "Tolerance: none."
        size = f"{100 * self.size:g} % of their number" if self.relative else f"{_write_tolerance(self.size)}{unit}"
        return f"Tolerance: {size} ({self.reason})."


EXACT = Tolerance(0)


class Pair(NamedTuple):
    """A number of the paper and ours."""

    paper_result: float
    own_result: float


def compare(
    quantity: str,
    pairs: Sequence[Pair],
    tolerance: Tolerance = EXACT,
    *,
    unit: str = "",
    reason: str = "",
    source: Literal["paper", "independent count"] = "paper",
    assumes: tuple[Assumption, ...] = (),
) -> Statement:
    """Compare our numbers with theirs, each within the tolerance, which is printed with its reason."""
    if not pairs:
        raise ValueError(f"there is nothing to compare: {quantity}")
    close = [tolerance.accepts(pair) for pair in pairs]
    count = f" ({sum(close)} of {len(pairs)} agree)" if len(pairs) > 1 else ""
    paper_result, own_result = (", ".join(map(_write_number, values)) for values in zip(*pairs, strict=True))
    return Statement(
        f"{quantity}: {paper_result}{unit}",
        f"{own_result}{unit}{count}",
        all(close),
        reason,
        source,
        assumes=assumes,
        tolerance=tolerance.describe(unit.replace(" %", " points")),
    )


def _write_tolerance(size: float) -> str:
    return f"{size:,.0f}" if size >= 100 else f"{size:.2g}"


def _write_number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.5g}"


@dataclass(frozen=True)
class Findings:
    """What a study found."""

    statements: tuple[Statement, ...] = ()
    grids: tuple[Grid, ...] = ()
    plots: tuple[Plot, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Setting:
    """How a study is to be run."""

    quick: bool = False
    """Smaller sizes where the figure allows it."""
    data: Path | None = None
    """The folder of real data, if there is one."""

    @property
    def folder(self) -> Path:
        """The folder of real data, which a study that needs it has."""
        if self.data is None:
            raise RuntimeError("a study that needs data is skipped without it")
        return self.data


@dataclass(frozen=True)
class Paper:
    """A publication whose tables and figures are reproduced."""

    name: str
    """Its package: first author and year."""
    authors: str
    """The citation: Aggarwal, Pei and Zhang (2006)."""
    title: str


@dataclass(frozen=True)
class Study:
    """One table or figure of a paper. Its work is the function of its name in `module`, loaded when it is run."""

    paper: Paper
    name: str
    """`figure_7`: unique within the paper."""
    module: str
    """The module of the paper's package that holds the work."""
    title: str
    location: str
    """Where the paper has it: Figure 7, Section 6.1."""
    states: str
    """What the paper says about it."""
    procedure: str
    """How ours is made: the parameters, and the seeds of everything random."""
    quickly: str = ""
    """What is smaller when it is run quickly; empty if nothing is."""
    needs: tuple[str, ...] = ()
    """Files of real data below the data folder without which it is skipped."""

    def __post_init__(self) -> None:
        """Refuse a name that is not a file name."""
        _refuse_odd(self.paper.name)
        _refuse_odd(self.name)

    @property
    def full_name(self) -> str:
        """The paper and the study: `aggarwal_2006.figure_7`."""
        return f"{self.paper.name}.{self.name}"

    def work(self, setting: Setting) -> Findings:
        """Reproduce the table or figure."""
        module = import_module(f"papers.{self.paper.name}.{self.module}")
        findings: Findings = getattr(module, self.name)(setting)
        return findings

    def missing(self, data: Path | None) -> tuple[str, ...]:
        """The files it needs that are not there."""
        return tuple(path for path in self.needs if data is None or not (data / path).is_file())


def _refuse_odd(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise PolicyError(f'"{name}" names a study or its table: lower-case letters, digits and underscores only')


def find_data(data_folder: str | Path | None = None) -> Path | None:
    """The folder of real data: the one given, else `SFUMATO_DATA`, else `shared/data` beside the repository."""
    folder_name = data_folder or os.environ.get("SFUMATO_DATA")
    folder = Path(folder_name) if folder_name else Path(__file__).parents[2] / "shared" / "data"
    return folder if folder.is_dir() else None


def frame_of(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Rows as a frame; a column's type is inferred from all of them, because numbers that are not given are null."""
    return pl.DataFrame(rows, infer_schema_length=None)
