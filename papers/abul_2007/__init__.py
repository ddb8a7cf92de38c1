# SPDX-License-Identifier: MIT
"""Abul, Atzori, Bonchi and Giannotti (2007): sensitive patterns hidden in sequences by marks.

What the paper states is taken from its authors' slides (in Giannotti, Pedreschi and Turini 2009). Its two data sets are
not available: generated cars and trucks of the same number and length, and tracks of Athens and Chicago, take their
place.
"""

from __future__ import annotations

from papers.study import Paper, Study
from papers.tracks import TRACKS

PAPER = Paper("abul_2007", "Abul, Atzori, Bonchi and Giannotti (2007)", "Hiding sequences")

_STATES = 'Pictures without numbers. "The heuristics causes relatively smaller distortions at all thresholds."'
_SETUP = (
    "Hidden are the two most frequent pairs of cells, one passed after the other, that share no cell; supports for M2 "
    "and M3 equal the threshold. Strategies with chance: the mean of 10 runs with seeds 1 to 10."
)
_QUICKLY = "two thresholds, and two runs with chance."

STUDIES: tuple[Study, ...] = (
    Study(
        paper=PAPER,
        name="example",
        title="The matching set of ⟨a, b, c⟩, and which marks empty it",
        location="Definition 1; Example 1",
        states="Four matches in ⟨a, a, b, c, c, b, a, e⟩. Marking position 8 changes nothing, position 3 removes all, "
        "position 1 some, positions 1 and 2 together all.",
        procedure="All matches by listing, their number by the method's dynamic programming, and every set of marks "
        "tried. Nothing is random.",
        module="example",
    ),
    Study(
        paper=PAPER,
        name="trucks",
        title="M1 to M3 by the threshold: 273 generated trucks",
        location="Experimental evaluation: effect of heuristics, TRUCKS",
        states=_STATES,
        procedure=f"273 trucks on a grid of 10 × 10, generated with seed 2005. {_SETUP}",
        module="distortion",
        quickly=_QUICKLY,
    ),
    Study(
        paper=PAPER,
        name="cars",
        title="M1 to M3 by the threshold: 300 generated cars",
        location="Experimental evaluation: effect of heuristics, SYNTHETIC",
        states=_STATES,
        procedure=f"300 cars on a grid of 10 × 10, generated with seed 2007. {_SETUP}",
        module="distortion",
        quickly=_QUICKLY,
    ),
    Study(
        paper=PAPER,
        name="tracks",
        title="M1 to M3 by the threshold: tracks of Athens and Chicago",
        location="Experimental evaluation: effect of heuristics (data of ours)",
        states=_STATES,
        procedure=f"129 trips in Athens and 889 of a shuttle bus in Chicago on a grid of 10 × 10. {_SETUP}",
        module="distortion",
        quickly=_QUICKLY,
        needs=tuple(TRACKS.values()),
    ),
    Study(
        paper=PAPER,
        name="optimum",
        title="How far the heuristics are from the least damage",
        location="Problem 1, the sequence hiding problem (the optimum is ours)",
        states="Minimize the sum of the differences of supports over all sequences that are not sensitive. Choosing "
        "marks is NP-hard; the heuristic introduces few of them.",
        procedure="The trucks and patterns of the study above. The optimum ranges over all choices of marks: for each "
        "sequence the smallest loss for each set of patterns that it hides, then an integer program that chooses.",
        module="optimum",
        quickly=_QUICKLY,
    ),
)
