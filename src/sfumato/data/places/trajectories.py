# SPDX-License-Identifier: MIT
"""Trajectories: points (id, time, x, y) turned into sequences of regions.

Points of one id are ordered by time; a point in no region is left out; neighbours in the same region become one visit.
A trajectory may be split by day, or wherever two points are too far apart in time. Every part is then a sequence of its
own, so that what is said of k sequences is said of k trips, not of k people.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Floats, Ints
from sfumato.data.cells.time_columns import explain_no_times, read_text_times
from sfumato.data.items import long_form
from sfumato.data.places.regions import Coordinates, Points, Regions
from sfumato.errors import DataError, PolicyError

Split = Literal["day"] | float | None
DAY = 86_400
_FARTHEST = 4.1e7
"""No place is farther from another than the earth's circumference, in metres."""


class PointColumns(NamedTuple):
    """The names of the columns of a file of points."""

    id: str = "id"
    time: str = "time"
    x: str = "x"
    y: str = "y"


USUAL_COLUMNS = PointColumns()


class VisitArrays(NamedTuple):
    """Visits one after another, as regions; where each sequence begins among them, and whose it is."""

    names: tuple[str, ...]
    visits: Ints
    offsets: Ints
    ids: tuple[str, ...] | tuple[int, ...]
    points: int
    left_out: int
    """Points that lie in no region."""


def map_points_to_regions(
    points: str | PathLike[str] | pl.DataFrame | Any,
    regions: Regions,
    columns: PointColumns = USUAL_COLUMNS,
    *,
    coordinates: Coordinates = "plane",
    split: Split = None,
    merge_repeats: bool = True,
    separator: str | None = None,
) -> VisitArrays:
    """Read points from a CSV, TSV or Parquet file, or take a frame, and list the regions that each id visits."""
    if not isinstance(regions, Regions):
        raise PolicyError("regions must be sf.Grid, sf.DenseRegions, sf.Polygons or sf.Cells")
    source, frame = _open_points(points, columns, separator)
    owners, ids = _number_owners(frame[columns.id])
    x, y = (_read_coordinates(source, frame[name]) for name in (columns.x, columns.y))
    check_coordinates(source, x, y, coordinates)
    times = _read_times(source, frame[columns.time], split)
    order = np.lexsort((times, owners))
    owners, times = owners[order], times[order]
    is_new = np.concatenate(([True], owners[1:] != owners[:-1]))
    trips = np.cumsum(is_new | _flag_splits(times, split)) - 1
    placed_points = regions.place_points(Points(x[order], y[order], trips, coordinates))
    inside_mask = placed_points.regions >= 0
    if not inside_mask.any():
        raise DataError(
            f"{source}: none of {owners.size} points lies in a region; check the regions, and whether x and y are "
            "exchanged"
        )
    visits, trip_of = placed_points.regions[inside_mask], trips[inside_mask]
    if merge_repeats and visits.size:
        is_change = np.concatenate(([True], (visits[1:] != visits[:-1]) | (trip_of[1:] != trip_of[:-1])))
        visits, trip_of = visits[is_change], trip_of[is_change]
    count = int(trips[-1]) + 1
    offsets = np.concatenate(([0], np.cumsum(np.bincount(trip_of, minlength=count), dtype=np.int64)))
    first_points = np.flatnonzero(np.concatenate(([True], trips[1:] != trips[:-1])))
    names = _name_trips(ids, owners[first_points], is_split=split is not None)
    return VisitArrays(placed_points.names, visits, offsets, names, owners.size, int((~inside_mask).sum()))


def check_coordinates(source: str, x: Floats, y: Floats, coordinates: Coordinates) -> None:
    """Refuse coordinates that cannot be what they are said to be."""
    if coordinates not in ("plane", "metres", "degrees"):
        raise PolicyError('coordinates must be "plane", "metres" or "degrees"')
    in_degrees = (np.abs(x) <= 180) & (np.abs(y) <= 90)
    if coordinates == "degrees" and not in_degrees.all():
        cure = "x is the longitude and y the latitude; exchange the columns, or give metres"
        if ((np.abs(y) <= 180) & (np.abs(x) <= 90)).all():
            cure = "they would be if x and y were exchanged: x is the longitude, y the latitude"
        raise DataError(f"{source}: {int((~in_degrees).sum())} of {x.size} points are not valid degrees; {cure}")
    if coordinates == "metres":
        if x.size > 1 and in_degrees.all():
            raise DataError(f'{source}: all {x.size} points look like degrees; give coordinates="degrees" or "plane"')
        far = (np.abs(x) > _FARTHEST) | (np.abs(y) > _FARTHEST)
        if far.any():
            raise DataError(
                f"{source}: {int(far.sum())} of {x.size} points have coordinates outside the valid range; "
                "check their unit"
            )


