# SPDX-License-Identifier: MIT
"""Aggarwal, Pei and Zhang (2006): On Privacy Preservation against Adversarial Data Mining, KDD.

Only what the list of studies needs is here; a study imports its work when it is run.
"""

from __future__ import annotations

from papers.study import Paper, Study

PAPER = Paper(
    "aggarwal_2006",
    "Aggarwal, Pei and Zhang (2006)",
    "On Privacy Preservation against Adversarial Data Mining",
)

_ADULT = ("adult/adult.data", "adult/adult.test")
_ZIPF = "Zipf generator with seed 2006; private entries drawn at random with seed 1"
_CURVE = "Curve only in the paper; the text says: "


def _figure(
    number: int,
    title: str,
    states: str,
    procedure: str,
    quickly: str,
    *,
    module: str = "synthetic",
    section: str = "6.1",
    needs: tuple[str, ...] = (),
) -> Study:
    return Study(
        paper=PAPER,
        name=f"figure_{number}",
        module=module,
        title=title,
        location=f"Figure {number}, Section {section}",
        states=states,
        procedure=procedure,
        quickly=quickly,
        needs=needs,
    )


STUDIES: tuple[Study, ...] = (
    Study(
        paper=PAPER,
        name="examples",
        title="Employees: rules, projected databases, kinds of itemsets",
        location="Examples 1 to 8, Sections 1, 2 and 4",
        states="Ten employees, five private entries. Three rules predict three of them; blanking one or two more "
        "entries removes the rules; four itemsets illustrate four kinds.",
        procedure="Every number counted by the book on Table 2, and rules mined, with δ = 60 %, γ = 2. Nothing is "
        "random.",
        module="examples",
    ),
    _figure(
        3,
        "Adversarial rules by Zipf factor",
        _CURVE + "many rules for factors 2 to 3, fewer towards 5; sensitive entries do not drop; more rules with more "
        "columns, fewer with more values.",
        "10,000 rows, δ = 60 %, γ = 0.05 %, 1 % private, for factors 0.5 to 5. The paper does not name its shapes; "
        f"ours have 8, 10 and 12 columns of 10 values, and 10 columns of 20. {_ZIPF}.",
        "four factors, two shapes.",
    ),
    _figure(
        4,
        "Rules and sensitive entries by support",
        _CURVE + "rules increase exponentially as the threshold goes down, sensitive entries linearly.",
        f"10,000 × 10, 10 values, factor 2, 1 % private, δ = 60 %, γ from 0.05 % to 1 %. {_ZIPF}.",
        "three thresholds.",
    ),
    _figure(
        5,
        "Rules and sensitive entries by confidence",
        _CURVE + "a lower threshold introduces more of both; there are rules of confidence 100 %, which affect about "
        "20 % of the tuples.",
        f"10,000 × 10, 10 values, factor 2, 1 % private, γ = 0.05 %, δ from 60 % to 100 %. {_ZIPF}.",
        "three thresholds.",
    ),
    _figure(
        6,
        "Rules by size of the directly private set",
        _CURVE + "the number of rules increases linearly.",
        f"10,000 × 10, 10 values, factor 2, γ = 0.05 %, δ = 60 %, private from 0.1 % to 5 % of the entries. {_ZIPF}.",
        "four sizes.",
    ),
    _figure(
        7,
        "Derived private entries by blanking factor",
        "61,964 sensitive entries. Blanking one at a time takes 545 of them (546 in another place), less than 1 %; 30 "
        "at a time take 1,320. Privacy is preserved. The rest is a curve.",
        "10,000 × 10, 10 values, factor 2, 1 % private, γ = 0.1 %, δ = 80 %, GraDeS as printed (grades_once), and "
        "mined again until no rule is left. Means of five tables: Zipf generator with seeds 2006 to 2010, private "
        "entries with 1 to 5.",
        "one table, two factors.",
    ),
    _figure(
        8,
        "Running time by blanking factor",
        "1,988 s one at a time, 157 s at 30, on a laptop with a Pentium M of 1.5 GHz. The rest is a curve.",
        "The runs of Figure 7, one thread, on this machine.",
        "one table, two factors.",
    ),
    _figure(
        9,
        "Rules and sensitive entries by size of the table",
        _CURVE + "fewer rules in larger tables; mining takes less than 5 s for 10,000 tuples and scales linearly.",
        f"10,000 to 100,000 rows, 10 columns of 10 values, factor 2, 1 % private, γ = 0.05 %, δ = 80 %. {_ZIPF}.",
        "three sizes, up to 40,000 rows.",
    ),
    _figure(
        10,
        "Adult: sensitive and derived entries by private entries",
        _CURVE + "sensitive entries hardly change, being bounded by all published ones; derived ones increase quite "
        "slowly.",
        "45,222 complete rows, 10 columns, numbers cut by equal frequency and by equal width, γ = 2 %, δ = 80 %, "
        "blanking factor 10,000, 10,000 to 50,000 private entries drawn with seed 1.",
        "two sizes.",
        module="adult",
        section="6.2",
        needs=_ADULT,
    ),
    _figure(
        11,
        "Adult: rules, sensitive and derived entries by support",
        _CURVE
        + "all three go up as the support goes down; the derived set is within a small factor of the private one.",
        "45,222 complete rows, 10 columns, numbers cut by equal frequency and by equal width, 30,000 private entries "
        "drawn with seed 1, δ = 80 %, blanking factor 10,000, γ from 1 % to 5 %.",
        "two thresholds.",
        module="adult",
        section="6.2",
        needs=_ADULT,
    ),
    _figure(
        12,
        "Adult: running time by support",
        "Curve only in the paper; the text gives no number.",
        "The runs of Figure 11, one thread, on this machine.",
        "two thresholds.",
        module="adult",
        section="6.2",
        needs=_ADULT,
    ),
)
