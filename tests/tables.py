# SPDX-License-Identifier: MIT
"""Small tables for many tests: those of papers, and hypothesis strategies for random ones."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
from hypothesis import strategies as st

from sfumato.table import Table
from tests.brute import HierarchyRows, Rows

HOSPITAL = {
    "name": ["Andre", "Beth", "Carol", "Dan", "Ellen", "Eric"],
    "dob": ["1/21/76", "4/13/86", "2/28/76", "1/21/76", "4/13/86", "2/28/76"],
    "sex": ["Male", "Female", "Male", "Male", "Female", "Female"],
    "zip": ["53715", "53715", "53703", "53703", "53706", "53706"],
    "disease": ["Heart Disease", "Hepatitis", "Brochitis", "Broken Arm", "Flu", "Hang Nail"],
}
HOSPITAL_ROLES = {
    "name": "identifying",
    "dob": "quasi_identifying",
    "sex": "quasi_identifying",
    "zip": "quasi_identifying",
    "disease": "sensitive",
}
HOSPITAL_HIERARCHIES = {
    "dob": [[day, "*"] for day in ("1/21/76", "4/13/86", "2/28/76")],
    "sex": [["Male", "Person"], ["Female", "Person"]],
    "zip": [[code, f"{code[:4]}*", f"{code[:3]}**"] for code in ("53715", "53703", "53706")],
}


def hospital() -> Table:
    """Giannotti et al. (2009), the hospital patients, with hierarchies of ours."""
    return Table.of(HOSPITAL, HOSPITAL_ROLES, HOSPITAL_HIERARCHIES)


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


def figure_2() -> Table:
    """Giannotti et al. (2009), Figure 2: a 2-anonymous release, with ZIP generalized to four digits."""
    frame = pl.DataFrame(FIGURE_2, schema=["race", "birth", "gender", "zip", "problem"], orient="row")
    roles = dict.fromkeys(("race", "birth", "gender", "zip"), "quasi_identifying") | {"problem": "sensitive"}
    zips = ["02135", "02141", "02174", "02237", "55410", "90210"]
    return Table.of(frame, roles, {"zip": [[code, f"{code[:4]}*"] for code in zips]})


def voters() -> Table:
    """Giannotti et al. (2009): the external table beside Figure 2."""
    frame = pl.DataFrame(VOTERS, schema=["name", "birth", "gender", "zip", "race"], orient="row")
    return Table.of(
        frame, dict.fromkeys(("birth", "gender", "zip", "race"), "quasi_identifying") | {"name": "identifying"}
    )


@dataclass(frozen=True)
class Small:
    """A random small table: rows of text cells, and a hierarchy a column."""

    rows: Rows
    hierarchies: list[HierarchyRows]

    def table(self, missing: str = "own_value") -> Table:
        names = [f"q{i}" for i in range(len(self.hierarchies))]
        data = {name: pl.Series([row[i] for row in self.rows], dtype=pl.String) for i, name in enumerate(names)}
        return Table.of(
            data | {"s": pl.Series([f"s{i % 3}" for i in range(len(self.rows))])},
            dict.fromkeys(names, "quasi_identifying") | {"s": "sensitive"},
            dict(zip(names, self.hierarchies, strict=True)),
            missing,
        )


@st.composite
def hierarchies(draw: st.DrawFn) -> HierarchyRows:
    """A nested hierarchy of a few leaves; with or without a single label on top."""
    leaves = draw(st.integers(1, 5))
    labels = [[f"v{i}"] for i in range(leaves)]
    groups = list(range(leaves))
    for level in range(1, draw(st.integers(0, 3)) + 1):
        count = len(set(groups))
        merge = draw(st.lists(st.integers(0, max(count - 1, 0)), min_size=count, max_size=count))
        order = {group: merge[i] for i, group in enumerate(sorted(set(groups)))}
        groups = [order[group] for group in groups]
        for i, group in enumerate(groups):
            labels[i].append(f"g{level}.{group}")
    if draw(st.booleans()):
        labels = [[*row, "*"] for row in labels]
    return labels


@st.composite
def small_tables(draw: st.DrawFn, with_missing: bool = False) -> Small:
    """A table of up to 12 rows and 3 columns."""
    columns = draw(st.lists(hierarchies(), min_size=1, max_size=3))
    rows = []
    for _ in range(draw(st.integers(1, 12))):
        cells = []
        for hierarchy in columns:
            value = st.sampled_from([leaf[0] for leaf in hierarchy])
            cells.append(draw(st.none() | value if with_missing else value))
        rows.append(tuple(cells))
    return Small(rows, columns)


EMPLOYEES: list[tuple[str, ...]] = [
    ("Manager", "F", "Married", "Univ.", "SL-5"),
    ("Assistant", "F", "Unmarr.", "Coll.", "SL-3"),
    ("Manager", "F", "Married", "Ph.D.", "SL-5"),
    ("Assistant", "M", "Married", "Coll.", "SL-3"),
    ("Manager", "M", "Married", "Univ.", "SL-5"),
    ("Accountant", "F", "Unmarr.", "MBA", "SL-5"),
    ("Manager", "F", "Unmarr.", "Univ.", "SL-5"),
    ("Assistant", "F", "Married", "Univ.", "SL-3"),
    ("Manager", "F", "Married", "MBA", "SL-7"),
    ("Accountant", "M", "Married", "Univ.", "SL-4"),
]
"""Aggarwal et al. (2006), Table 1 in the order of Table 2, as printed: title, gender, status, education, salary."""

EMPLOYEES_PRIVATE = {(4, 3), (5, 1), (7, 4), (8, 2), (9, 1)}
"""What Table 2 hides, by row and column."""
