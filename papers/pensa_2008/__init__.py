# SPDX-License-Identifier: MIT
"""Pensa, Monreale, Pinelli and Pedreschi (2008): sequences anonymized so that frequent patterns stay.

What the paper states is taken from its authors' slides (in Giannotti, Pedreschi and Turini 2009). Its tracks of cars in
Milan are not available: generated cars and tracks of Athens and Chicago take their place.
"""

from __future__ import annotations

from papers.study import Paper, Study
from papers.tracks import TRACKS

PAPER = Paper(
    "pensa_2008",
    "Pensa, Monreale, Pinelli and Pedreschi (2008)",
    "Pattern-preserving k-anonymization of sequences and its application to mobility data mining",
)

_EXPERIMENT = (
    "Pictures without numbers. On sparse data, anonymization prunes more sequences and some frequent patterns are "
    "missing; at a higher density threshold, the collections of patterns before and after are similar."
)
_DENSITY = (
    "A cell is a region of interest if 5 % (sparse) or 30 % (dense) of the trajectories pass it. k = 2 to 10 at a "
    "support of 10 %; supports of 10 % to 30 % at k = 5."
)

STUDIES: tuple[Study, ...] = (
    Study(
        paper=PAPER,
        name="example",
        title="Four sequences made 2-anonymous, and one pass that is not enough",
        location="Definitions 1, 3 and 4, Theorem 1; Running example: k = 2",
        states="BCE becomes BC, and D' is 2-anonymous. If D' is a k-anonymous version of D, no sequence is linked with "
        "a probability above 1/k.",
        procedure="Rare sequences by listing every part; the published single pass and its repetition on the "
        "example, on a counter-example of ours, and on 100 random databases with seed 2008.",
        module="example",
    ),
    Study(
        paper=PAPER,
        name="cars",
        title="F-measure and SupSim by k and by support: 300 generated cars",
        location="Experiments: sparse data; Experiments: higher density threshold",
        states=_EXPERIMENT,
        procedure=f"300 cars on a grid of 10 × 10, generated with seed 2007. {_DENSITY}",
        module="density",
        quickly="two values of k and two supports.",
    ),
    Study(
        paper=PAPER,
        name="tracks",
        title="F-measure and SupSim by k and by support: tracks of Athens and Chicago",
        location="Experiments: sparse data; Experiments: higher density threshold",
        states=_EXPERIMENT,
        procedure=f"129 trips in Athens and 889 of a shuttle bus in Chicago on a grid of 10 × 10. {_DENSITY}",
        module="density",
        quickly="two values of k and two supports.",
        needs=tuple(TRACKS.values()),
    ),
    Study(
        paper=PAPER,
        name="optimum",
        title="How far BF-P2kA is from the best anonymous release",
        location="Definition 4, the optimal P2kA problem (the optimum is ours)",
        states="Find a k-anonymous D' with the same k-frequent patterns and the same supports. The approach assures "
        "supports that are about the same.",
        procedure="The first 20 to 273 of the trucks generated with seed 2005. The optimum ranges over all multisets "
        "of at "
        "most as many sequences in which whatever occurs occurs k times and was k-frequent before; an integer program, "
        "60 s each at the most.",
        module="optimum",
        quickly="up to 40 trucks, 5 s each at the most.",
    ),
)
