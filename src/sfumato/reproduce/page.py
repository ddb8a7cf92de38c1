# SPDX-License-Identifier: MIT
"""The page of a reproduction: one HTML file in the look of the report, with its style and pictures inside."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import polars as pl
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from sfumato.report import words
from sfumato.report.page import colours
from sfumato.reproduce.study import Grid

if TYPE_CHECKING:
    from sfumato.reproduce.run import Done

SHOWN = 24
"""A longer table is folded."""


def page(done: Sequence[Done], *, quick: bool) -> str:
    """The page as HTML. Nothing of it runs, and nothing is fetched."""
    here = files("sfumato.reproduce")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(number=words.number, clean=words.clean)
    template = environment.from_string(here.joinpath("page.html.j2").read_text(encoding="utf-8"))
    look = files("sfumato.report").joinpath("page.css").read_text(encoding="utf-8")
    style = colours() + look + here.joinpath("page.css").read_text(encoding="utf-8")
    return template.render(style=Markup(style), **_said(done, quick)).lstrip()


def _said(done: Sequence[Done], quick: bool) -> dict[str, Any]:
    from sfumato import __version__

    ran = [one for one in done if one.findings is not None]
    return {
        "studies": [_study(one) for one in done],
        "seeds": sorted({one.study.seed for one in done}),
        "quick": quick,
        "ran": len(ran),
        "skipped": [one for one in done if one.findings is None],
        "followed": sum(one.followed for one in ran),
        "judged": sum(one.judged for one in ran),
        "seconds": sum(one.seconds for one in ran),
        "version": __version__,
    }


def _study(one: Done) -> dict[str, Any]:
    found = one.findings
    return {
        "about": one.study,
        "skipped": one.skipped,
        "seconds": one.seconds,
        "followed": one.followed,
        "judged": one.judged,
        "statements": found.statements if found else (),
        "plots": [{"title": p.title, "svg": Markup(p.svg), "label": p.label} for p in (found.plots if found else ())],
        "grids": [_grid(grid) for grid in (found.grids if found else ())],
        "remarks": found.remarks if found else (),
    }


def _grid(grid: Grid) -> dict[str, Any]:
    frame = grid.frame
    return {
        "title": grid.title,
        "remark": grid.remark,
        "head": [(words.spaced(name), dtype.is_numeric()) for name, dtype in frame.schema.items()],
        "rows": [[_cell(value, dtype) for value, dtype in zip(row, frame.dtypes, strict=True)] for row in frame.rows()],
        "folded": frame.height > SHOWN,
    }


def _cell(value: Any, dtype: pl.DataType) -> tuple[str, bool]:
    """How a cell is written, and whether it is a number."""
    if value is None:
        return "–", dtype.is_numeric()
    if isinstance(value, bool):
        return ("yes" if value else "no"), False
    return words.number(value), dtype.is_numeric()
