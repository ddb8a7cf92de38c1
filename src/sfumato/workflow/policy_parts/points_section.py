# SPDX-License-Identifier: MIT
"""The section `[data.points]` of a policy: points (id, time, x, y), and the regions that turn them into sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from sfumato.data.places.region_builders import GridRegions, RegionBuilder
from sfumato.description import Description

_TRIPS = "Each sequence is one trip, and k counts trips: what the trips of one person tell together was not tried."
_CELL_NAMES = "The grid spans all points: what the names of its cells tell about the outermost ones was not tried."
POINT_CAVEATS = (_TRIPS, _CELL_NAMES)
"""What may not be examined because of how points become sequences, as a certificate says it."""


class PointsSection(Description):
    """Trajectories: what the coordinates are, which regions they become, and where one trajectory ends."""

    x: str = "x"
    """The column of the longitude, or of what lies to the east."""
    y: str = "y"
    """The column of the latitude, or of what lies to the north."""
    coordinates: Literal["plane", "metres", "degrees"] = "plane"
    """What x and y are, which is checked: `degrees`, `metres`, or `plane` for any numbers."""
    regions: RegionBuilder = GridRegions()
    """The regions that a trajectory is said to visit, by their kind: a grid of 10 × 10 cells if omitted."""
    split: Literal["day"] | Annotated[float, Field(gt=0)] | None = None
    """A new sequence begins every `"day"` (UTC), or after a pause of that many seconds. Then k sequences are k trips,
    not k people."""

    @model_validator(mode="after")
    def _check_bounds(self) -> Self:
        bounds = getattr(self.regions, "bounds", None)
        if self.coordinates == "degrees" and bounds is not None:
            left, bottom, right, top = bounds
            if not (-180 <= left < right <= 180 and -90 <= bottom < top <= 90):
                raise ValueError("bounds in degrees are longitudes from -180 to 180 and latitudes from -90 to 90")
        return self

    @field_validator("split", mode="before")
    @classmethod
    def _check_split(cls, split: Any) -> Any:
        is_number = isinstance(split, int | float) and not isinstance(split, bool)
        if split is None or split == "day" or (is_number and split > 0):
            return split
        raise ValueError('must be "day", or a pause as a number of seconds above 0')

    def locate(self, locate: Callable[[str], str]) -> PointsSection:
        """The same with the file of its regions resolved."""
        return self.model_copy(update={"regions": self.regions.locate(locate)})

    def list_caveats(self) -> tuple[str, ...]:
        """What is not examined because of how points become sequences: the same for all points."""
        is_caveat = {_TRIPS: self.split is not None, _CELL_NAMES: getattr(self.regions, "bounds", ()) is None}
        return tuple(caveat for caveat in POINT_CAVEATS if is_caveat[caveat])

    def build_arguments(self) -> dict[str, Any]:
        """What `Sequences.from_points` takes besides the points and the columns of id and time."""
        arguments = {"x": self.x, "y": self.y, "coordinates": self.coordinates, "split": self.split}
        return {"regions": self.regions.build(), **arguments}
