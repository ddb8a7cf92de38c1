# SPDX-License-Identifier: MIT
"""Anonymity: the hospital's patients, Figure 2 and whom it is linked to, the 3-diverse table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from itertools import product
from typing import Any

import polars as pl

from papers.study import Findings, Grid, Setting, Statement, frame_of, require_all
from sfumato.attack.anonymity.homogeneity import count_homogeneous_people
from sfumato.attack.anonymity.links import find_links
from sfumato.attack.anonymity.similarity import Similarity
from sfumato.measure.anonymity.anonymity_table import anonymity
from sfumato.measure.anonymity.crowd_sizes import crowds
from sfumato.measure.anonymity.k_anonymity import k_anonymity, uniqueness
from sfumato.protect.anonymity.generalize import Generalize, minimal_nodes
from sfumato.protect.anonymity.models.class_models import KAnonymity
from sfumato.report.words import wording
from sfumato.table import Table

PATIENTS = [
    ("Andre", "1/21/76", "Male", "53715", "Heart Disease"),
    ("Beth", "4/13/86", "Female", "53715", "Hepatitis"),
    ("Carol", "2/28/76", "Male", "53703", "Brochitis"),
    ("Dan", "1/21/76", "Male", "53703", "Broken Arm"),
    ("Ellen", "4/13/86", "Female", "53706", "Flu"),
    ("Eric", "2/28/76", "Female", "53706", "Hang Nail"),
]
HOSPITAL_KNOWN = ("dob", "gender", "zip")
LEVELS: dict[str, dict[str, list[str]]] = {
    "dob": {day: [day, "*"] for day in ("1/21/76", "4/13/86", "2/28/76")},
    "gender": {gender: [gender, "Person"] for gender in ("Male", "Female")},
    "zip": {code: [code, f"{code[:4]}*", f"{code[:3]}**"] for code in ("53715", "53703", "53706")},
}
COARSE_LEVELS = LEVELS | {
    "dob": {day: [day, day[-2:], "*"] for day in LEVELS["dob"]},
    "zip": {code: [code, f"{code[:3]}**", "*"] for code in LEVELS["zip"]},
}
Hierarchies = dict[str, dict[str, list[str]]]
HIERARCHIES: dict[str, Hierarchies] = {
    "date → *, ZIP code → four → three digits": LEVELS,
    "date → year → *, ZIP code → three digits → *": COARSE_LEVELS,
}
"""The slides give none; two choices of ours, in both of which sex → Person."""
MINIMAL = {2: {(1, 1, 0), (0, 1, 2), (1, 0, 2)}, 3: {(1, 0, 2)}}
"""An independent count: minimal nodes, levels of DOB, gender and ZIP."""

FIGURE_2 = [
    ("Black", 1965, "m", "0214*", "short breath"),
    ("Black", 1965, "m", "0214*", "chest pain"),
    ("Black", 1965, "f", "0213*", "hypertension"),
    ("Black", 1965, "f", "0213*", "hypertension"),
    ("Black", 1964, "f", "0213*", "obesity"),
    ("Black", 1964, "f", "0213*", "chest pain"),
    ("White", 1964, "m", "0213*", "chest pain"),
    ("White", 1964, "m", "0213*", "obesity"),
    ("White", 1964, "m", "0213*", "short breath"),
    ("White", 1967, "m", "0213*", "chest pain"),
    ("White", 1967, "m", "0213*", "chest pain"),
]
VOTERS = [
    ("Andre", 1964, "m", "02135", "White"),
    ("Beth", 1964, "f", "55410", "Black"),
    ("Carol", 1964, "f", "90210", "White"),
    ("Dan", 1967, "m", "02174", "White"),
    ("Ellen", 1968, "f", "02237", "White"),
]
FIGURE_2_KNOWN = ("race", "birth", "gender", "zip")

DIVERSE = [
    ("476**", "2*", 20, "Gastric Ulcer"),
    ("476**", "2*", 30, "Gastritis"),
    ("476**", "2*", 40, "Stomach Cancer"),
    ("4790*", "≥40", 50, "Gastritis"),
    ("4790*", "≥40", 100, "Flu"),
    ("4790*", "≥40", 70, "Bronchitis"),
    ("476**", "3*", 60, "Bronchitis"),
    ("476**", "3*", 80, "Pneumonia"),
    ("476**", "3*", 90, "Stomach Cancer"),
]
WIDTHS = (0.25, 0.5)
STOMACH = {"stomach": ("Gastric Ulcer", "Gastritis", "Stomach Cancer"), "lung": ("Bronchitis", "Pneumonia")}


def _build_table(rows: list[tuple[Any, ...]], roles: dict[str, str], hierarchies: dict[str, list[list[str]]]) -> Table:
    return Table.of(pl.DataFrame(rows, schema=list(roles), orient="row"), roles, hierarchies)


def patients(hierarchies: Hierarchies = LEVELS) -> Table:
    """The hospital's patients, with hierarchies that fit the slides."""
    roles = {"name": "identifying", **dict.fromkeys(HOSPITAL_KNOWN, "quasi_identifying"), "disease": "sensitive"}
    return _build_table(PATIENTS, roles, {name: list(levels.values()) for name, levels in hierarchies.items()})


