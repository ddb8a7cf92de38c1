# SPDX-License-Identifier: MIT
"""Regions of a plane or of the earth: a grid, dense cells, polygons, or the cells around given centres.

Each kind of region says which region each point lies in. A point in none is left out of its trajectory. Longitude is x
and latitude is y where coordinates are degrees; areas are small enough for straight lines, so that the earth is treated
as flat, with degrees of longitude shortened by the cosine of the middle latitude for the side of a cell. Only the
nearest of given centres is found on the globe, since antennas may be far apart.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, pairwise
from math import ceil
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from sfumato.arrays import Flags, Floats, Ints
from sfumato.data.reading.near_files import explain_unreadable
from sfumato.errors import DataError, PolicyError, quote_names

Coordinates = Literal["plane", "metres", "degrees"]
METRES_PER_DEGREE = 111_195.0
"""On a sphere of the earth's mean radius."""
_GLOBE = METRES_PER_DEGREE * 180 / np.pi
"""That radius."""
_MOST_CELLS = 1 << 26
"""Dense cells are found by a counter for each cell."""
Ring = Sequence[tuple[float, float]]


class Points(NamedTuple):
    """Points of trajectories, in any order."""

    x: Floats
    y: Floats
    owners: Ints
    """The number of each point's trajectory."""
    coordinates: Coordinates = "plane"

    @property
    def middle_latitude(self) -> float:
        """Half way between the southernmost and the northernmost point."""
        return float((self.y.min() + self.y.max()) / 2)


class PlacedPoints(NamedTuple):
    """The region of each point, -1 for none, and the names of the regions."""

    regions: Ints
    names: tuple[str, ...]


class Regions(ABC):
    """A way to divide a plane."""

    @abstractmethod
    def place_points(self, points: Points) -> PlacedPoints:
        """The region of each point."""


@dataclass(frozen=True)
class Bounds:
    """A rectangle."""

    left: float
    bottom: float
    right: float
    top: float

    def __post_init__(self) -> None:
        """Refuse a rectangle without an area."""
        values = (self.left, self.bottom, self.right, self.top)
        if not all(np.isfinite(values)) or self.left >= self.right or self.bottom >= self.top:
            raise PolicyError("bounds are left, bottom, right and top, with left < right and bottom < top")

    @classmethod
    def enclose(cls, points: Points) -> Bounds:
        """The smallest rectangle with all points; half a unit of room where they are on one line."""
        left, right = float(points.x.min()), float(points.x.max())
        bottom, top = float(points.y.min()), float(points.y.max())
        wide, high = 0.5 * (left == right), 0.5 * (bottom == top)
        return cls(left - wide, bottom - high, right + wide, top + high)


