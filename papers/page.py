# SPDX-License-Identifier: MIT
"""The page of a reproduction: one HTML file in the look of the report, with its style and pictures inside."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import polars as pl
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from papers.study import Findings, Grid, Verdict
from sfumato import __version__
from sfumato.report.page import render_colours
from sfumato.report.words import wording

if TYPE_CHECKING:
    from papers.run import StudyRun

LONG_TABLE = 24
"""A table of more rows is folded."""


def render_page(runs: Sequence[StudyRun], *, quick: bool) -> str:
    """The page as HTML, without scripts and external resources."""
    package = files("papers")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(number=wording.format_count, clean=wording.clean_label)
    template = environment.from_string(package.joinpath("page.html.j2").read_text(encoding="utf-8"))
    look = files("sfumato.report").joinpath("page.css").read_text(encoding="utf-8")
    style = render_colours() + look + package.joinpath("page.css").read_text(encoding="utf-8")
    return template.render(
        style=Markup(style),
        studies=[{"run": run, "study": run.study, **_describe(run.findings)} for run in runs],
        counts=[(verdict, sum(run.count(verdict) for run in runs)) for verdict in _VERDICTS],
        papers=list(dict.fromkeys(f"{run.study.paper.authors}, {run.study.paper.title}" for run in runs)),
        skipped=[run for run in runs if run.skip_reason],
        quick=quick,
        seconds=sum(run.seconds for run in runs),
        version=__version__,
    ).lstrip()


_VERDICTS: tuple[Verdict, ...] = ("reproduced", "differs", "not comparable")
_CAPTIONS = {
    "paper": "What the paper states, and what we find",
    "independent count": "Our own numbers, checked by other code; they say nothing about the paper",
}


def _describe(findings: Findings) -> dict[str, Any]:
    tables = {
        caption: [statement for statement in findings.statements if statement.source == source]
        for source, caption in _CAPTIONS.items()
    }
    return {
        "statements": {caption: rows for caption, rows in tables.items() if rows},
        "plots": [{"title": plot.title, "svg": Markup(plot.svg), "caption": plot.caption} for plot in findings.plots],
        "grids": [_describe_grid(grid) for grid in findings.grids],
        "remarks": findings.remarks,
    }


def _describe_grid(grid: Grid) -> dict[str, Any]:
    frame = grid.frame
    return {
        "title": grid.title,
        "remark": grid.remark,
        "head": [(wording.spell_name(name), dtype.is_numeric()) for name, dtype in frame.schema.items()],
        "rows": [[_cell(value, dtype) for value, dtype in zip(row, frame.dtypes, strict=True)] for row in frame.rows()],
        "folded": frame.height > LONG_TABLE,
    }


def _cell(value: Any, dtype: pl.DataType) -> tuple[str, bool]:
    """How a cell is written, and whether it is a number."""
    if value is None:
        return "–", dtype.is_numeric()
    if isinstance(value, bool):
        return ("yes" if value else "no"), False
    return wording.format_count(value), dtype.is_numeric()