def figure_2_table() -> Table:
    """The release of Figure 2."""
    roles = dict.fromkeys(FIGURE_2_KNOWN, "quasi_identifying") | {"problem": "sensitive"}
    codes = ["02141", *(voter[3] for voter in VOTERS)]
    return _build_table(FIGURE_2, roles, {"zip": [[code, f"{code[:4]}*"] for code in codes]})


def voters() -> Table:
    """The external table beside it."""
    roles = dict.fromkeys(("birth", "gender", "zip", "race"), "quasi_identifying")
    return _build_table(VOTERS, {"name": "identifying", **roles}, {})


def diverse_table() -> Table:
    """'A 3-diverse patient table'; salaries in thousands."""
    roles = {"zip": "quasi_identifying", "age": "quasi_identifying", "salary": "sensitive", "disease": "sensitive"}
    return _build_table(DIVERSE, roles, {"zip": [["47678", "476**"]], "age": [["27", "2*"]]})


def hospital(setting: Setting) -> Findings:
    """Everybody is unique; which generalizations hide two or three."""
    del setting  # six rows are quick enough
    table = patients()
    rows = list_nodes(LEVELS)
    own_result = {k: set(minimal_nodes(table, (KAnonymity(k=k),))) for k in MINIMAL}
    by_book = {k: _minimal(rows, k) for k in MINIMAL}
    incognito = {k: Generalize(models=(KAnonymity(k=k),), search="incognito").protect(table).details for k in MINIMAL}
    unique_share = uniqueness(table)
    judgements = {name: judge_hierarchies(hierarchies) for name, hierarchies in HIERARCHIES.items()}
    return Findings(
        statements=(
            Statement(
                "The combinations of date of birth, sex and ZIP code are unique.",
                f"k = {k_anonymity(table)}; {wording.format_percent(unique_share)} of the patients are unique.",
                unique_share == 1,
            ),
            *(
                Statement(
                    f"The minimal {k}-anonymous nodes are {_nodes(MINIMAL[k])}.",
                    f"{_nodes(own_result[k])}; by exhaustion {_nodes(by_book[k])}.",
                    own_result[k] == by_book[k] == MINIMAL[k],
                    source="independent count",
                )
                for k in MINIMAL
            ),
            *(
                require_all("the hierarchies", dict(zip(judgements, column, strict=True)))
                for column in zip(*judgements.values(), strict=True)
            ),
        ),
        grids=(
            Grid(
                "patients", "Patients at each node (levels of date of birth, sex, ZIP code)", frame_of(rows), _HEIGHTS
            ),
            *(
                Grid(f"incognito_{k}", f"Nodes that Incognito and our search check, k = {k}", details["node_counts"])
                for k, details in incognito.items()
            ),
        ),
    )


