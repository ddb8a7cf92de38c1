# SPDX-License-Identifier: MIT
"""The command `sfumato regions`: points of trajectories to a file of sequences, for `mine`, `audit` and `run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.cli.terminal import print_json, print_line, show_progress
from sfumato.cli.written_files import refuse_unsafe_outputs


def region_command(
    data: Annotated[str, typer.Argument(help="Points (id, time, x, y): CSV, TSV or Parquet.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The file of sequences to write: .txt (SPMF) or .csv.")],
    grid: Annotated[str | None, typer.Option(help="A grid of COLUMNSxROWS cells. Default: 10x10.")] = None,
    bounds: Annotated[str | None, typer.Option(help="The grid's left,bottom,right,top; default: all points.")] = None,
    cell: Annotated[float | None, typer.Option(help="The side of a cell instead of --grid.")] = None,
    dense: Annotated[
        float | None, typer.Option(help="Only cells that this share of the trajectories passes, merged.")
    ] = None,
    polygons: Annotated[str | None, typer.Option(help="A GeoJSON file of polygons instead of a grid.")] = None,
    cells: Annotated[str | None, typer.Option(help="A table (name, x, y) of centres instead of a grid.")] = None,
    coordinates: Annotated[str, typer.Option(help="What x and y are: degrees, metres or plane.")] = "plane",
    split: Annotated[str | None, typer.Option(help='A new sequence every "day", or after so many seconds.')] = None,
    id_column: Annotated[str, typer.Option("--id", help="The column that says whose point it is.")] = "id",
    time: Annotated[str, typer.Option(help="The time column.")] = "time",
    x: Annotated[str, typer.Option(help="The column of the longitude or x.")] = "x",
    y: Annotated[str, typer.Option(help="The column of the latitude or y.")] = "y",
    separator: Annotated[str | None, typer.Option(help="One character between cells; detected if omitted.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")] = False,
) -> None:
    """Turn points of trajectories into sequences of regions."""
    from sfumato.sequences import Sequences
    from sfumato.workflow.points_section import PointsSection

    described = _describe_regions(grid, bounds, cell, dense, {"polygons": polygons, "cells": cells})
    section = PointsSection(x=x, y=y, coordinates=coordinates, regions=described, split=_parse_split(split))
    refuse_unsafe_outputs([out], [data, polygons, cells])
    with show_progress(as_json):
        found = Sequences.from_points(data, **section.build_arguments(), id=id_column, time=time, separator=separator)
        bare = Sequences(found.items, found.offsets, found.element_offsets, found.codes)
        bare.write(out)
    visits = int(found.offsets[-1])
    if as_json:
        print_json({"sequences": len(found), "regions": len(found.items), "visits": visits, "written": str(out)})
        return
    print_line(f"{len(found):,} sequences with {visits:,} visits of {len(found.items):,} regions. Written to {out}.")
    print_line("They hold what people did, without their ids: keep the file private.")


def _describe_regions(
    grid: str | None, bounds: str | None, cell: float | None, dense: float | None, files: dict[str, str | None]
) -> dict[str, Any]:
    """The regions as in a policy."""
    from sfumato.errors import PolicyError

    given = {kind: file for kind, file in files.items() if file is not None}
    cut = {"--grid": grid, "--bounds": bounds, "--cell": cell, "--dense": dense}
    if len(given) + any(value is not None for value in cut.values()) > 1:
        raise PolicyError("choose one kind of regions: --polygons, --cells, or a grid with --grid, --cell or --dense")
    if given:
        [(kind, file)] = given.items()
        return {"kind": kind, "file": file}
    regions: dict[str, Any] = {"kind": "grid"} if dense is None else {"kind": "dense", "min_share": dense}
    if grid is not None:
        regions |= dict(zip(("columns", "rows"), _parse_numbers(grid, "x", 2, "--grid 10x10"), strict=True))
    if bounds is not None:
        regions["bounds"] = _parse_numbers(bounds, ",", 4, "--bounds 0,0,100,100")
    return regions | ({} if cell is None else {"cell": cell})


def _parse_numbers(text: str, between: str, count: int, example: str) -> list[float]:
    from sfumato.errors import PolicyError

    try:
        numbers = [float(part) for part in text.split(between)]
    except ValueError:
        numbers = []
    if len(numbers) != count:
        raise PolicyError(f"{count} numbers are expected, as in {example}")
    return [int(number) if number.is_integer() else number for number in numbers]


def _parse_split(text: str | None) -> Any:
    from sfumato.errors import PolicyError

    if text is None or text == "day":
        return text
    try:
        return float(text)
    except ValueError:
        raise PolicyError("--split is day, or a number of seconds") from None
