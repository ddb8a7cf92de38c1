# SPDX-License-Identifier: MIT
"""The command `sfumato regions`: points of trajectories to a file of sequences, for `mine`, `audit` and `run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.terminal import print_json, print_line, show_progress
from sfumato.cli.written_files import refuse_unsafe_outputs

if TYPE_CHECKING:
    from sfumato.sequences import PointCounts, Sequences
    from sfumato.workflow.policy_parts.points_section import PointsSection


_NAMES = (".txt", ".spmf", ".seq", ".dat", ".csv", ".tsv", ".parquet")
"""How a file of sequences may be called: as text of SPMF, or as a table in long form."""
_PACKINGS = (".gz", ".bz2", ".xz", ".zst")


def region_command(
    data: Annotated[str, typer.Argument(help="Points (id, time, x, y): CSV, TSV or Parquet.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The file of sequences to write: .txt (SPMF) or .csv.")],
    grid: Annotated[str | None, typer.Option(help="A grid of COLUMNSxROWS cells. Default: 10x10.")] = None,
    bounds: Annotated[str | None, typer.Option(help="The grid's left,bottom,right,top; default: all points.")] = None,
    cell: Annotated[float | None, typer.Option(help="The side of a cell instead of --grid.")] = None,
    dense: Annotated[
        float | None, typer.Option(help="Only cells that this share of the trajectories passes, merged.")
    ] = None,
    merge: Annotated[
        bool | None, typer.Option("--merge/--no-merge", help="With --dense: whether neighbours are one region.")
    ] = None,
    polygons: Annotated[str | None, typer.Option(help="A GeoJSON file of polygons instead of a grid.")] = None,
    name: Annotated[
        str | None, typer.Option(help='With --polygons: the property that names each. Default: "name".')
    ] = None,
    cells: Annotated[str | None, typer.Option(help="A table (name, x, y) of centres instead of a grid.")] = None,
    reach: Annotated[
        float | None, typer.Option(help="With --cells: leave out points farther than this from every centre.")
    ] = None,
    coordinates: Annotated[str, typer.Option(help="What x and y are: degrees, metres or plane.")] = "plane",
    split: Annotated[
        str | None, typer.Option(help='A new sequence every "day", or after a pause of that many seconds.')
    ] = None,
    id_column: Annotated[str, typer.Option("--id", help="The column that says whose point it is.")] = "id",
    time: Annotated[str, typer.Option(help="The time column.")] = "time",
    x: Annotated[str, typer.Option(help="The column of the longitude or x.")] = "x",
    y: Annotated[str, typer.Option(help="The column of the latitude or y.")] = "y",
    separator: Annotated[str | None, typer.Option(help="One character between cells; detected if omitted.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")] = False,
) -> None:
    """Turn points of trajectories into sequences of regions."""
    import numpy as np

    from sfumato.data.places.trajectories import PointColumns, map_points_to_regions
    from sfumato.sequences import PointCounts, Sequences

    region_fields = _describe_regions(grid, bounds, cell, dense, {"polygons": polygons, "cells": cells})
    region_fields |= _describe_details(region_fields["kind"], {"merge": merge, "name": name, "reach": reach})
    section = _check_section(
        {"x": x, "y": y, "coordinates": coordinates, "regions": region_fields, "split": _parse_split(split)}
    )
    refuse_unsafe_outputs([out], [data, polygons, cells])
    _refuse_other_names(out)
    with show_progress(as_json):
        columns = PointColumns(id_column, time, x, y)
        limits = {"coordinates": section.coordinates, "split": section.split, "separator": separator}
        arrays = map_points_to_regions(data, section.regions.build(), columns, **limits)  # type: ignore[arg-type]
        singles = np.arange(arrays.visits.size + 1)
        bare = Sequences(arrays.names, arrays.offsets, singles, arrays.visits.astype(np.int32))
        bare.write(out)
    _print_regions(bare, PointCounts(arrays.points, arrays.left_out), out, as_json)


def _print_regions(sequences: Sequences, point_counts: PointCounts, out: Path, as_json: bool) -> None:
    """How many sequences, visits and regions were written, and how many points were left out."""
    facts = {"sequences": len(sequences), "regions": len(sequences.items), "visits": len(sequences.codes)}
    if as_json:
        print_json(facts | {"points": point_counts.points, "left_out": point_counts.left_out, "written": str(out)})
        return
    counts = (
        f"{_spell_count(facts['sequences'], 'sequence')} with {_spell_count(facts['visits'], 'visit')} of "
        f"{_spell_count(facts['regions'], 'region')}"
    )
    print_line(f"{counts}. Written to {out}.")
    if point_counts.left_out:
        print_line(point_counts.describe())
    print_line("They hold what people did, without their ids: keep the file private.")


def _refuse_other_names(out: Path) -> None:
    """A name that promises another format than what would be written, packed or not."""
    from sfumato.errors import PolicyError

    bare = out.with_suffix("") if out.suffix.lower() in _PACKINGS else out
    if bare.suffix and bare.suffix.lower() not in _NAMES:
        suffixes = ", ".join(_NAMES)
        raise PolicyError(f"{out.name}: sequences are written to files whose names end in {suffixes}; choose one")


def _spell_count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _check_section(section_fields: dict[str, Any]) -> PointsSection:
    """The section of a policy that says the same; what is wrong with it, in words of the options."""
    from sfumato.errors import PolicyError
    from sfumato.workflow.policy_parts.points_section import PointsSection

    try:
        return PointsSection(**section_fields)
    except PolicyError as error:
        raise PolicyError(str(error).removeprefix("PointsSection: ").removeprefix("regions: ")) from None


def _describe_regions(
    grid: str | None, bounds: str | None, cell: float | None, dense: float | None, files: dict[str, str | None]
) -> dict[str, Any]:
    """The regions as in a policy."""
    from sfumato.errors import PolicyError

    region_files = {kind: file for kind, file in files.items() if file is not None}
    cut = {"--grid": grid, "--bounds": bounds, "--cell": cell, "--dense": dense}
    if len(region_files) + any(value is not None for value in cut.values()) > 1:
        raise PolicyError("choose one kind of regions: --polygons, --cells, or a grid with --grid, --cell or --dense")
    if region_files:
        [(kind, file)] = region_files.items()
        return {"kind": kind, "file": file}
    regions: dict[str, Any] = {"kind": "grid"} if dense is None else {"kind": "dense", "min_share": dense}
    if grid is not None:
        sides = _parse_numbers(grid, "x", 2, "--grid 10x10")
        if min(sides) < 1:
            raise PolicyError("a grid has at least one column and one row, as in --grid 10x10")
        regions |= dict(zip(("columns", "rows"), sides, strict=True))
    if bounds is not None:
        regions["bounds"] = _parse_numbers(bounds, ",", 4, "--bounds 0,0,100,100")
    return regions | ({} if cell is None else {"cell": cell})


_DETAILS = {"merge": ("dense", "--merge"), "name": ("polygons", "--name"), "reach": ("cells", "--reach")}
"""The kind of regions that has each detail, and its option."""


def _describe_details(kind: str, details: dict[str, Any]) -> dict[str, Any]:
    """What only one kind of regions has; refused for another."""
    from sfumato.errors import PolicyError

    detail_values = {detail: value for detail, value in details.items() if value is not None}
    for detail in detail_values:
        owner, option = _DETAILS[detail]
        if owner != kind:
            raise PolicyError(f"{option} goes with --{owner}: add --{owner}, or remove it")
    return detail_values


def _parse_numbers(text: str, separator: str, count: int, example: str) -> list[float]:
    from sfumato.errors import PolicyError

    try:
        numbers = [float(part) for part in text.split(separator)]
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
