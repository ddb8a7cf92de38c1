# SPDX-License-Identifier: MIT
"""Running studies, and writing what they found: `reproduce.html`, and one CSV a table.

Each file is written whole or not at all: under another name first, then moved into place. A run that stops half way
leaves the tables of the studies that were done, and the page of the run before.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.errors import DataError
from sfumato.progress import tell
from sfumato.reproduce.registry import chosen
from sfumato.reproduce.study import Findings, Setting, Study, data_folder

PAGE = "reproduce.html"


@dataclass(frozen=True)
class Done:
    """A study and what it found, or why it was skipped."""

    study: Study
    findings: Findings | None
    seconds: float
    skipped: str = ""

    @property
    def followed(self) -> int:
        """How many of the seed's statements ours follows."""
        return sum(one.follows is True for one in self.findings.statements) if self.findings else 0

    @property
    def judged(self) -> int:
        """How many of them can be judged."""
        return sum(one.follows is not None for one in self.findings.statements) if self.findings else 0


@dataclass(frozen=True)
class Summary:
    """What a run did."""

    out: Path
    done: tuple[Done, ...]
    files: tuple[str, ...]
    """What was written, below `out`."""
    quick: bool

    @property
    def skipped(self) -> tuple[Done, ...]:
        """Studies that were not run, since real data is absent."""
        return tuple(one for one in self.done if one.findings is None)

    def sentences(self) -> list[str]:
        """What a person is told at the end."""
        said = []
        for one in self.done:
            if one.findings is None:
                said.append(f"{one.study.name}: skipped: {one.skipped}")
            else:
                judged = f"{one.followed} of {one.judged} statements followed" if one.judged else "nothing to judge"
                said.append(f"{one.study.name}: {judged}, {one.seconds:.1f} s")
        return [*said, f"Written to {self.out}: {PAGE} and {len(self.files) - 1} CSV files."]

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        return {
            "out": str(self.out),
            "page": str(self.out / PAGE),
            "quick": self.quick,
            "files": list(self.files),
            "studies": [_as_json(one) for one in self.done],
            "skipped": [one.study.name for one in self.skipped],
        }


def _as_json(one: Done) -> dict[str, Any]:
    statements = one.findings.statements if one.findings else ()
    return {
        "name": one.study.name,
        "title": one.study.title,
        "place": one.study.place,
        "seconds": round(one.seconds, 3),
        "skipped": one.skipped or None,
        "followed": one.followed,
        "judged": one.judged,
        "statements": [{"theirs": s.theirs, "ours": s.ours, "follows": s.follows} for s in statements],
    }


def reproduce(
    names: str | Iterable[str] = "all",
    out: str | Path = "sfumato-reproduce",
    data: str | Path | None = None,
    quick: bool = False,
) -> Summary:
    """Run studies («all», a seed, or names of studies) and write the page and the tables into a folder."""
    from sfumato.reproduce.page import page

    studies = chosen(names)
    folder = _ready(Path(out))
    setting = Setting(quick=quick, data=_given(data))
    done: list[Done] = []
    files: list[str] = []
    for at, study in enumerate(studies):
        tell(f"reproducing {study.name}", at, len(studies))
        one = _one(study, setting)
        done.append(one)
        files += _write_tables(one, folder)
    tell("writing the page", len(studies), len(studies))
    _write(folder / PAGE, page(done, quick=quick))
    return Summary(folder, tuple(done), (PAGE, *files), quick)


def _given(data: str | Path | None) -> Path | None:
    folder = data_folder(data)
    if data is not None and folder is None:
        raise DataError(f"{data}: there is no such folder of real data")
    return folder


def _one(study: Study, setting: Setting) -> Done:
    missing = study.missing(setting.data)
    if missing:
        why = f"real data is absent ({', '.join(missing)}); set SFUMATO_DATA to the folder that holds it"
        return Done(study, None, 0.0, why)
    begin = time.perf_counter()
    findings = study.work(setting)
    return Done(study, findings, time.perf_counter() - begin)


def _ready(out: Path) -> Path:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{out}: the folder cannot be made ({error.strerror})") from None
    return out


def _write_tables(one: Done, folder: Path) -> list[str]:
    files = []
    for grid in one.findings.grids if one.findings else ():
        name = f"{one.study.name}-{grid.name}.csv"
        _write(folder / name, grid.frame.write_csv())
        files.append(name)
    return files


def _write(path: Path, text: str) -> None:
    """Put a text into a file at once: nobody ever reads half of it."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise DataError(f"{path}: the file cannot be written ({error.strerror})") from None
    finally:
        partial.unlink(missing_ok=True)
