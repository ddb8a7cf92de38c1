# SPDX-License-Identifier: MIT
"""Run studies and write what they found: `papers.html`, and one CSV file per table.

Each file is written under another name first, then moved into place. A run that stops half way leaves the tables of the
studies that were done, and the page of the run before.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from papers.page import render_page
from papers.registry import find_studies
from papers.study import Findings, Setting, Statement, Study, Verdict, find_data
from sfumato.errors import DataError
from sfumato.runtime.progress import report_progress

PAGE = "papers.html"


@dataclass(frozen=True)
class StudyRun:
    """A study and what it found, or why it was skipped."""

    study: Study
    findings: Findings
    seconds: float = 0.0
    skip_reason: str = ""

    def count(self, *verdicts: Verdict) -> int:
        """How many of the paper's own statements have one of these verdicts."""
        return sum(
            statement.source == "paper" and statement.verdict in verdicts for statement in self.findings.statements
        )

    def __str__(self) -> str:
        """The outcome in one line."""
        if self.skip_reason:
            return f"{self.study.full_name}: skipped: {self.skip_reason}"
        counts = f"{self.count('reproduced')} reproduced, {self.count('differs')} differ"
        return f"{self.study.full_name}: {counts}, {self.count('not comparable')} not comparable, {self.seconds:.1f} s"

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        return {
            "name": self.study.full_name,
            "place": self.study.location,
            "seconds": round(self.seconds, 3),
            "skipped": self.skip_reason or None,
            "statements": [_describe(statement) for statement in self.findings.statements],
        }


@dataclass(frozen=True)
class Summary:
    """What a run did."""

    out: Path
    runs: tuple[StudyRun, ...]
    files: tuple[str, ...]
    """What was written, below `out`."""
    quick: bool

    def list_sentences(self) -> list[str]:
        """The summary on the terminal."""
        return [*map(str, self.runs), f"Written to {self.out}: {PAGE} and {len(self.files) - 1} CSV files."]

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        return {
            "page": str(self.out / PAGE),
            "quick": self.quick,
            "files": list(self.files),
            "studies": [run.as_json() for run in self.runs],
        }


def _describe(statement: Statement) -> dict[str, str]:
    return {
        "theirs": statement.paper_result,
        "ours": statement.own_result,
        "verdict": statement.verdict,
        "reason": statement.explanation,
        "assumes": statement.assumption,
        "tolerance": statement.tolerance,
        "source": statement.source,
    }


def reproduce(
    names: str | Iterable[str] = "all",
    out: str | Path = "papers-out",
    data: str | Path | None = None,
    *,
    quick: bool = False,
) -> Summary:
    """Run the named studies, and write the page and its tables into a folder."""
    studies = find_studies(names)
    folder = _make_folder(Path(out))
    setting = Setting(quick=quick, data=_require_folder(data))
    runs: list[StudyRun] = []
    files: list[str] = []
    for index, study in enumerate(studies):
        report_progress(f"reproducing {study.full_name}", index, len(studies))
        runs.append(run_study(study, setting))
        files += _write_tables(runs[-1], folder)
    report_progress("writing the page", len(studies), len(studies))
    _write(folder / PAGE, render_page(runs, quick=quick))
    return Summary(folder, tuple(runs), (PAGE, *files), quick)


def run_study(study: Study, setting: Setting) -> StudyRun:
    """Run one study, if the data it needs are there."""
    missing = study.missing(setting.data)
    if missing:
        reason = f"real data are absent ({', '.join(missing)}); set SFUMATO_DATA to the folder that holds them"
        return StudyRun(study, Findings(), skip_reason=reason)
    begin = time.perf_counter()
    findings = study.work(setting)
    seconds = time.perf_counter() - begin
    if setting.quick and study.quickly:
        statements = tuple(_doubt(statement, study.quickly) for statement in findings.statements)
        findings = replace(findings, statements=statements)
    return StudyRun(study, findings, seconds)


def _doubt(statement: Statement, quickly: str) -> Statement:
    """A quick run is not at the paper's parameters: it neither reproduces nor contradicts anything."""
    if statement.verdict == "not comparable":
        return statement
    outcome = "It holds" if statement.holds else "It does not hold"
    return replace(statement, holds=None, reason=f"{outcome} in a quick run: {quickly} {statement.explanation}".strip())


def _require_folder(data: str | Path | None) -> Path | None:
    folder = find_data(data)
    if data is not None and folder is None:
        raise DataError(f"{data}: there is no such folder of real data")
    return folder


def _make_folder(out: Path) -> Path:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{out}: the folder cannot be created ({error.strerror})") from None
    return out


def _write_tables(run: StudyRun, folder: Path) -> list[str]:
    files = []
    for grid in run.findings.grids:
        files.append(f"{run.study.full_name}.{grid.name}.csv")
        _write(folder / files[-1], grid.frame.write_csv())
    return files


def _write(path: Path, text: str) -> None:
    """Write a file completely or not at all."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise DataError(f"{path}: the file cannot be written ({error.strerror})") from None
    finally:
        partial.unlink(missing_ok=True)
