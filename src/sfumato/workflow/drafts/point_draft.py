# SPDX-License-Identifier: MIT
"""Trajectories before there is a policy: which columns are id, time, x and y, what x and y are, and a grid for them."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, floor, log10
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Floats
from sfumato.data.items.long_form import read_named_columns
from sfumato.data.places.region_builders import GridRegions
from sfumato.data.places.regions import Coordinates
from sfumato.data.places.trajectories import PointColumns
from sfumato.errors import DataError
from sfumato.sequences import Sequences
from sfumato.workflow.drafts.toml_text import write_comment, write_entry
from sfumato.workflow.policy_parts.points_section import PointsSection

SIDE = 10
"""How many rows and columns a drafted grid has, as in the experiments of Pensa et al. and Abul et al."""
_EARTH = (("lon", "lng", "long", "longitude"), ("lat", "latitude"))
_PLANE = (("x", "easting"), ("y", "northing"))
_TIMES = ("time", "t", "timestamp", "datetime", "date_time", "ts")
_MOVERS = ("user", "person", "car", "vehicle", "truck", "taxi", "device", "object", "trajectory")
_OWNERS = ("id", "uid", *_MOVERS, *(f"{name}_id" for name in (*_MOVERS, "trip")), "trip")
"""A trip last: where a person has several, k should count people."""


class PointFile(NamedTuple):
    """A file of points, and how it is read."""

    path: str
    separator: str | None
    columns: PointColumns
    section: PointsSection

    @classmethod
    def of(
        cls,
        path: str,
        separator: str | None,
        header: Iterable[str],
        owner: str | None = None,
        time: str | None = None,
    ) -> PointFile:
        """Look at the coordinates; every point lies in the grid."""
        columns = find_point_columns(header, owner, time)
        if columns is None:
            raise DataError(
                f"{path}: a file of points has a column of each kind, by one of these names: {', '.join(_OWNERS[:8])}; "
                f"{', '.join(_TIMES)}; x, y or longitude, latitude; name the first two with --id and --time, or all of "
                "them under [data] in a policy"
            )
        frame = read_named_columns(path, tuple(columns), separator).frame
        x, y = (frame[name].cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy() for name in columns[2:])
        known_mask = np.isfinite(x) & np.isfinite(y)
        if not known_mask.any():
            raise DataError(f"{path}: no row has two finite numbers in its columns of x and y; check the columns")
        coordinates: Coordinates = "degrees" if _find_name([columns.x], _EARTH[0]) else "plane"
        bounds = _widen_bounds(x[known_mask], y[known_mask], coordinates)
        grid = GridRegions(columns=SIDE, rows=SIDE, bounds=bounds)
        section = PointsSection(x=columns.x, y=columns.y, coordinates=coordinates, regions=grid)
        return cls(path, separator, columns, section)

    def read(self) -> Sequences:
        """The sequences of regions."""
        owner, time = self.columns.id, self.columns.time
        return Sequences.from_points(
            self.path, **self.section.build_arguments(), id=owner, time=time, separator=self.separator
        )

    def write_reading(self) -> list[str]:
        """The lines of a policy that say how the file is read."""
        grid = self.section.regions
        assert isinstance(grid, GridRegions)
        unit = "" if self.section.coordinates == "degrees" else 'or "metres", if they are: that is checked'
        regions = {"kind": "grid", "columns": grid.columns, "rows": grid.rows, "bounds": grid.bounds}
        return [
            *([write_entry("separator", self.separator)] if self.separator else []),
            write_entry("id", self.columns.id),
            write_entry("time", self.columns.time),
            "",
            "[data.points]",
            write_entry("x", self.columns.x),
            write_entry("y", self.columns.y),
            write_entry("coordinates", self.section.coordinates, unit),
            *write_comment(
                "Points become visits of regions: cells of a grid around all points, or other regions of your own. "
                "The finer they are, the more people are alone in them."
            ),
            write_entry("regions", regions),
            '#| regions = { kind = "dense", columns = 50, rows = 50, min_share = 0.05 }  # where many pass',
            '#| regions = { kind = "polygons", file = "districts.geojson" }',
            '#| split = "day"  # one sequence a day; then k sequences are k days, not k people',
        ]


def find_point_columns(header: Iterable[str], owner: str | None = None, time: str | None = None) -> PointColumns | None:
    """The columns of a file of points, by their names unless they are given; None if one is missing."""
    names = list(header)
    time, owner = time or _find_name(names, _TIMES), owner or _find_name(names, _OWNERS)
    for first, second in (_EARTH, _PLANE):
        x, y = _find_name(names, first), _find_name(names, second)
        if owner and time and x and y:
            return PointColumns(owner, time, x, y)
    return None


def _find_name(names: list[str], wanted_names: tuple[str, ...]) -> str | None:
    """The first column with one of some names, in capitals or not."""
    return next((name for word in wanted_names for name in names if name.strip().lower() == word), None)


class _GridBounds(NamedTuple):
    """A rectangle around all points."""

    left: float
    bottom: float
    right: float
    top: float


def _widen_bounds(x: Floats, y: Floats, coordinates: Coordinates) -> _GridBounds:
    """Bounds around all points, rounded outwards, so that they do not tell the extremes."""
    (left, right), (bottom, top) = _widen(x), _widen(y)
    if coordinates == "degrees":
        left, right, bottom, top = max(left, -180.0), min(right, 180.0), max(bottom, -90.0), min(top, 90.0)
    return _GridBounds(left, bottom, right, top)


def _widen(values: Floats) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    power = floor(log10(high - low)) - 1 if high > low else 0
    step = 10.0**power
    low, high = floor(low / step), ceil(high / step)
    return round(low * step, max(0, -power)), round((high + (low == high)) * step, max(0, -power))
