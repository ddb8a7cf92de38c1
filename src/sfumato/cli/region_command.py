# SPDX-License-Identifier: MIT
"""The command `sfumato regions`: points of trajectories to a file of sequences, for `mine`, `audit` and `run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from sfumato.cli.file_forms import add_table_form
from sfumato.cli.option_needs import ALWAYS, CENTRES, DENSE_CELLS, POLYGONS, CommandContext, refuse_idle_options
from sfumato.cli.options import READING, Json, Separator
from sfumato.cli.terminal import print_json, print_line, show_progress
from sfumato.cli.written_files import refuse_unsafe_outputs

if TYPE_CHECKING:
    from sfumato.sequences import PointCounts, Sequences
    from sfumato.workflow.policy_parts.points_section import PointsSection


_NAMES = (".txt", ".spmf", ".seq", ".dat", ".csv", ".tsv", ".parquet")
"""How a file of sequences may be called: as text of SPMF, or as a table in long form."""
REGIONS = "Regions"
_PACKINGS = (".gz", ".bz2", ".xz", ".zst")


class RegionOptions(NamedTuple):
    """Which regions points become; None for what was not typed."""

    grid: str | None
    bounds: str | None
    cell: float | None
    dense: float | None
    merge: bool | None
    polygons: str | None
    name: str | None
    cells: str | None
    reach: float | None


class PointOptions(NamedTuple):
    """How points are read."""

    path: str
    coordinates: str
    split: str | None
    id_column: str
    time: str
    x: str
    y: str
    separator: str | None


def region_command(
    context: typer.Context,
    data: Annotated[str, typer.Argument(help="Points (id, time, x, y): CSV, TSV or Parquet.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The file of sequences to write: .txt (SPMF) or .csv."), ALWAYS
    ],
    split: Annotated[
        str | None, typer.Option(help='A new sequence every "day", or after a pause of that many seconds.'), ALWAYS
    ] = None,
    grid: Annotated[
        str | None, typer.Option(help="A grid of COLUMNSxROWS cells. Default: 10x10.", rich_help_panel=REGIONS), ALWAYS
    ] = None,
    bounds: Annotated[
        str | None,
        typer.Option(help="The grid's left,bottom,right,top; default: all points.", rich_help_panel=REGIONS),
        ALWAYS,
    ] = None,
    cell: Annotated[
        float | None, typer.Option(help="The side of a cell instead of --grid.", rich_help_panel=REGIONS), ALWAYS
    ] = None,
    dense: Annotated[
        float | None,
        typer.Option(
            help="Keep only cells that at least this share of the trajectories crosses, and merge them.",
            rich_help_panel=REGIONS,
        ),
        ALWAYS,
    ] = None,
    merge: Annotated[
        bool | None,
        typer.Option(
            "--merge/--no-merge", help="With --dense: whether adjacent cells form one region.", rich_help_panel=REGIONS
        ),
        DENSE_CELLS,
    ] = None,
    polygons: Annotated[
        str | None,
        typer.Option(help="A GeoJSON file of polygons instead of a grid.", rich_help_panel=REGIONS),
        ALWAYS,
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            help='With --polygons: the property with the name of each polygon. Default: "name".',
            rich_help_panel=REGIONS,
        ),
        POLYGONS,
    ] = None,
    cells: Annotated[
        str | None,
        typer.Option(help="A table (name, x, y) of centres instead of a grid.", rich_help_panel=REGIONS),
        ALWAYS,
    ] = None,
    reach: Annotated[
        float | None,
        typer.Option(
            help="With --cells: leave out points farther than this from every centre.", rich_help_panel=REGIONS
        ),
        CENTRES,
    ] = None,
    coordinates: Annotated[
        str, typer.Option(help="What x and y are: degrees, metres or plane.", rich_help_panel=READING), ALWAYS
    ] = "plane",
    id_column: Annotated[str, typer.Option("--id", help="The id column.", rich_help_panel=READING), ALWAYS] = "id",
    time: Annotated[str, typer.Option(help="The time column.", rich_help_panel=READING), ALWAYS] = "time",
    x: Annotated[str, typer.Option(help="The column of the longitude or x.", rich_help_panel=READING), ALWAYS] = "x",
    y: Annotated[str, typer.Option(help="The column of the latitude or y.", rich_help_panel=READING), ALWAYS] = "y",
    separator: Separator = None,
    as_json: Json = False,
) -> None:
    """Turn points of trajectories into sequences of regions."""
    regions = RegionOptions(grid, bounds, cell, dense, merge, polygons, name, cells, reach)
    points = PointOptions(data, coordinates, split, id_column, time, x, y, separator)
    region_fields = _describe_regions(regions)
    refuse_idle_options(context, _describe_kind(region_fields["kind"], data))
    refuse_unsafe_outputs([out], [data, polygons, cells])
    _refuse_other_names(out)
    _write_regions(points, region_fields, out, as_json)


def _write_regions(points: PointOptions, region_fields: dict[str, Any], out: Path, as_json: bool) -> None:
    """Read points, turn them into visits of regions, and write and count those."""
    import numpy as np

    from sfumato.data.places.trajectories import PointColumns, map_points_to_regions
    from sfumato.sequences import PointCounts, Sequences

    section = _check_section(
        {
            "x": points.x,
            "y": points.y,
            "coordinates": points.coordinates,
            "regions": region_fields,
            "split": _parse_split(points.split),
        }
    )
    with show_progress(as_json):
        columns = PointColumns(points.id_column, points.time, points.x, points.y)
        arrays = map_points_to_regions(
            points.path,
            section.regions.build(),
            columns,
            coordinates=section.coordinates,
            split=section.split,
            separator=points.separator,
        )
        singles = np.arange(arrays.visits.size + 1)
        bare = Sequences(arrays.names, arrays.offsets, singles, arrays.visits.astype(np.int32))
        bare.write(out)
    _print_regions(bare, PointCounts(arrays.points, arrays.left_out), out, as_json)


def _describe_kind(kind: str, data: str) -> CommandContext:
    """What each kind of regions has."""
    needs = {"dense": [DENSE_CELLS], "polygons": [POLYGONS], "cells": [CENTRES]}.get(kind, [])
    words = {"grid": "regions are cells of a grid", "dense": "regions are dense cells"}.get(
        kind, f"regions are those of --{kind}"
    )
    return add_table_form(CommandContext(words).add(*needs), data)


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


def _describe_regions(options: RegionOptions) -> dict[str, Any]:
    """The regions as in a policy."""
    from sfumato.errors import PolicyError

    files = {
        kind: file for kind, file in (("polygons", options.polygons), ("cells", options.cells)) if file is not None
    }
    is_cut = any(value is not None for value in (options.grid, options.bounds, options.cell, options.dense))
    if len(files) + is_cut > 1:
        raise PolicyError("choose one kind of regions: --polygons, --cells, or a grid with --grid, --cell or --dense")
    details = {"merge": options.merge, "name": options.name, "reach": options.reach, "cell": options.cell}
    regions: dict[str, Any] = {detail: value for detail, value in details.items() if value is not None}
    if files:
        [(kind, file)] = files.items()
        return regions | {"kind": kind, "file": file}
    regions |= {"kind": "grid"} if options.dense is None else {"kind": "dense", "min_share": options.dense}
    if options.grid is not None:
        sides = _parse_coordinates(options.grid, "x", 2, "--grid 10x10")
        if min(sides) < 1:
            raise PolicyError("a grid has at least one column and one row, as in --grid 10x10")
        regions |= dict(zip(("columns", "rows"), sides, strict=True))
    if options.bounds is not None:
        regions["bounds"] = _parse_coordinates(options.bounds, ",", 4, "--bounds 0,0,100,100")
    return regions


def _parse_coordinates(text: str, separator: str, count: int, example: str) -> list[float]:
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
        raise PolicyError("--split must be day, or a number of seconds") from None