@dataclass(frozen=True)
class Grid(Regions):
    """Equal cells in columns and rows, numbered from the lower left: the cell named `r2c5` is row 2, column 5.

    Without `bounds` the grid spans the points, and so tells their extremes. `cell` gives the side of a cell instead of
    the numbers of columns and rows, in metres where coordinates are degrees.
    """

    columns: int = 10
    rows: int = 10
    bounds: Bounds | tuple[float, float, float, float] | None = None
    cell: float | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.bounds is not None and not isinstance(self.bounds, Bounds):
            if len(self.bounds) != 4:
                raise PolicyError(f"bounds are left, bottom, right and top; {len(self.bounds)} numbers are given")
            object.__setattr__(self, "bounds", Bounds(*self.bounds))
        if not all(isinstance(count, int | np.integer) and count >= 1 for count in (self.columns, self.rows)):
            raise PolicyError("a grid has at least one column and one row, in whole numbers")
        if self.cell is not None and not (np.isfinite(self.cell) and self.cell > 0):
            raise PolicyError("the side of a cell must be a number above 0")

    def fit(self, points: Points) -> Grid:
        """The same grid with its bounds, columns and rows settled for some points."""
        bounds = self.bounds if isinstance(self.bounds, Bounds) else Bounds.enclose(points)
        if self.cell is None:
            return Grid(self.columns, self.rows, bounds)
        wide, high = self.cell, self.cell
        if points.coordinates == "degrees":
            high = self.cell / METRES_PER_DEGREE
            wide = high / max(np.cos(np.radians(points.middle_latitude)), 1e-6)
        columns = max(1, int(np.ceil((bounds.right - bounds.left) / wide)))
        rows = max(1, int(np.ceil((bounds.top - bounds.bottom) / high)))
        if columns * rows > 1 << 31:
            raise PolicyError(f"{columns:,} × {rows:,} cells are too many; give a larger cell")
        spread = Bounds(bounds.left, bounds.bottom, bounds.left + columns * wide, bounds.bottom + rows * high)
        return Grid(columns, rows, spread)

    def place_points(self, points: Points) -> PlacedPoints:
        """The cells that hold points."""
        grid = self.fit(points)
        cells = grid.number_cells(points)
        occupied_cells = np.unique(cells[cells >= 0])
        names = tuple(map(grid.name_cell, occupied_cells.tolist()))
        return PlacedPoints(np.where(cells < 0, -1, np.searchsorted(occupied_cells, cells)), names)

    def name_cell(self, cell: int) -> str:
        """The name of a cell by its number."""
        return f"r{cell // self.columns}c{cell % self.columns}"

    def number_cells(self, points: Points) -> Ints:
        """The number of each point's cell, row by row; -1 outside."""
        assert isinstance(self.bounds, Bounds)
        column = _number_intervals(points.x, self.bounds.left, self.bounds.right, self.columns)
        row = _number_intervals(points.y, self.bounds.bottom, self.bounds.top, self.rows)
        return np.where((column < 0) | (row < 0), -1, row * self.columns + column)


