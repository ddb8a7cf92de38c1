# SPDX-License-Identifier: MIT
"""Bu, Lakshmanan, Ng and Ramesh (2007): Preservation of Patterns and Input-Output Privacy, ICDE.

Only what the list of studies needs is here; a study imports its work when it is run.
"""

from __future__ import annotations

from papers.study import Paper, Study

PAPER = Paper(
    "bu_2007",
    "Bu, Lakshmanan, Ng and Ramesh (2007)",
    "Preservation of Patterns and Input-Output Privacy",
)

_COVERTYPE = ("covtype/covtype.csv.gz",)
_OTHER_TABLES = ("wdbc/wdbc.data", "adult/adult.data")
_DATA = "Covertype, 581,012 rows, 10 columns of numbers; classes: aspen or not, which gives the paper's Figure 8."
_TRIALS = "500 trials, each with a new key and new knowledge points, seed 2007."
_RADII = "The paper does not say its radius: judged at 1, 2 and 5 %, drawn at 2 %, which comes nearest to Figure 11."
_QUICKLY = "30 trials."


STUDIES: tuple[Study, ...] = (
    Study(
        paper=PAPER,
        name="figure_1",
        title="Six employees: class strings, and a tree decoded",
        location="Figure 1, Sections 1 and 4",
        states="Class string HHHLHL, four runs; the split at 27.5 becomes 35 on codes and is decoded to the same tree.",
        procedure="By the book; the tree with scikit-learn and our own codes, seed 1.",
        module="examples",
    ),
    Study(
        paper=PAPER,
        name="figures_3_and_4",
        title="Pieces that follow one another, and that do not",
        location="Figures 3 and 4, Section 5.1",
        states="Figure 3 fails the global-monotone invariant, Figure 4 satisfies it.",
        procedure="The printed codes, checked.",
        module="examples",
    ),
    Study(
        paper=PAPER,
        name="figure_7",
        title="ChooseMaxMP, and the chance of sorting",
        location="Figure 7, Sections 5.2 and 5.4",
        states="Breakpoints 1, 27, 29, 42; sorting cracks the code 27 with probability 5/36.",
        procedure="Pieces of at least two values, radius 2.",
        module="examples",
    ),
    Study(
        paper=PAPER,
        name="figure_8",
        title="What shelters the attributes of Covertype",
        location="Figure 8, Section 6.1",
        states="Ten rows of ranges, distinct values, pure pieces, their mean length and share.",
        procedure=f"{_DATA} Pieces of at least two values. Nothing is random.",
        module="attributes",
        needs=_COVERTYPE,
    ),
    Study(
        paper=PAPER,
        name="classes",
        title="Which classes give the counts of pure pieces",
        location="Figure 8, Section 6.1 (a search of ours)",
        states="The paper names neither its classes nor the least width of a pure piece.",
        procedure="Each cover type against the others, and all seven apart; pieces of at least 1, 2 and 5 values.",
        module="attributes",
        quickly="aspen against the others only.",
        needs=_COVERTYPE,
    ),
    Study(
        paper=PAPER,
        name="figure_9",
        title="Domain disclosure by curve fitting",
        location="Figure 9, Section 6.2.1",
        states="Attribute 1 drops from over 65 % to 30 % with breakpoints, and below 10 % with pure pieces; a "
        "knowledgeable adversary stays below 15 %, an ignorant one below 5 %.",
        procedure=f"{_DATA} √log, polyline. {_RADII} {_TRIALS}",
        module="curves",
        quickly=_QUICKLY,
        needs=_COVERTYPE,
    ),
    Study(
        paper=PAPER,
        name="figure_10",
        title="Three curves, three functions, and all of them together",
        location="Figure 10 and the table of Section 6.2.2",
        states="10.39 to 18.05 % on attribute 10; together 25 % by any, 12.5 % expected, 16 % by two or more.",
        procedure=f"{_DATA} ChooseMaxMP, an expert. {_RADII} {_TRIALS}",
        module="curves",
        quickly=_QUICKLY,
        needs=_COVERTYPE,
    ),
    Study(
        paper=PAPER,
        name="figure_11",
        title="Sorting in the worst case",
        location="Figure 11, Section 6.2.3",
        states="26, 100, 78, 4, 22, 8, 13, 11, 90 and 7 % of the ten attributes' values.",
        procedure=f"{_DATA} True least and greatest value known. {_RADII} Nothing is random.",
        module="attributes",
        needs=_COVERTYPE,
    ),
    Study(
        paper=PAPER,
        name="figure_12",
        title="Who goes with whom: subspace association",
        location="Figure 12, Section 6.3",
        states="Attributes 4 and 7: 16 and 25 % alone, 4 % together, 0.2 % with 10; 10: 18 % alone, 15 % with 2. "
        "risk(A, B) < risk(A) · risk(B).",
        procedure=f"{_DATA} ChooseMaxMP, an expert's polyline, attribute 2 by sorting. {_RADII} {_TRIALS}",
        module="outcomes",
        quickly=_QUICKLY,
        needs=_COVERTYPE,
    ),
    Study(
        paper=PAPER,
        name="paths",
        title="The paths of a decision tree",
        location="Table of Section 6.4",
        states="Of 1,707 paths an insider cracks one, with a radius of 5 %; who knows less, none.",
        procedure=f"{_DATA} A C4.5 tree, one key, polylines through 8 points; 500 trials, seed 2007.",
        module="outcomes",
        quickly="50 rows a branch, 30 trials.",
        needs=_COVERTYPE,
    ),
    Study(
        paper=PAPER,
        name="other_data_shelter",
        title="What shelters the columns of WDBC and Adult",
        location="Section 6.1, on census income and WDBC",
        states="No numbers.",
        procedure="WDBC's 30 measures, Adult's 6 columns of numbers; as Figures 8 and 11. Nothing is random.",
        module="attributes",
        needs=_OTHER_TABLES,
    ),
    Study(
        paper=PAPER,
        name="other_data_curves",
        title="Curve fitting on WDBC and Adult",
        location="Section 6.1, on census income and WDBC",
        states="No numbers.",
        procedure="As Figure 9, radius 2 %. 100 trials, each with a new key and new points, seed 2007.",
        module="curves",
        quickly="10 trials, six columns of each.",
        needs=_OTHER_TABLES,
    ),
)
