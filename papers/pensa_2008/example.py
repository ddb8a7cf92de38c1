# SPDX-License-Identifier: MIT
"""The example of BF-P2kA, what Definition 3 leaves open, and how often one pass is not enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from papers.study import Findings, Grid, Setting, Statement, frame_of
from sfumato.errors import ImpossibleRelease
from sfumato.measure.sequences.pattern_changes import pattern_changes
from sfumato.protect.sequences.anonymize_sequences import AnonymizeSequences
from sfumato.sequences import Sequences

DATABASE = ("BC", "ABCD", "ABCD", "BCE")
PUBLISHED_SEQUENCES = ("BC", "ABCD", "ABCD", "BC")
HARMFUL = {"E", "BE", "CE", "BCE"}
COUNTER_EXAMPLE = ("A", "AXB", "XB", "XB")
K = 2
DRAWS = 100


def anonymize(rows: Sequence[str], k: int = K, *, literal: bool = False) -> tuple[str, ...]:
    """The release, each sequence as a word."""
    release = AnonymizeSequences(k=k, literal=literal).protect(Sequences.of([list(row) for row in rows]))
    return tuple("".join(row) for row in release.data.to_lists())


def count_parts(rows: Sequence[str]) -> Counter[str]:
    """The support of every sequence that occurs, by listing."""
    return Counter(
        part
        for row in rows
        for part in {"".join(letters) for size in range(1, len(row) + 1) for letters in combinations(row, size)}
    )


def list_rare(rows: Sequence[str], k: int = K) -> set[str]:
    """The k-harmful sequences: those that occur, but fewer than k times."""
    return {part for part, count in count_parts(rows).items() if count < k}


def example(setting: Setting) -> Findings:
    """The paper's example, our counter-example, and random databases."""
    del setting  # short words are quick enough
    own_result = anonymize(DATABASE)
    single_pass, final_rows = anonymize(COUNTER_EXAMPLE, literal=True), anonymize(COUNTER_EXAMPLE)
    draws = draw_outcomes(DRAWS)
    return Findings(
        statements=(
            Statement(
                f"The {K}-harmful sequences of D are {write(HARMFUL)}.",
                f"{write(list_rare(DATABASE))}.",
                list_rare(DATABASE) == HARMFUL,
                source="independent count",
            ),
            Statement(
                f"D' = {', '.join(PUBLISHED_SEQUENCES)} is {K}-anonymous.",
                f"{', '.join(own_result)}; rare in it: {write(list_rare(own_result)) or 'nothing'}.",
                own_result == PUBLISHED_SEQUENCES and not list_rare(own_result),
            ),
            _compare_patterns(),
            Statement(
                "Theorem 1: in a k-anonymous version, no sequence is linked with a probability above 1/k.",
                f"One pass turns {', '.join(COUNTER_EXAMPLE)} into {', '.join(single_pass)}, a {K}-anonymous version "
                f"by Definition 3; rare in it: {write(list_rare(single_pass)) or 'nothing'}.",
                not list_rare(single_pass),
                "Definition 3 forbids only that a rare sequence stays rare: one that was frequent may become rare. "
                f"Repeated until nothing is rare, the method gives {', '.join(final_rows)}.",
            ),
            Statement(
                "Repeating the method leaves no rare sequence.",
                f"One pass leaves some in {draws['once']} of {draws['databases']} random databases, the repetition in "
                f"{draws['repeated']}.",
                draws["repeated"] == 0,
                source="independent count",
            ),
        ),
        grids=(
            Grid(
                "supports",
                "Every sequence that occurs, and how many sequences contain it",
                frame_of(_list_supports()),
                "Rare before, and gone after: what contains E.",
            ),
        ),
    )


def write(parts: set[str]) -> str:
    """The sequences of a set, short ones first."""
    return ", ".join(sorted(parts, key=lambda part: (len(part), part)))


def _compare_patterns() -> Statement:
    before, after = (Sequences.of([list(row) for row in rows]) for rows in (DATABASE, anonymize(DATABASE)))
    changes = pattern_changes(before, after, K)
    return Statement(
        "Definition 4: the k-frequent patterns and their supports are the same (the aim; not promised).",
        f"{changes.before} patterns before, {changes.after} after; {changes.lost_patterns} lost, {changes.ghosts} new, "
        f"supports moved by {changes.support_distance} in all.",
        (changes.lost_patterns, changes.ghosts, changes.support_distance) == (0, 0, 0),
    )


def _list_supports() -> list[dict[str, Any]]:
    before, after = count_parts(DATABASE), count_parts(anonymize(DATABASE))
    return [
        {"sequence": part, "before": before[part], "after": after[part], "rare_before": before[part] < K}
        for part in sorted(before, key=lambda part: (len(part), part))
    ]


def draw_outcomes(databases: int) -> dict[str, int]:
    """In how many random databases of up to thirteen short words rare sequences are left."""
    chance = np.random.Generator(np.random.PCG64(2008))
    outcomes = {"databases": 0, "once": 0, "repeated": 0}
    while outcomes["databases"] < databases:
        rows = ["".join(chance.choice(list("abcd"), chance.integers(1, 7))) for _ in range(chance.integers(3, 14))]
        k = int(chance.integers(2, 4))
        try:
            single_pass, final_rows = (anonymize(rows, k, literal=literal) for literal in (True, False))
        except ImpossibleRelease:
            continue
        outcomes["databases"] += 1
        outcomes["once"] += bool(list_rare(single_pass, k))
        outcomes["repeated"] += bool(list_rare(final_rows, k))
    return outcomes
