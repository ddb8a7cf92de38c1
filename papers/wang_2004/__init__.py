# SPDX-License-Identifier: MIT
"""Wang, Lee, Billis and Jafari (2004): Hiding Sensitive Items in Privacy Preserving Association Rule Mining.

Only what the list of studies needs is here; a study imports its work when it is run.
"""

from __future__ import annotations

from papers.study import Paper, Study

PAPER = Paper(
    "wang_2004",
    "Wang, Lee, Billis and Jafari (2004)",
    "Hiding Sensitive Items in Privacy Preserving Association Rule Mining",
)

_THRESHOLDS = "Minimum support 33 %, confidence 70 %."
_SHOP = "Ours are 1,000 baskets of 15 items, drawn with seed 2004, support 5 %, confidence 70 %."


STUDIES: tuple[Study, ...] = (
    Study(
        paper=PAPER,
        name="table_1",
        title="Database D: its nine rules, and three of them hidden",
        location="Table 1, Section 2.1",
        states="Six transactions have nine rules. If T5 is made AB, the three rules with C on the right fall to 60 %.",
        procedure=f"{_THRESHOLDS} Mined, and every possible rule counted by the book. Nothing is random.",
        module="examples",
    ),
    Study(
        paper=PAPER,
        name="examples",
        title="Hiding B and C: databases D1 to D6",
        location="Examples 1 to 4, Tables 2 to 7, Section 4",
        states="ISLF and DSRF, each for C then B and for B then C, change one or two entries; the order of the items "
        "makes another database. Fourteen percentages are printed on the way.",
        procedure=f"{_THRESHOLDS} Each algorithm run as published, and the rules it names counted by the book.",
        module="examples",
    ),
    Study(
        paper=PAPER,
        name="table_8",
        title="Database scans and pruned rules, beside Dasseni's 1.a and 1.b",
        location="Table 8, Section 5",
        states="Hiding C, ISLF scans three times and prunes two rules, Dasseni's 1.a four times and none; DSRF and 1.b "
        "are similar. Dasseni's approach can hide some rules about an item and show others.",
        procedure=f"{_THRESHOLDS} 1.a and 1.b are given the three rules about C; scans are counted as the paper does.",
        module="examples",
    ),
    Study(
        paper=PAPER,
        name="left_over",
        title="What ISLF and DSRF leave",
        location="Sections 2.1 and 3",
        states="The aim: no rule with a hidden item on its right side will be discovered.",
        procedure=f"{_THRESHOLDS} Databases of four to six transactions on which an algorithm as published leaves "
        "rules (counter-examples of ours), and our complete and exact strategies on the same.",
        module="hiding",
    ),
    Study(
        paper=PAPER,
        name="side_effects",
        title="What hiding does to other rules, and how the item's support matters",
        location="Sections 5 and 6",
        states="DSRF seems to be more effective when the support of the hidden item is large. The paper has no "
        "simulation: 'more simulation must be carried out'.",
        procedure=f"D as printed, hiding C and B. {_SHOP} Two items are hidden, and one whose own share goes from 0 "
        "to .7.",
        module="hiding",
        quickly="three shares.",
    ),
)
