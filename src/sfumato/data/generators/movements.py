# SPDX-License-Identifier: MIT
"""Invented movements on a grid of 10 × 10, in place of two data sets that were never published.

Abul, Atzori, Bonchi and Giannotti (2007) hide sequences in 300 trajectories of synthetic cars (mean length 20.1 after
repeats are removed) and in 273 of the trucks of Frentzos et al. (2005; mean length 6.8). These generators give as many
trajectories of about these lengths: cars drive between homes and a few places that many want to reach, trucks go out
from a few depots to sites along shared roads and come back. The same seed gives the same movements.
"""

from __future__ import annotations

import numpy as np

SIDE = 10
GridCell = tuple[int, int]
Movements = list[list[str]]
"""The cells of each trajectory, named as those of a grid: what `Sequences.of` takes."""


def generate_cars(seed: int = 2007, count: int = 300) -> Movements:
    """Cars on a grid of streets: from home to one place after another, with a few detours."""
    chance = np.random.Generator(np.random.PCG64(seed))
    places = [_draw_cell(chance) for _ in range(8)]
    weights = 1 / np.arange(1, len(places) + 1)
    rows = []
    for length in 12 + chance.poisson(8.1, count):
        cells = [_draw_cell(chance)]
        while len(cells) < length:
            _drive_to(chance, cells, places[int(chance.choice(len(places), p=weights / weights.sum()))], detour=0.1)
        rows.append(cells[:length])
    return _name_cells(rows)


def generate_trucks(seed: int = 2005, count: int = 273) -> Movements:
    """Trucks from one of three depots to sites near by, and back between them."""
    chance = np.random.Generator(np.random.PCG64(seed))
    sites = [_draw_cell(chance) for _ in range(12)]
    rows = []
    for length in 2 + chance.poisson(4.8, count):
        depot = _DEPOTS[int(chance.choice(3, p=[0.5, 0.3, 0.2]))]
        near_sites = sorted((site for site in sites if site != depot), key=lambda site: _measure_way(site, depot))
        cells = [depot]
        while len(cells) < length:
            _drive_to(chance, cells, near_sites[min(int(chance.geometric(0.3)), len(near_sites)) - 1], detour=0.03)
            _drive_to(chance, cells, depot, detour=0.03)
        rows.append(cells[:length])
    return _name_cells(rows)


_DEPOTS: tuple[GridCell, ...] = ((2, 3), (5, 5), (7, 2))


def _draw_cell(chance: np.random.Generator) -> GridCell:
    return int(chance.integers(SIDE)), int(chance.integers(SIDE))


def _measure_way(start: GridCell, goal: GridCell) -> int:
    return abs(start[0] - goal[0]) + abs(start[1] - goal[1])


def _drive_to(chance: np.random.Generator, cells: list[GridCell], goal: GridCell, detour: float) -> None:
    """Add the cells up to a goal, a side at a time: mostly straight on, along the longer way first, sometimes aside."""
    while cells[-1] != goal:
        row, column = cells[-1]
        down_distance, right = goal[0] - row, goal[1] - column
        moves_down = abs(down_distance) >= abs(right)
        if chance.random() < detour:
            aside = 1 - 2 * int(chance.integers(2))
            step = (0, aside) if moves_down else (aside, 0)
        else:
            step = (int(np.sign(down_distance)), 0) if moves_down else (0, int(np.sign(right)))
        cell = min(max(row + step[0], 0), SIDE - 1), min(max(column + step[1], 0), SIDE - 1)
        if cell != cells[-1]:
            cells.append(cell)


def _name_cells(rows: list[list[GridCell]]) -> Movements:
    return [[f"r{row}c{column}" for row, column in cells] for cells in rows]