def judge_hierarchies(hierarchies: Hierarchies) -> tuple[Statement, ...]:
    """Whether releases are minimal, and whether Incognito generates all k-anonymous nodes, by exhaustion."""
    table, rows = patients(hierarchies), list_nodes(hierarchies)
    nodes_by_k = {k: _choose_node(table, k) for k in MINIMAL}
    return (
        Statement(
            "'Do not anonymize more than necessary': the release is a minimal node.",
            "; ".join(f"k = {k}: {_nodes({node})}" for k, node in nodes_by_k.items()),
            all(node in _minimal(rows, k) for k, node in nodes_by_k.items()),
        ),
        *(_judge_incognito(k, table, rows) for k in MINIMAL),
    )


def list_nodes(hierarchies: Hierarchies) -> list[dict[str, Any]]:
    """All nodes, counted by the book."""
    heights = [range(len(next(iter(hierarchies[name].values())))) for name in HOSPITAL_KNOWN]
    return [_node(levels, hierarchies) for levels in product(*heights)]


def _judge_incognito(k: int, table: Table, rows: list[dict[str, Any]]) -> Statement:
    """Whether Incognito generates all k-anonymous nodes."""
    details = Generalize(models=(KAnonymity(k=k),), search="incognito").protect(table).details
    by_book = {(row["dob"], row["sex"], row["zip"]) for row in rows if row["k"] >= k}
    incognito_nodes = {tuple(levels) for levels in details["generalizations"]["levels"]}
    return Statement(
        f"Incognito generates all possible {k}-anonymous full-domain generalizations.",
        f"{_nodes(incognito_nodes)}; by exhaustion {_nodes(by_book)}",
        incognito_nodes == by_book,
        cases=len(by_book),
    )


_HEIGHTS = "The slides give no hierarchies; here: date of birth → *, sex → Person, ZIP code → four → three digits."


def _node(levels: tuple[int, ...], hierarchies: Hierarchies) -> dict[str, Any]:
    """The patients at a node, counted by the book."""
    quasi_rows = [tuple(patient[1:4]) for patient in PATIENTS]
    generalized_rows = [
        tuple(
            hierarchies[name][value][level]
            for name, value, level in zip(HOSPITAL_KNOWN, quasi_row, levels, strict=True)
        )
        for quasi_row in quasi_rows
    ]
    sizes = Counter(generalized_rows)
    return {
        "node": str(levels),
        "dob": levels[0],
        "sex": levels[1],
        "zip": levels[2],
        "crowds": len(sizes),
        "k": min(sizes.values()),
        "first_patient": ", ".join(generalized_rows[0]),
    }


def _minimal(rows: list[dict[str, Any]], k: int) -> set[tuple[int, ...]]:
    will_do = {(row["dob"], row["sex"], row["zip"]) for row in rows if row["k"] >= k}
    return {
        node
        for node in will_do
        if not any(other != node and all(a <= b for a, b in zip(other, node, strict=True)) for other in will_do)
    }


def _nodes(nodes: Iterable[tuple[int, ...]]) -> str:
    return ", ".join(map(str, sorted(nodes)))


def _choose_node(table: Table, k: int) -> tuple[int, ...]:
    return tuple(Generalize(models=(KAnonymity(k=k),)).protect(table).details["levels"].values())