@dataclass(frozen=True)
class DenseRegions(Regions):
    """Regions of interest: neighbouring cells of a fine grid through which enough trajectories pass.

    A cell is dense if at least `min_share` of the trajectories have a point in it. Dense cells that share a side are
    one region, unless `merge` is false. A region is named after its first cell, as in a `Grid`: numbers in the order of
    visits would tell which region a release hides. After the popular regions of Giannotti, Nanni, Pinelli and Pedreschi
    (2007).
    """

    grid: Grid = field(default_factory=lambda: Grid(50, 50))
    min_share: float = 0.05
    merge: bool = True

    def __post_init__(self) -> None:
        """Check the share."""
        if not 0 < self.min_share <= 1:
            raise PolicyError("min_share must be above 0 and at most 1: the share of trajectories through a dense cell")

    def place_points(self, points: Points) -> PlacedPoints:
        """The region of each point in a dense cell."""
        grid = self.grid.fit(points)
        size = grid.columns * grid.rows
        if size > _MOST_CELLS:
            raise PolicyError(f"{grid.columns:,} × {grid.rows:,} cells are too many to count; take larger ones")
        cells = grid.number_cells(points)
        owners = int(points.owners.max()) + 1
        visits = np.unique(cells[cells >= 0] * owners + points.owners[cells >= 0])
        counts = np.bincount(visits // owners, minlength=size)
        # Exactly: 0.07 of 100 is 7, and in binary fractions it is more.
        dense = counts >= ceil(Fraction(repr(float(self.min_share))) * len(np.unique(points.owners)))
        if not dense.any():
            raise DataError("no cell is dense: lower min_share, or take larger cells")
        labels = self._label(dense.reshape(grid.rows, grid.columns)).ravel()
        region_labels, first = np.unique(labels, return_index=True)
        names = tuple(grid.name_cell(cell) for cell in first[region_labels > 0].tolist())
        return PlacedPoints(np.where(cells < 0, -1, labels[np.maximum(cells, 0)] - 1), names)

    def _label(self, dense: Flags) -> Ints:
        """The number of each dense cell's region, from 1."""
        if not self.merge:
            return np.where(dense, np.cumsum(dense).reshape(dense.shape), 0)
        from scipy import ndimage

        labels: Ints = np.asarray(ndimage.label(dense)[0], dtype=np.int64)
        return labels


@dataclass(frozen=True)
class Polygons(Regions):
    """Named polygons, each a ring of corners (x, y). A point in several belongs to the first."""

    rings: Mapping[str, Ring]

    def __post_init__(self) -> None:
        """Check the rings."""
        if not self.rings:
            raise PolicyError("give at least one polygon")
        for name, ring in self.rings.items():
            corners = _read_pairs(ring)
            if corners.ndim != 2 or corners.shape[0] < 3 or corners.shape[1] != 2 or not np.isfinite(corners).all():
                raise PolicyError(f'polygon "{name}" needs three or more corners (x, y)')

    @classmethod
    def read(cls, path: str | PathLike[str], name: str = "name") -> Polygons:
        """Read the polygons of a GeoJSON file, named by a property; holes are filled, parts are numbered."""
        file = Path(path)
        try:
            features = json.loads(file.read_text(encoding="utf-8"))["features"]
            _refuse_other_features(file, features, name)
            named_rings = list(chain.from_iterable(_list_rings(feature, name) for feature in features))
        except OSError as problem:
            raise DataError(f"{file}: the file cannot be read {explain_unreadable(problem, file)}") from None
        except (ValueError, KeyError, TypeError, IndexError, AttributeError):
            raise DataError(f"{file}: not a GeoJSON collection of polygons (a FeatureCollection); give one") from None
        if not named_rings:
            raise DataError(f"{file}: the collection has no polygon; give at least one")
        _refuse_equal_names(file, [label for label, _ in named_rings], "polygons")
        return cls(dict(named_rings))

    def place_points(self, points: Points) -> PlacedPoints:
        """The first polygon that holds each point."""
        regions = np.full(points.x.size, -1, dtype=np.int64)
        for number, ring in enumerate(self.rings.values()):
            open_points = np.flatnonzero(regions < 0)
            inside_mask = _flag_inside(points.x[open_points], points.y[open_points], np.asarray(ring, dtype=np.float64))
            regions[open_points[inside_mask]] = number
        return PlacedPoints(regions, tuple(map(str, self.rings)))


@dataclass(frozen=True)
class Cells(Regions):
    """The cells around named centres (x, y), such as antennas: each point belongs to the nearest.

    `reach` leaves out points that are farther than that from every centre, in metres where coordinates are degrees.
    """

    centres: Mapping[str, tuple[float, float]]
    reach: float | None = None

    def __post_init__(self) -> None:
        """Check the centres."""
        centres = _read_pairs(list(self.centres.values()))
        if not self.centres or centres.shape[1:] != (2,) or not np.isfinite(centres).all():
            raise PolicyError("give at least one centre, each as (x, y)")
        if len(np.unique(centres, axis=0)) < len(centres):
            raise PolicyError("two centres are at the same place, so that one would have no point; remove one")
        if self.reach is not None and not self.reach > 0:
            raise PolicyError("reach must be a number above 0; leave it out to reach any distance")

    @classmethod
    def read(cls, path: str | PathLike[str], reach: float | None = None) -> Cells:
        """Read the centres from a table with the columns `name`, `x` and `y`."""
        import polars as pl

        from sfumato.data.items.long_form import read_named_columns

        frame = read_named_columns(Path(path), ("name", "x", "y"), None).frame
        names = frame["name"].cast(pl.String)
        x, y = (frame[axis].cast(pl.Float64, strict=False) for axis in ("x", "y"))
        bad = int((names.is_null() | ~x.is_finite().fill_null(False) | ~y.is_finite().fill_null(False)).sum())
        if bad:
            raise DataError(f"{path}: {bad} of {names.len()} centres lack a name or a number; complete or remove them")
        _refuse_equal_names(Path(path), names.to_list(), "centres")
        return cls(dict(zip(names, zip(x, y, strict=True), strict=True)), reach)

    def place_points(self, points: Points) -> PlacedPoints:
        """The nearest centre of each point."""
        from scipy.spatial import cKDTree

        centres, point_positions = (
            np.array(list(self.centres.values()), dtype=np.float64),
            np.column_stack((points.x, points.y)),
        )
        reach = np.inf if self.reach is None else self.reach
        if points.coordinates == "degrees":
            _refuse_other_degrees(centres)
            centres, point_positions = _place_on_globe(centres), _place_on_globe(point_positions)
            half_angle = min(reach / _GLOBE / 2, np.pi / 2)
            reach = 2 * _GLOBE * np.sin(half_angle) if half_angle < np.pi / 2 else np.inf
        _, nearest = cKDTree(centres).query(point_positions, distance_upper_bound=np.nextafter(reach, np.inf))
        regions = np.where(nearest == len(centres), -1, nearest).astype(np.int64)
        return PlacedPoints(regions, tuple(map(str, self.centres)))


def _read_pairs(pairs: Any) -> Floats:
    """Pairs of numbers as an array; an array of another shape if they are none."""
    try:
        return np.asarray(pairs, dtype=np.float64)
    except (TypeError, ValueError):  # ragged, or no numbers
        return np.zeros(0)


def _refuse_other_degrees(centres: Floats) -> None:
    count = int((np.abs(centres) > (180, 90)).any(axis=1).sum())
    if count:
        raise PolicyError(
            f"{count} of {len(centres)} centres are not valid degrees, but the points are; x is the longitude, y the "
            "latitude"
        )


def _place_on_globe(places: Floats) -> Floats:
    """Longitudes and latitudes as points in space: what is nearest through the earth is nearest around it."""
    longitude, latitude = np.radians(places).T
    flat = np.cos(latitude)
    return _GLOBE * np.column_stack((flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)))


