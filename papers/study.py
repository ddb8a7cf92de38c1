# SPDX-License-Identifier: MIT
"""What a study is: one table or figure of a paper, what the paper says of it, and what we find.

A statement counts as reproduced only if it holds at the paper's own parameters, within a tolerance that is printed
beside it. Otherwise it differs, or it cannot be compared; both come with a reason.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
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
class Statement:
    """Something that a paper states, and what we find."""

    theirs: str
    """What the paper says, with its number."""
    ours: str
    holds: bool | None
    """Whether ours agrees within the tolerance; None where the two cannot be compared."""
    reason: str = ""
    """Why the two may differ or cannot be compared; shown only where that is the verdict."""
    source: Literal["paper", "independent count"] = "paper"
    """An independent count is a number of our own, found by other code; it says nothing about the paper."""

    def __post_init__(self) -> None:
        """Refuse a comparison that is avoided without a reason."""
        if self.holds is None and not self.reason:
            raise ValueError(f"no reason why this cannot be compared: {self.theirs}")

    @property
    def verdict(self) -> Verdict:
        """The outcome in words."""
        if self.holds is None:
            return "not comparable"
        return "reproduced" if self.holds else "differs"

    @property
    def explanation(self) -> str:
        """Why it is not reproduced; empty where it is."""
        return "" if self.holds else self.reason or "The reason is not known."


class Pair(NamedTuple):
    """A number of the paper and ours."""

    theirs: float
    ours: float


def compare(
    what: str,
    pairs: Sequence[Pair],
    tolerance: float,
    *,
    relative: bool = False,
    unit: str = "",
    reason: str = "",
    source: Literal["paper", "independent count"] = "paper",
) -> Statement:
    """Compare our numbers with theirs: each may be off by `tolerance`, in units or as a share of their number."""
    allowed = f"{100 * tolerance:g} % of their number" if relative else f"{tolerance:g}{unit.replace(' %', ' points')}"
    close = [abs(pair.ours - pair.theirs) <= tolerance * (abs(pair.theirs) if relative else 1) for pair in pairs]
    count = f"{sum(close)} of {len(pairs)} within {allowed}" if len(pairs) > 1 else f"tolerance {allowed}"
    theirs, ours = (", ".join(map(_write_number, values)) for values in zip(*pairs, strict=True))
    return Statement(f"{what}: {theirs}{unit}", f"{ours}{unit} ({count})", all(close), reason, source)


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
    place: str
    """Where the paper has it: Figure 7, Section 6.1."""
    states: str
    """What the paper says about it."""
    made: str
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


def find_data(given: str | Path | None = None) -> Path | None:
    """The folder of real data: the one given, else `SFUMATO_DATA`, else `shared/data` beside the repository."""
    named = given or os.environ.get("SFUMATO_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    return folder if folder.is_dir() else None


def frame_of(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Rows as a frame; a column's type is inferred from all of them, because numbers that are not given are null."""
    return pl.DataFrame(rows, infer_schema_length=None)
