# SPDX-License-Identifier: MIT
"""Regions as a policy file describes them: `{ kind = "grid", columns = 10, rows = 10 }` and other kinds.

Each kind is one small model; `build()` makes the regions of :mod:`sfumato.data.places.regions`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from sfumato.data.places.regions import Cells, DenseRegions, Grid, Polygons, Regions
from sfumato.description import Description

Corner = tuple[float, float]
GridSide = Annotated[int, Field(ge=1, strict=True)]


class _RegionKind(Description):
    @abstractmethod
    def build(self) -> Regions:
        """The regions, read from their file if they have one."""

    def locate(self, locate: Callable[[str], str]) -> Self:
        """The same with its file resolved."""
        file = getattr(self, "file", None)
        return self.model_copy(update={"file": locate(file)}) if file is not None else self


class _GridKind(_RegionKind):
    columns: GridSide = 10
    """How many columns the grid has."""
    rows: GridSide = 10
    """How many rows."""
    bounds: tuple[float, float, float, float] | None = None
    """Left, bottom, right and top; points outside are left out. Without bounds the grid spans the points, and so tells
    their extremes to anyone who knows the grid."""
    cell: float | None = Field(default=None, gt=0)
    """The side of a cell, instead of columns and rows; in metres where coordinates are degrees."""

    @model_validator(mode="after")
    def _check_grid(self) -> Self:
        if self.cell is not None and self.model_fields_set & {"columns", "rows"}:
            raise ValueError("cell gives the side of a cell instead of columns and rows; remove one or the other")
        if self.bounds is not None:
            left, bottom, right, top = self.bounds
            if not (left < right and bottom < top):
                raise ValueError("bounds are left, bottom, right and top, with left < right and bottom < top")
        return self

    def build_grid(self) -> Grid:
        """The grid itself."""
        return Grid(self.columns, self.rows, self.bounds, self.cell)


class GridRegions(_GridKind):
    """Equal cells: `r0c0` is the lower left one. The report draws visits and flows on the grid."""

    kind: Literal["grid"] = "grid"

    def build(self) -> Regions:
        """The grid of the policy, whose cells are the regions."""
        return self.build_grid()


class DenseCells(_GridKind):
    """Regions of interest: neighbouring cells of a fine grid through which enough trajectories pass."""

    kind: Literal["dense"] = "dense"
    columns: GridSide = 50
    """How many columns the fine grid has."""
    rows: GridSide = 50
    """How many rows."""
    min_share: float = Field(default=0.05, gt=0, le=1)
    """The share of the trajectories that pass through a dense cell at least."""
    merge: bool = True
    """Whether dense cells that share a side are one region."""

    def build(self) -> Regions:
        """The dense regions."""
        return DenseRegions(self.build_grid(), self.min_share, self.merge)


class PolygonRegions(_RegionKind):
    """Given polygons; a point in several belongs to the first."""

    kind: Literal["polygons"] = "polygons"
    file: str | None = None
    """A GeoJSON file of polygons."""
    name: str = "name"
    """The property of the file that names each polygon."""
    rings: Mapping[str, tuple[Corner, ...]] = Field(default_factory=dict)
    """The polygons instead of a file: name → three or more corners `[x, y]`."""

    @model_validator(mode="after")
    def _check_source(self) -> Self:
        if (self.file is None) == (not self.rings):
            raise ValueError("give the polygons in a GeoJSON file, or as rings, and not both")
        if any(len(ring) < 3 for ring in self.rings.values()):
            raise ValueError("a polygon needs three or more corners")
        return self

    def build(self) -> Regions:
        """The polygons."""
        return Polygons(self.rings) if self.file is None else Polygons.read(self.file, self.name)


class CellRegions(_RegionKind):
    """The cells around given centres, such as antennas: each point belongs to the nearest."""

    kind: Literal["cells"] = "cells"
    file: str | None = None
    """A table with the columns `name`, `x` and `y`."""
    centres: Mapping[str, Corner] = Field(default_factory=dict)
    """The centres instead of a file: name → `[x, y]`."""
    reach: float | None = Field(default=None, gt=0)
    """Points farther than this from every centre are left out; in metres where coordinates are degrees."""

    @model_validator(mode="after")
    def _check_source(self) -> Self:
        if (self.file is None) == (not self.centres):
            raise ValueError("give the centres in a file with the columns name, x and y, or as centres, and not both")
        return self

    def build(self) -> Regions:
        """The cells."""
        return Cells(self.centres, self.reach) if self.file is None else Cells.read(self.file, self.reach)


RegionBuilder: TypeAlias = Annotated[
    GridRegions | DenseCells | PolygonRegions | CellRegions, Field(discriminator="kind")
]
