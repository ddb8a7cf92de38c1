# SPDX-License-Identifier: MIT
"""What a study is: one table or figure of a seed, what the seed says of it, and how ours is made."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.errors import PolicyError

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Grid:
    """A table of numbers, ours beside theirs. It becomes a CSV file and a table of the page."""

    name: str
    """Short, unique within the study: the end of the CSV file's name."""
    title: str
    frame: pl.DataFrame
    """Its column names are shown with blanks for underscores; a null is a number that the seed does not tell."""
    remark: str = ""

    def __post_init__(self) -> None:
        """Refuse a name that is no file name."""
        _refuse_odd(self.name)


@dataclass(frozen=True)
class Plot:
    """A picture: SVG that follows the page's colours (`sfumato.report.pictures.drawn`)."""

    title: str
    svg: str
    label: str
    """What is seen, in words, for those who do not see it."""


@dataclass(frozen=True)
class Statement:
    """Something that the seed states, and what we find."""

    theirs: str
    """What the seed says, with its number."""
    ours: str
    follows: bool | None
    """Whether ours follows it; None where it cannot be said (a curve without numbers, another machine)."""


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


@dataclass(frozen=True)
class Study:
    """One table or figure of a seed."""

    name: str
    """`000-figure-7`: the seed's number first."""
    title: str
    place: str
    """Where the seed has it: «Figure 7, Section 6.1»."""
    states: str
    """What the seed says of it."""
    made: str
    """How ours is made: the parameters, and the seeds of everything random."""
    work: Callable[[Setting], Findings] = field(repr=False, compare=False)
    quickly: str = ""
    """What is smaller when it is run quickly; empty if nothing is."""
    needs: tuple[str, ...] = ()
    """Files of real data below the data folder without which it is skipped."""

    def __post_init__(self) -> None:
        """Refuse a name that is no file name."""
        _refuse_odd(self.name)

    @property
    def seed(self) -> str:
        """The seed's number: the first word of the name."""
        return self.name.split("-", 1)[0]

    def missing(self, data: Path | None) -> tuple[str, ...]:
        """The files it needs that are not there."""
        return tuple(one for one in self.needs if data is None or not (data / one).is_file())


def _refuse_odd(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise PolicyError(f"«{name}» names a study or its table: small letters, figures and hyphens only")


def data_folder(given: str | Path | None = None) -> Path | None:
    """The folder of real data: the one given, else `SFUMATO_DATA`, else `shared/data` beside the repository."""
    named = given or os.environ.get("SFUMATO_DATA")
    folder = Path(named) if named else Path(__file__).parents[4] / "shared" / "data"
    return folder if folder.is_dir() else None


def later(module: str, name: str) -> Callable[[Setting], Findings]:
    """The work of a study, whose module of this room is loaded when it is run."""

    def work(setting: Setting) -> Findings:
        found: Findings = getattr(import_module(f"sfumato.reproduce.{module}"), name)(setting)
        return found

    return work


def frame_of(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Rows as a frame; a column's type is looked for in all of them, because numbers that are not told are null."""
    return pl.DataFrame(rows, infer_schema_length=None)