def _open_points(points: Any, columns: PointColumns, separator: str | None) -> tuple[str, pl.DataFrame]:
    if len(set(columns)) < len(columns):
        raise PolicyError("the id, time, x and y of points must be different columns")
    if isinstance(points, str | PathLike):
        path = Path(points)
        return str(path), long_form.read_named_columns(path, tuple(columns), separator).frame
    import narwhals as nw

    if isinstance(points, dict):
        frame = pl.DataFrame(points, strict=False)  # lists may begin with 1 and go on with 3.5
    else:
        frame = nw.from_native(points, eager_only=True).to_polars()
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise DataError(f"the frame of points lacks {len(missing)} of its four columns; name them")
    if not frame.height:
        raise DataError("the frame of points has no rows")
    return "the frame of points", frame.select(columns)


def _number_owners(column: pl.Series) -> tuple[Ints, list[Any]]:
    """The number of each row's id, by first appearance, and the ids."""
    if column.null_count():
        raise DataError(f'"{column.name}" is missing in {column.null_count()} of {column.len()} rows; drop them')
    if not column.dtype.is_integer():
        column = column.cast(pl.String)
        numbers = column.cast(pl.Int64, strict=False)
        # "007" is a name; only what reads back the same is a number.
        if not numbers.null_count() and (numbers.cast(pl.String) == column).all():
            column = numbers
    ids = column.unique(maintain_order=True)
    places = pl.Series(np.arange(ids.len(), dtype=np.int64))
    return column.replace_strict(ids, places, return_dtype=pl.Int64).to_numpy(), ids.to_list()


def _read_coordinates(source: str, column: pl.Series) -> Floats:
    numbers = column.cast(pl.Float64, strict=False).to_numpy()
    is_bad = ~np.isfinite(numbers)
    if is_bad.any():
        raise DataError(
            f'{source}: "{column.name}" is not a finite number in {int(is_bad.sum())} of {numbers.size} rows, first in '
            f"row {int(is_bad.argmax())} (from 0); drop them"
        )
    return np.asarray(numbers, dtype=np.float64)


def _read_times(source: str, column: pl.Series, split: Split) -> Floats:
    """Times as seconds: numbers as they are, dates since 1970, times of day since midnight."""
    if split is not None and split != "day" and (isinstance(split, bool | str) or not split > 0):
        raise PolicyError('split must be "day", a number of seconds above 0, or None')
    if column.dtype == pl.String:
        read = None if column.null_count() else read_text_times(source, column)
        if read is None:
            raise explain_no_times(source, column)
        return _read_coordinates(source, read)
    if column.dtype.is_temporal():
        if column.null_count():
            raise DataError(
                f'{source}: "{column.name}" is missing in {column.null_count()} of {column.len()} rows; drop them'
            )
        if column.dtype == pl.Time:
            return column.to_physical().to_numpy() / 1e9
        kind = pl.Duration("us") if column.dtype == pl.Duration else pl.Datetime("us")
        return column.cast(kind).to_physical().to_numpy() / 1e6
    return _read_coordinates(source, column)


def _flag_splits(times: Floats, split: Split) -> Flags:
    """Which points begin a new trip, regardless of who made the previous one."""
    if split is None:
        return np.zeros(times.size, dtype=bool)
    days = np.floor(times / DAY)
    steps = np.diff(days) != 0 if split == "day" else np.diff(times) > float(split)
    return np.concatenate(([True], steps))


def _name_trips(ids: list[Any], owners: Ints, is_split: bool) -> Any:
    """The id of each sequence: the owner's, with a number if there are several."""
    if not is_split:
        return tuple(ids[owner] for owner in owners.tolist())
    first = np.searchsorted(owners, owners)
    return tuple(
        f"{ids[owner]} {trip + 1}" for owner, trip in zip(owners.tolist(), np.arange(owners.size) - first, strict=True)
    )
