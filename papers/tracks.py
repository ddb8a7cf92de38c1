# SPDX-License-Identifier: MIT
"""Trajectories as sequences of the cells of a 10 × 10 grid, which several papers on sequences use."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import Path

from sfumato.data.places.regions import Grid
from sfumato.sequences import Sequences

Walks = list[list[str]]
SIDE = 10
TRACKS = {"Athens": "trajectories/athens-small.csv", "Chicago": "trajectories/chicago.csv.gz"}
"""Tracks of vehicles, in the folder of real data."""


def read_tracks(folder: Path, name: str) -> Walks:
    """The cells that each trip passes, repeats merged."""
    return Sequences.from_points(
        folder / TRACKS[name], Grid(SIDE, SIDE), id="trip", time="t", coordinates="metres"
    ).to_lists()


def keep_dense(walks: Walks, share: float) -> Walks:
    """Only the cells that at least this share of the walks passes: the regions of interest. Repeats are merged."""
    passes = Counter(cell for walk in walks for cell in set(walk))
    dense = {cell for cell, count in passes.items() if count >= share * len(walks)}
    return [[cell for cell, _ in groupby(cell for cell in walk if cell in dense)] for walk in walks]


def measure_mean_length(walks: Walks) -> float:
    """How many cells a walk has on average."""
    return sum(map(len, walks)) / len(walks)
