# SPDX-License-Identifier: MIT
"""The distance of each row to the closest of some people, summed over columns; exact. All pairs are compared in the
worst case, but most are abandoned after a few columns."""

from __future__ import annotations

from typing import Any

from sfumato.kernels.compilation import compile_cached

_SIGNATURE = "void(float64[:, ::1], float64[:, ::1], boolean[::1], int64[::1], float64[::1])"


@compile_cached(_SIGNATURE)
def find_closest_distances(rows: Any, people: Any, words: Any, starts: Any, least_distances: Any) -> None:
    """The smallest distance of each row to anybody. A column of words costs 1 if they differ, one of numbers their
    difference, at most 1. People are sorted so that similar ones are adjacent; each row's search begins at its own
    position and extends to both sides, so that someone close is found early and others are abandoned soon."""
    columns = rows.shape[1]
    people_count = people.shape[0]
    for row in range(rows.shape[0]):
        best = float(columns) + 1.0
        upper_person = starts[row]
        lower_person = upper_person - 1
        for turn in range(2 * people_count):
            if turn % 2 == 0:
                if upper_person >= people_count:
                    if lower_person < 0:
                        break
                    continue
                person = upper_person
                upper_person += 1
            else:
                if lower_person < 0:
                    continue
                person = lower_person
                lower_person -= 1
            distance = 0.0
            for column in range(columns):
                gap = abs(rows[row, column] - people[person, column])
                if words[column]:
                    if gap > 0.0:
                        distance += 1.0
                else:
                    distance += min(gap, 1.0)
                if distance >= best:
                    break
            if distance < best:
                best = distance
                if best == 0.0:
                    break
        least_distances[row] = best
