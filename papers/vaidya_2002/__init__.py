# SPDX-License-Identifier: MIT
"""Vaidya and Clifton (2002): Privacy preserving association rule mining in vertically partitioned data.

As the slides of Giannotti, Pedreschi and Turini (2009) tell it, whose statements are the ones compared. Only what the
list of studies needs is here; a study imports its work when it is run.
"""

from __future__ import annotations

from papers.study import Paper, Study

PAPER = Paper(
    "vaidya_2002",
    "Vaidya and Clifton (2002)",
    "Privacy preserving association rule mining in vertically partitioned data",
)

_MATRIX = "A matrix of whole numbers from 1 to 255 drawn with seed 2002, and random numbers below 2^24."


STUDIES: tuple[Study, ...] = (
    Study(
        paper=PAPER,
        name="support",
        title="The support of {A1, B1} as a scalar product",
        location="Basic idea",
        states="Five transactions, B1 = 0, 1, 0, 1, 1. The support of {A1, B1} is |A1 ∧ B1|, and the sum of A1 × B1.",
        procedure="All 32 columns that A1 can be; counted, multiplied, and by our private product. Nothing else is "
        "random.",
        module="products",
    ),
    Study(
        paper=PAPER,
        name="protocol",
        title="The algebraic product: n disguised values, S and the n/2 values",
        location="Protocol",
        states="A sends n values, B sends the sum S and n/2 values; A removes the baggage and has the scalar product.",
        procedure=f"The five rows with A1 = 1, 1, 0, 1, 0, padded to six. {_MATRIX}",
        module="products",
    ),
    Study(
        paper=PAPER,
        name="algorithm",
        title="Apriori over attributes at two sites, and the confidence of its rules",
        location="The algorithm",
        states="Candidates at one site are counted there, others by a scalar product. The answer is all L_k.",
        procedure="60 rows with three items at each site, seed 2002; support 30 %, confidence 60 %; both ways, and "
        "pooled.",
        module="products",
    ),
    Study(
        paper=PAPER,
        name="equations",
        title="How many equations, and how many solutions of 0 and 1",
        location="Security analysis",
        states="Fewer equations than unknowns are revealed: 'possible solutions infinite'. 'Security of both is "
        "symmetrical.' 'Just from the protocol, nothing can be found out.'",
        procedure=f"Vectors of density one third, seed 2002, n up to 16; all vectors of 0 and 1 tried. {_MATRIX}",
        module="security",
    ),
    Study(
        paper=PAPER,
        name="recovery",
        title="Either side's vector by linear programming",
        location="Security analysis",
        states="'Everything is revealed only when about half the values are revealed.'",
        procedure=f"n = 400, three vectors of each density, seeds 1 to 3, and none of their values known. {_MATRIX}",
        module="security",
        quickly="n = 80 and one vector of each density.",
    ),
)
