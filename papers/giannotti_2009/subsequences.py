# SPDX-License-Identifier: MIT
"""Sequences as the slides introduce them (Agrawal and Srikant 1995): containment, five customers, what is frequent."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

from papers.study import Findings, Grid, Setting, Statement, frame_of
from sfumato.mine.sequences.containment import contains, support
from sfumato.mine.sequences.subsequences import frequent_subsequences
from sfumato.sequences import Sequences

CONTAINMENT = (
    ([[2, 4], [3, 5, 6], [8]], [[2], [3, 5]], True),
    ([[1, 2], [3, 4]], [[1], [2]], False),
    ([[2, 4], [2, 4], [2, 5]], [[2], [4]], True),
)
"""A data sequence, a subsequence, and whether the slide says that it is contained."""
VIDEOS = (("C", "H"), ("AB", "C", "DFG"), ("CEG",), ("C", "DG", "H"), ("H",))
"""What five customers rented, visit by visit; each letter is a video."""
VIDEO_PATTERNS = {("C", "H"), ("C", "DG")}
VIDEO_SHARE = 0.25
DATABASE = ("BC", "ABCD", "ABCD", "BCE", "BCD")
FREQUENT = {"B", "C", "D", "BC", "BD", "CD", "BCD"}
LEAST = 3

Pattern = tuple[str, ...]


def subsequences(setting: Setting) -> Findings:
    """The slides' three examples."""
    del setting  # a dozen sequences are quick enough
    videos = Sequences.of([[list(element) for element in row] for row in VIDEOS])
    least = next(count for count in range(1, len(VIDEOS) + 1) if count / len(VIDEOS) > VIDEO_SHARE)
    patterns = find_video_patterns(videos, least, "all")
    largest = set(find_video_patterns(videos, least, "maximal"))
    data = Sequences.of([list(row) for row in DATABASE])
    return Findings(
        statements=(
            _compare_containment(),
            Statement(
                f"Videos, support above {VIDEO_SHARE}: {write_patterns(VIDEO_PATTERNS)}.",
                f"{len(patterns)} patterns in {least} or more of {len(VIDEOS)} sequences; the ones that no other "
                f"contains are {write_patterns(largest)}.",
                largest == VIDEO_PATTERNS,
            ),
            *_compare_frequent(data),
            Statement(
                "Videos: 9 patterns, counted by listing every part of every sequence.",
                f"{len(patterns)}; {len(count_parts_of_videos(least))} by listing.",
                patterns == count_parts_of_videos(least),
                source="independent count",
            ),
        ),
        grids=(
            Grid(
                "videos",
                f"All patterns of the videos in at least {least} sequences",
                frame_of(
                    [
                        {"pattern": write_patterns([pattern]), "sequences": count, "printed": pattern in VIDEO_PATTERNS}
                        for pattern, count in sorted(patterns.items())
                    ]
                ),
            ),
        ),
        remarks=("The slide with the videos prints the largest patterns only, and does not say so.",),
    )


def find_video_patterns(videos: Sequences, least: int, kind: Any) -> dict[Pattern, int]:
    """Patterns with their supports; an element is written as its letters."""
    rows = frequent_subsequences(videos, least, kind=kind).rows()
    return {tuple("".join(element) for element in pattern): count for pattern, count in rows}


def count_parts_of_videos(least: int) -> dict[Pattern, int]:
    """The same by listing every part of every customer's sequence."""
    parts = [_list_parts(row) for row in VIDEOS]
    counts = {part: sum(part in part_set for part_set in parts) for part in set().union(*parts)}
    return {part: count for part, count in counts.items() if count >= least}


def _list_parts(row: Pattern) -> set[Pattern]:
    """Every non-empty choice of letters, without the elements of which none is chosen."""
    letters = [(position, letter) for position, element in enumerate(row) for letter in element]
    part_set = set()
    for size in range(1, len(letters) + 1):
        for choice in combinations(letters, size):
            elements = (
                "".join(letter for letter_position, letter in choice if letter_position == position)
                for position in range(len(row))
            )
            part_set.add(tuple(element for element in elements if element))
    return part_set


def write_patterns(patterns: Iterable[Pattern]) -> str:
    """{(C), (DG)} as on the slide."""
    return ", ".join("{" + ", ".join(f"({element})" for element in pattern) + "}" for pattern in sorted(patterns))


def _compare_containment() -> Statement:
    def say(answers: Iterable[bool]) -> str:
        return ", ".join("yes" if answer else "no" for answer in answers)

    paper_result = [answer for _, _, answer in CONTAINMENT]
    own_result = [contains(sequence, pattern) for sequence, pattern, _ in CONTAINMENT]
    return Statement(f"Contained: {say(paper_result)}.", f"{say(own_result)}.", paper_result == own_result)


def _compare_frequent(data: Sequences) -> tuple[Statement, Statement]:
    pattern_texts = {"".join(pattern) for pattern in frequent_subsequences(data, LEAST)["pattern"].to_list()}
    single_support, backwards = support(data, ["A"]), support(data, ["C", "B"])
    return (
        Statement(
            f"Frequent at support {LEAST}: {', '.join(sorted(FREQUENT))}.",
            f"{', '.join(sorted(pattern_texts))}.",
            pattern_texts == FREQUENT,
        ),
        Statement(
            "A occurs only 2 times in D, C B does not occur.",
            f"A is in {single_support} sequences, C B in {backwards}.",
            (single_support, backwards) == (2, 0),
        ),
    )
