# SPDX-License-Identifier: MIT
"""Giannotti, Pedreschi and Turini (2009): slides of a course on privacy in data publishing and mining, in their order.

Anonymity (Samarati and Sweeney 1998, Li et al. 2007), sequences (Agrawal and Srikant 1995; more in `pensa_2008` and
`abul_2007`), noise (Warner 1965, Agrawal and Srikant 2000, Kargupta et al. 2003), patterns (Atzori et al. 2005), rule
hiding (Dasseni et al. 2001), outsourcing (Wong et al. 2007, Qiu et al. 2008), mining together (Kantarcioglu and Clifton
2002). The slides show most results as pictures without numbers. Numbers of an independent count, made by other code
when sfumato was planned, are held against ours apart from what the slides state.
"""

from __future__ import annotations

from papers.study import Paper, Study

PAPER = Paper(
    "giannotti_2009",
    "Giannotti, Pedreschi and Turini (2009)",
    "Privacy and anonymity in data publishing and (mobility) data mining",
)

_PART = "Data randomization, perturbation and obfuscation"
_PEOPLE = "Quest generator with seed 1 to learn from and seed 1001 to test on; noise on all nine attributes with seed 1"


_ANONYMITY = (
    Study(
        paper=PAPER,
        name="hospital",
        title="Hospital patients: unique, and generalized no more than necessary",
        location="Unique combination of attributes; K-Anonymity",
        states="Six patients, whose date of birth, sex and ZIP code are unique in combination. 'Do not anonymize more "
        "than necessary.' Incognito generates all k-anonymous full-domain generalizations.",
        procedure="All twelve nodes of the hierarchies counted by the book; minimal nodes, Incognito as printed and "
        "releases for k = 2 and 3. Nothing is random.",
        module="anonymity",
    ),
    Study(
        paper=PAPER,
        name="figure_2",
        title="A 2-anonymous release, and whom an external table links to it",
        location="Figure 2; K-Anonymity",
        states="k = 2. By linking you still do not know Andre's problem; linking has no confidence above 1/k.",
        procedure="Eleven rows and five people, linked by race, birth, gender and ZIP code.",
        module="anonymity",
    ),
    Study(
        paper=PAPER,
        name="similarity",
        title="A 3-diverse table, and what is learned about Bob",
        location="Limitations of l-diversity; t-closeness",
        states="Bob's salary is in [20k, 40k], which is low, and he has some stomach-related disease.",
        procedure="k, l and t measured; the similarity attack with a quarter of the salaries' range, and diseases by "
        "organ.",
        module="anonymity",
    ),
    Study(
        paper=PAPER,
        name="subsequences",
        title="Sequences: containment, five customers' videos, and what is frequent",
        location="Mining sequences – example; Formal definition of a subsequence; Sequential frequent patterns",
        states="Three answers whether a sequence is contained in another, two patterns of five customers, and the "
        "patterns of five sequences at support 3.",
        procedure="Containment and mining by sfumato, and the videos' patterns by listing every part. Nothing is "
        "random.",
        module="subsequences",
    ),
)
_LATER_STUDIES = (
    Study(
        paper=PAPER,
        name="channels",
        title="Patterns: inference channels of twelve transactions",
        location="Privacy-aware knowledge sharing; What is a k-anonymous pattern?",
        states="A rule of support 80 and confidence 98.7 % is about one individual. Twelve transactions: a and b "
        "without c, d, e.",
        procedure="k = 3, supports of 8 and 6; repaired by raising supports and by withholding itemsets.",
        module="patterns",
    ),
    Study(
        paper=PAPER,
        name="beyond_channels",
        title="Patterns: one person given away without a channel",
        location="Reduce the number of patterns to check (a counter-example of ours)",
        states="Whatever pattern has few people, there is a channel between some I ⊆ J; so channels can be detected.",
        procedure="The counter-example's 23 baskets, support 5, k = 3; bounds on what is not published.",
        module="patterns",
    ),
    Study(
        paper=PAPER,
        name="rule_hiding",
        title="Rule hiding: AB → C by confidence",
        location="Hiding association rules by using confidence and support",
        states="Turning B to 1 in T4, or C to 0 in T1, hides AB → C; BC → A stays.",
        procedure="Minimum support 20 %, confidence 80 %, and 50 % beside; strategies 1.a, 1.b, 2.a, our joint and "
        "exact.",
        module="hiding",
    ),
    Study(
        paper=PAPER,
        name="mapping",
        title="Outsourcing: items as codes",
        location="Security in outsourcing of association rule mining",
        states="{a, b} becomes {1, 2}, {1, 2, 3}, or at random {1, 2, 3, 4, 6}. One-to-n with random codes is always "
        "more secure than one-to-one.",
        procedure="The slides' mapping; 600 and 1,500 baskets of 24 items, seed 2007, attacked by who knows pairs.",
        module="outsourcing",
    ),
    Study(
        paper=PAPER,
        name="bloom",
        title="Outsourcing: baskets as Bloom filters",
        location="Protecting business intelligence and customer privacy",
        states="Filters are mined by a third party, which learns nothing private.",
        procedure="14 baskets with twelve itemsets of support 3; 40 keys with seeds 0 to 39 for each size of filter.",
        module="outsourcing",
        quickly="12 keys.",
    ),
    Study(
        paper=PAPER,
        name="horizontal",
        title="Mining together: commutative encryption, ring sum, comparison",
        location="Distributed privacy preserving data mining; horizontal partitioning",
        states="Candidates are united by commutative encryption, sums compared with zero around a ring. Exchanging "
        "counts would be enough, but shows them.",
        procedure="Three sites of 3,000 baskets each, drawn with seeds 2002 to 2004; support 20 %, confidence 70 %. "
        "The ring sum of 5 of 100, 9 of 200 and 18 of 300 at 5 %. Keys and masks are random, and change nothing.",
        module="horizontal",
        quickly="300 baskets each.",
    ),
)
STUDIES: tuple[Study, ...] = (
    *_ANONYMITY,
    Study(
        paper=PAPER,
        name="warner_table_1",
        title="Randomized response: its error against that of asking openly",
        location=f"Warner's Table 1; {_PART}",
        states="12 biases and 48 ratios of mean square errors for a true share of .6 and 1,000 people.",
        procedure="By formula, and by 400,000 simulated surveys a cell with seed 1965.",
        module="answers",
    ),
    Study(
        paper=PAPER,
        name="averaging",
        title="Randomized response: asking again",
        location=f"{_PART} (numbers of an independent count)",
        states="Answers that are true with p = .7, asked 1, 5 and 15 times, are guessed for 70, 83 and 95 % of people.",
        procedure="By formula, and by the attack on repeated answers, with answers drawn anew and memoized, seed 1965.",
        module="answers",
        quickly="5,000 people instead of 50,000.",
    ),
    Study(
        paper=PAPER,
        name="privacy_table",
        title="Additive noise: what a privacy level means",
        location=f"Table 1: Privacy Metrics; {_PART}",
        states="Widths of the interval of a value at 50, 95 and 99.9 % confidence; Gaussian 1.34, 3.92 and 6.8 σ.",
        procedure="By formula, and by 2,000,000 draws of noise with seed 2000.",
        module="noise",
    ),
    Study(
        paper=PAPER,
        name="reconstruction",
        title="Additive noise: distributions reconstructed",
        location=f"Distribution Reconstruction Results (1) and (2); {_PART}",
        states="Two pictures: the reconstructed distribution follows the original one, the randomized one does not. "
        "The iteration stops when successive estimates hardly differ.",
        procedure="A plateau and two triangles, 10,000 values each, drawn with seed 2000, under Gaussian and uniform "
        "noise, by bins; 1 to 3,000 steps, and where a χ² test stops.",
        module="noise",
    ),
    Study(
        paper=PAPER,
        name="accuracy",
        title="Trees on noisy data: five functions, three ways to reconstruct",
        location=f"Results – Classification Accuracy (1) and (2); {_PART}",
        states="Bars without numbers: Original, Global, ByClass, Local and Randomized for Fn1 to Fn5.",
        procedure="Gaussian noise at 25 % and 100 % privacy, 95 % confidence; 100,000 people, 5,000 to test. "
        f"{_PEOPLE}.",
        module="trees",
        quickly="10,000 people.",
    ),
    Study(
        paper=PAPER,
        name="privacy_levels",
        title="Trees on noisy data: accuracy by privacy",
        location=f"Results – Accuracy vs. Privacy (1) and (2); {_PART}",
        states="Curves without numbers: ByClass, Random (both Gaussian and uniform) and Original, privacy from 10 % to "
        "200 %. Function 4 is skipped, because it gives almost the same results as function 5.",
        procedure=f"Seven levels, Fn1, Fn2, Fn3 and Fn5, 100,000 people, 5,000 to test. {_PEOPLE}.",
        module="trees",
        quickly="three levels, Fn1 and Fn3, 6,000 people.",
    ),
    Study(
        paper=PAPER,
        name="spectral",
        title="Spectral filter: noise taken off by eigenvalues",
        location=f"Vulnerability, and Decomposing eigen-values (1) and (2); {_PART}",
        states='"In many cases, the original data can be accurately estimated." No numbers.',
        procedure="Gaussian columns from a few hidden causes, drawn with seed 2003, and Gaussian noise of variance 1.",
        module="attacks",
        quickly="2,000 rows instead of 20,000.",
    ),
    Study(
        paper=PAPER,
        name="range_reveal",
        title="Bounded noise: the range gives values away",
        location=f"{_PART} (numbers of an independent count)",
        states="Uniform noise of α = 1 on values in [0, 1] and [4, 5] reveals the half for every record.",
        procedure="Values drawn with seed 2003, and noise with the same.",
        module="attacks",
        quickly="5,000 records instead of 50,000.",
    ),
    *_LATER_STUDIES,
)
