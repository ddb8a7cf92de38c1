# SPDX-License-Identifier: MIT
"""Definition 1 and Example 1: where a pattern matches, and which marks leave no match."""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations
from typing import Any

from papers.study import Findings, Grid, Setting, Statement, frame_of
from sfumato.protect.sequences.edited_sequences import SequenceDraft
from sfumato.protect.sequences.hide_sequences import HideSequences
from sfumato.sequences import Sequences

Positions = tuple[int, ...]
SEQUENCE, PATTERN = "aabccbae", "abc"
MATCHES: set[Positions] = {(1, 3, 4), (1, 3, 5), (2, 3, 4), (2, 3, 5)}


def list_matches(marks: Collection[int] = ()) -> set[Positions]:
    """The matching set, positions counted from 1, after some were marked."""
    places = [position for position in range(1, len(SEQUENCE) + 1) if position not in marks]
    return {
        match
        for match in combinations(places, len(PATTERN))
        if all(SEQUENCE[position - 1] == item for position, item in zip(match, PATTERN, strict=True))
    }


def example(setting: Setting) -> Findings:
    """The matching set, by listing and by the method, and the effect of marks."""
    del setting  # one sequence of eight items is quick enough
    data = Sequences.of([list(SEQUENCE)])
    draft = SequenceDraft(data, [tuple((item,) for item in PATTERN)])
    release = HideSequences(patterns=[list(PATTERN)], threshold=0, mark="Δ").protect(data)
    marks = [position + 1 for _, position, _ in release.details["marks"]]
    smallest = _find_smallest_marks()
    return Findings(
        statements=(
            Statement(
                f"The matching set is {_write(MATCHES)}.", f"{_write(list_matches())}.", list_matches() == MATCHES
            ),
            _judge_marks(),
            Statement(
                "The heuristic marks the position in most matches: 3.",
                f"It marks {_write_places(marks)}: {''.join(release.data.to_lists()[0])}.",
                marks == [3],
            ),
            Statement(
                "The dynamic programming counts the matches that were listed, and those through each position.",
                f"{draft.totals[0, 0]:g} matches; through the positions: {_write_places(_count_through(draft))}.",
                draft.totals[0, 0] == len(list_matches()) and _count_through(draft) == _count_through_by_listing(),
                source="independent count",
            ),
            Statement(
                "No smaller set of marks empties the matching set.",
                f"The smallest sets that do: {', '.join(map(_write_place_set, smallest))}.",
                tuple(marks) in smallest,
                source="independent count",
            ),
        ),
        grids=(
            Grid(
                "marks",
                "Matches left after one mark",
                frame_of(
                    [
                        {"position": position, "item": item, "matches_left": len(list_matches({position}))}
                        for position, item in enumerate(SEQUENCE, 1)
                    ]
                ),
            ),
        ),
    )


def _judge_marks() -> Statement:
    match_counts = {marks: len(list_matches(marks)) for marks in ((8,), (3,), (1,), (1, 2))}
    return Statement(
        "Marking 8 leaves all matches, 3 none, 1 some, 1 and 2 together none.",
        "; ".join(f"{_write_places(marks)}: {count} left" for marks, count in match_counts.items()) + ".",
        match_counts[8,] == len(MATCHES)
        and match_counts[3,] == 0 < match_counts[1,] < len(MATCHES)
        and match_counts[1, 2] == 0,
    )


def _find_smallest_marks() -> list[Positions]:
    places = range(1, len(SEQUENCE) + 1)
    for size in range(len(SEQUENCE) + 1):
        mark_sets = [marks for marks in combinations(places, size) if not list_matches(marks)]
        if mark_sets:
            return mark_sets
    return []


def _count_through(draft: SequenceDraft) -> list[int]:
    return [int(weight) for weight in draft.weigh(0, [0])]


def _count_through_by_listing() -> list[int]:
    return [sum(position in match for match in list_matches()) for position in range(1, len(SEQUENCE) + 1)]


def _write(matches: set[Positions]) -> str:
    return ", ".join(f"({', '.join(map(str, match))})" for match in sorted(matches))


def _write_place_set(places: Positions) -> str:
    return "{" + _write_places(places) + "}"


def _write_places(places: Any) -> str:
    return ", ".join(map(str, places))