def figure_2(setting: Setting) -> Findings:
    """The classes of Figure 2, and whom the external table links to it."""
    del setting  # eleven rows are quick enough
    release, people = figure_2_table(), voters()
    links = find_links(release, people, FIGURE_2_KNOWN)
    rows = [
        {
            "name": name,
            "rows_that_fit": len(links.get_rows(person_index)),
            "problems": ", ".join(sorted(release.frame["problem"].gather(links.get_rows(person_index)).to_list())),
        }
        for person_index, name in enumerate(people.frame["name"])
    ]
    sizes = sorted(crowds(release)["crowd"].to_list())
    anonymity_measures = anonymity(release)
    andre = rows[0]["problems"].split(", ")
    certain_people = count_homogeneous_people(release, release, ("problem",))
    highest, diverse = Fraction(1, sizes[0]), anonymity_measures["distinct_l"]["problem"]
    return Findings(
        statements=(
            Statement(
                "Figure 2 is 2-anonymous.",
                f"k = {anonymity_measures['k']}, classes of {sizes}.",
                anonymity_measures["k"] == 2,
            ),
            Statement(
                "By linking, you still do not know Andre's problem.",
                f"{rows[0]['rows_that_fit']} rows fit, with {len(set(andre))} problems.",
                len(set(andre)) > 1,
            ),
            Statement(
                "Linking cannot be performed with confidence above 1/k.",
                f"To a row: {highest} at most.",
                highest <= Fraction(1, 2),
            ),
            Statement(
                "k-anonymity does not provide privacy where a class lacks diversity.",
                f"Distinct l = {diverse}: the problem of {certain_people} of {len(release)} people is certain.",
                diverse == 1 and certain_people > 0,
            ),
        ),
        grids=(Grid("links", "Whom the external table links to Figure 2", frame_of(rows)),),
        remarks=(
            (
                "'Confidence 1/k' bounds linking to a row, not to a value: t3 and t4 are both hypertension, t10 and "
                "t11 both chest pain."
            ),
        ),
    )


def similarity(setting: Setting) -> Findings:
    """k, l and t of the 3-diverse table, and what is learned about Bob."""
    del setting  # nine rows are quick enough
    table = diverse_table()
    bob = _build_table(
        [("Bob", "47678", "27")],
        {"name": "identifying", "zip": "quasi_identifying", "age": "quasi_identifying"},
        {},
    )
    anonymity_measures = anonymity(table)
    own_result: dict[str, Any] = {
        "k": anonymity_measures["k"],
        "distinct l, salary": anonymity_measures["distinct_l"]["salary"],
        "distinct l, disease": anonymity_measures["distinct_l"]["disease"],
        "t of salary, ordered": anonymity_measures["t_ordered"]["salary"],
        "t of salary, equal": anonymity_measures["t_equal"]["salary"],
        "t of disease, equal": anonymity_measures["t_equal"]["disease"],
    }
    golden = (3, 3, 3, 0.375, 2 / 3, 4 / 9)
    rows = [
        {"what": measure, "independent_count": round(float(golden_value), 4), "ours": round(float(our_value), 4)}
        for (measure, our_value), golden_value in zip(own_result.items(), golden, strict=True)
    ]
    salaries = {width: Similarity(column="salary", width=width).draw_conclusions(table, bob) for width in WIDTHS}
    disease = Similarity(column="disease", groups=STOMACH).draw_conclusions(table, bob)
    same_count = sum(row["independent_count"] == row["ours"] for row in rows)
    certain_people, least = (
        count_homogeneous_people(table, table, ("disease",)),
        min(anonymity_measures["distinct_l"].values()),
    )
    return Findings(
        statements=(
            Statement("The table is 3-diverse.", f"Distinct l = {least}.", least == 3),
            require_all(
                "how narrow a range of salaries counts as learned",
                {
                    f"{width:.0%} of all salaries' range": Statement(
                        "Bob's salary is in [20k, 40k], which is low.", _span(salary), salary == [(20.0, 40.0)]
                    )
                    for width, salary in salaries.items()
                },
            ),
            Statement("Bob has some stomach-related disease.", f"{disease[0]}.", disease == ["stomach"]),
            Statement(
                "k, l and t of the table.",
                f"{same_count} of {len(rows)} the same.",
                same_count == len(rows),
                source="independent count",
            ),
        ),
        grids=(Grid("models", "What the table reaches", frame_of(rows), _DISTANCES),),
        remarks=(
            (
                f"The disease itself is learned for {certain_people} of {len(table)} people. The meaning leaks, which "
                "is why the slides go on to t-closeness."
            ),
        ),
    )


_DISTANCES = (
    "The slides print no t. Ordered: how far salaries must be moved along their order; equal: which share of people "
    "must change, whatever to."
)


def _span(spans: list[Any]) -> str:
    return f"[{spans[0][0]:g}k, {spans[0][1]:g}k]." if isinstance(spans[0], tuple) else "Nothing is learned."