def _number_intervals(values: Floats, low: float, high: float, count: int) -> Ints:
    """The number of each value's interval; the highest value belongs to the last; -1 outside."""
    # Halves, since the distance between two large numbers may be infinite; far outside, numbers of cells are too.
    half_distances = np.clip(values, low, high) / 2 - low / 2
    numbers = np.floor(half_distances / (high / 2 - low / 2) * count).astype(np.int64)
    numbers = np.minimum(numbers, count - 1)
    return np.where((values < low) | (values > high), -1, numbers)


def _flag_inside(x: Floats, y: Floats, ring: Floats) -> Flags:
    """Which points lie inside a polygon: a line to the right of them crosses its sides an odd number of times."""
    inside_mask = np.zeros(x.size, dtype=bool)
    for (x1, y1), (x2, y2) in pairwise([*ring.tolist(), ring[0].tolist()]):
        if y1 == y2:
            continue
        crosses = (y1 > y) != (y2 > y)
        inside_mask ^= crosses & (x < (x2 - x1) * (y - y1) / (y2 - y1) + x1)
    return inside_mask


def _refuse_other_features(file: Path, features: Any, name: str) -> None:
    """Stop at features that are no polygons, and at those without the property that names them."""
    kinds = [feature["geometry"]["type"] for feature in features]
    other_count = sum(kind not in ("Polygon", "MultiPolygon") for kind in kinds)
    if other_count:
        raise DataError(f"{file}: {other_count} of {len(kinds)} features are not polygons; remove them")
    unnamed_count = sum(feature["properties"].get(name) in (None, "") for feature in features)
    if unnamed_count:
        property_names = sorted({str(key) for feature in features for key in feature["properties"]})[:8]
        cure = f"choose another as name: {quote_names(property_names)}" if property_names else "give them one"
        raise DataError(f'{file}: {unnamed_count} of {len(kinds)} polygons have no property "{name}"; {cure}')


def _refuse_equal_names(file: Path, names: Sequence[str], noun: str) -> None:
    """Stop if two regions have one name: points of one would be left out or counted as the other's."""
    repeat_count = sum(count for count in Counter(names).values() if count > 1)
    if repeat_count:
        raise DataError(
            f"{file}: {repeat_count} of {len(names)} {noun} share their name with another; names must differ"
        )


def _list_rings(feature: Any, name: str) -> list[tuple[str, Ring]]:
    """The outer rings of a feature, with names."""
    shape, label = feature["geometry"], str(feature["properties"][name])
    if shape["type"] == "Polygon":
        return [(label, [tuple(corner[:2]) for corner in shape["coordinates"][0]])]
    if shape["type"] != "MultiPolygon":
        raise ValueError(shape["type"])
    parts = shape["coordinates"]
    return [(f"{label} {part}", [tuple(corner[:2]) for corner in rings[0]]) for part, rings in enumerate(parts, 1)]
