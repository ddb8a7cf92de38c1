# SPDX-License-Identifier: MIT
"""How far each row is from the closest of some people, in a sum of distances of columns; exact, all pairs in the worst
case, but most are given up after a few columns."""

from __future__ import annotations

from typing import Any

from sfumato.kernels.compilation import compile_cached

_SIGNATURE = "void(float64[:, ::1], float64[:, ::1], boolean[::1], int64[::1], float64[::1])"


@compile_cached(_SIGNATURE)
def find_closest_distances(rows: Any, people: Any, words: Any, starts: Any, least_distances: Any) -> None:
    """The least distance of each row to anybody. A column of words costs 1 where they differ, one of numbers their
    difference, 1 at the most. People stand in an order in which likes are near; each row's search begins at its place
    in it and goes on to both sides, so that somebody close is found early and others are soon given up."""
    columns = rows.shape[1]
    everybody = people.shape[0]
    for row in range(rows.shape[0]):
        best = float(columns) + 1.0
        up = starts[row]
        down = up - 1
        for turn in range(2 * everybody):
            if turn % 2 == 0:
                if up >= everybody:
                    if down < 0:
                        break
                    continue
                person = up
                up += 1
            else:
                if down < 0:
                    continue
                person = down
                down -= 1
            apart = 0.0
            for column in range(columns):
                gap = abs(rows[row, column] - people[person, column])
                if words[column]:
                    if gap > 0.0:
                        apart += 1.0
                else:
                    apart += min(gap, 1.0)
                if apart >= best:
                    break
            if apart < best:
                best = apart
                if best == 0.0:
                    break
        least_distances[row] = best
