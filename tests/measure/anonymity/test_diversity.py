# SPDX-License-Identifier: MIT
"""Every model's achieved value: the seeds' numbers, and brute force over rows in exact fractions."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.hierarchies.hierarchy import Hierarchy
from sfumato.errors import DataError, PolicyError
from sfumato.measure.anonymity import diversity
from sfumato.measure.anonymity.anonymity_table import anonymity
from sfumato.measure.anonymity.class_tally import GroupedRows, count_key_values
from sfumato.measure.anonymity.closeness import t_equal, t_hierarchical, t_ordered
from sfumato.measure.anonymity.k_anonymity import k_anonymity, uniqueness
from sfumato.measure.anonymity.presence import delta_presence, k_map
from sfumato.measure.checks import CHECKS, Evidence
from sfumato.table import Table
from tests.brute import Cell, HierarchyRows, Row, Rows, generalized, matches
from tests.tables import Small, figure_2, hierarchies, hospital, small_tables

MEANINGS = ("own_value", "matches_any", "never_matches", "drop")
STARRED: tuple[Any, ...] = ("class", "suppressed")
STOMACH, LUNG = "stomach diseases", "respiratory infection"
DISEASES = [
    ("Gastric Ulcer", STOMACH, "digestive"),
    ("Gastritis", STOMACH, "digestive"),
    ("Stomach Cancer", STOMACH, "digestive"),
    ("Flu", LUNG, "respiratory"),
    ("Bronchitis", LUNG, "respiratory"),
    ("Pneumonia", LUNG, "respiratory"),
    ("Pulmonary Embolism", "vascular", "respiratory"),
]


def similarity() -> Table:
    """Giannotti et al. (2009): "a 3-diverse patient table", the one that the similarity attack breaks."""
    rows = [
        ("476**", "2*", 20, "Gastric Ulcer"), ("476**", "2*", 30, "Gastritis"), ("476**", "2*", 40, "Stomach Cancer"),
        ("4790*", ">=40", 50, "Gastritis"), ("4790*", ">=40", 100, "Flu"), ("4790*", ">=40", 70, "Bronchitis"),
        ("476**", "3*", 60, "Bronchitis"), ("476**", "3*", 80, "Pneumonia"), ("476**", "3*", 90, "Stomach Cancer"),
    ]  # fmt: skip
    roles = {"zip": "quasi_identifying", "age": "quasi_identifying", "salary": "sensitive", "disease": "sensitive"}
    frame = pl.DataFrame(rows, schema=list(roles), orient="row")
    return Table.of(frame, roles, {"disease": [(*row, "disease") for row in DISEASES]})


def of_values(groups: Sequence[Sequence[Any]], **other: Any) -> Table:
    """A table with one quasi-identifying number a group, and the groups' values as a sensitive column."""
    data = {
        "q": [number for number, group in enumerate(groups) for _ in group],
        "s": [v for group in groups for v in group],
    }
    return Table.of(data, {"q": "quasi_identifying", "s": "sensitive"}, **other)


# ---- golden


def test_similarity_table_of_the_seed() -> None:
    """By hand: k=3, distinct l=3, ordered t(Salary) 0.375, equal 2/3 and 4/9."""
    measures = anonymity(similarity())
    assert measures["k"] == 3
    assert measures["distinct_l"] == {"salary": 3, "disease": 3}
    assert measures["t_ordered"]["salary"] == 0.375
    assert measures["t_equal"] == {"salary": round(2 / 3, 12), "disease": round(4 / 9, 12)}
    assert measures["entropy_l"]["disease"] == 3.0
    assert measures["recursive_c"]["disease"] == 0.5
    assert measures["alpha"]["disease"] == round(1 / 3, 12)
    assert measures["delta_disclosure"]["disease"] == math.inf
    assert measures["beta"]["salary"] == 2.0  # a salary of one in nine is one in three of its class


def test_similarity_table_by_the_disease_hierarchy() -> None:
    """By hand, H = 3: the stomach class has (4/9 + 4/9 + 4/9)/3; all of its mass must cross the root."""
    measures = anonymity(similarity())
    assert set(measures["t_hierarchical"]) == {"disease"}
    assert measures["t_hierarchical"]["disease"] == round(4 / 9, 12)
    assert t_hierarchical(similarity(), "disease") == measures["disease"]["t_hierarchical"]


def test_ordered_distance_of_li_et_al() -> None:
    """Li, Li, Venkatasubramanian 2007, 4.1: D[{3k,4k,5k}, Q] = 0.375 and D[{6k,8k,11k}, Q] = 0.167."""
    near_table = of_values([[6, 8, 11], [3, 4, 5, 7, 9, 10]])
    far = of_values([[3, 4, 5], [6, 8, 11, 7, 9, 10]])
    assert t_ordered(far, "s") == 0.375
    assert t_ordered(near_table, "s") == round(1 / 6, 12)


@pytest.mark.parametrize(
    ("other", "distance"), [("Bronchitis", 1 / 3), ("Pulmonary Embolism", 2 / 3), ("Gastritis", 1)]
)
def test_hierarchical_distances_of_li_et_al(other: str, distance: float) -> None:
    """Li et al. 2007, 4.2: Flu is 1/3 from Bronchitis, 2/3 from Pulmonary embolism, 1 from a stomach disease."""
    tree = {"s": [(*row, "disease") for row in DISEASES]}
    assert t_hierarchical(of_values([["Flu"], [other]], hierarchies=tree), "s") == round(distance / 2, 12)


def test_figure_2_is_not_diverse() -> None:
    """By hand: Figure 2 has distinct l = 1."""
    measures = anonymity(figure_2())["problem"]
    assert measures["distinct_l"] == 1
    assert measures["entropy_l"] == 1.0
    assert measures["recursive_c"] == math.inf
    assert measures["alpha"] == 1.0
    assert "t_hierarchical" not in measures


def test_enhanced_beta_is_infinite_where_its_own_bound_breaks() -> None:
    """q = 1/2 allows a gain of −ln(1/2) = 0.69; a share of 0.9 gains 0.8, one of 0.8 gains 0.6."""
    assert diversity.enhanced_beta(of_values([["a"] * 9 + ["b"], ["b"] * 9 + ["a"]]), "s") == math.inf
    assert diversity.enhanced_beta(of_values([["a"] * 4 + ["b"], ["b"] * 4 + ["a"]]), "s") == 0.6
    assert diversity.basic_beta(of_values([["a"] * 9 + ["b"], ["b"] * 9 + ["a"]]), "s") == 0.8


def test_delta_disclosure_is_the_largest_logarithm() -> None:
    assert diversity.delta_disclosure(of_values([["a", "a", "a", "b"], ["a", "b", "b", "b"]]), "s") == round(
        math.log(2), 12
    )
    assert diversity.delta_disclosure(of_values([["a", "b"], ["b", "a"]]), "s") == 0.0


@pytest.mark.parametrize("count", [2, 3, 7, 49, 120])
def test_equally_frequent_values_achieve_their_number(count: int) -> None:
    """Entropy l-diversity is met exactly: a rounding error below l would break a claim that holds."""
    assert diversity.entropy_l(of_values([list(range(count)) * 3]), "s") == count


def test_recursive_diversity_takes_any_l() -> None:
    table = of_values([["a"] * 5 + ["b"] * 3 + ["c"] * 2])
    assert diversity.recursive_c(table, "s", 1) == 0.5
    assert diversity.recursive_c(table, "s", 2) == 1.0
    assert diversity.recursive_c(table, "s", 3) == 2.5
    assert diversity.recursive_c(table, "s", 4) == math.inf


def test_suppressed_rows_count_in_the_table_and_in_no_class() -> None:
    table = Table.of(
        {"q": ["a", "a", "*", "*"], "s": ["x", "y", "z", "z"]}, {"q": "quasi_identifying", "s": "sensitive"}
    )
    measures = anonymity(table, starred_rows="suppressed")
    assert measures["t_equal"]["s"] == 0.5  # x and y gain a quarter each
    assert measures["distinct_l"]["s"] == 2
    assert anonymity(table)["distinct_l"]["s"] == 1
    assert measures["k"] == 2 and measures["uniqueness"] == 0.0


def test_nobody_published_achieves_nothing() -> None:
    table = Table.of(
        {"q": ["*", "*"], "s": ["x", "y"]},
        {"q": "quasi_identifying", "s": "sensitive"},
        {"s": [["x", "*"], ["y", "*"]]},
    )
    measures = anonymity(table, table, starred_rows="suppressed")
    assert measures["k"] == 0 and measures["k_map"] == 0 and measures["delta_presence"] == (0.0, 0.0)
    assert set(measures["s"].values()) == {0}


def test_hospital_has_a_class_each() -> None:
    measures = anonymity(hospital())
    assert measures["k"] == 1 and measures["uniqueness"] == 1.0
    assert measures["t_equal"]["disease"] == round(5 / 6, 12)


# ---- brute force


@dataclass(frozen=True)
class Case:
    """A small table with a sensitive column of its own, and what the adversary sees of it."""

    rows: Rows
    values: list[Any]
    hierarchy: HierarchyRows | None
    missing: str
    starred: str

    def table(self) -> Table:
        names = [f"q{i}" for i in range(len(self.rows[0]))]
        data: dict[str, Any] = {
            name: pl.Series([row[i] for row in self.rows], dtype=pl.String) for i, name in enumerate(names)
        }
        kind = pl.Float64 if any(isinstance(v, float) for v in self.values) else pl.String
        data["s"] = pl.Series(self.values, dtype=kind)
        roles = dict.fromkeys(names, "quasi_identifying") | {"s": "sensitive"}
        return Table.of(data, roles, {"s": self.hierarchy} if self.hierarchy else None, self.missing)

    def list_counted_rows(self) -> list[int]:
        return [i for i, row in enumerate(self.rows) if not (self.missing == "drop" and None in row)]

    def placed(self) -> list[int]:
        out = self.starred == "suppressed"
        return [i for i in self.list_counted_rows() if not (out and all(cell == "*" for cell in self.rows[i]))]

    def classes(self) -> list[Counter[Any]]:
        """The values among which each placed row is hidden."""
        rows = self.placed()
        return [
            Counter(self.values[j] for j in rows if j == i or matches(self.rows[i], self.rows[j], self.missing))
            for i in rows
        ]

    def overall(self) -> Counter[Any]:
        return Counter(self.values[i] for i in self.list_counted_rows())


@st.composite
def cases(draw: st.DrawFn) -> Case:
    small = draw(small_tables(with_missing=True))
    hierarchy = draw(hierarchies())
    kind = draw(st.sampled_from(["tree", "text", "number"]))
    if kind == "number":
        value: st.SearchStrategy[Any] = st.sampled_from([2.0, 10.0, -1.5, 3.0])
    else:
        value = st.sampled_from([row[0] for row in hierarchy])
    values = draw(st.lists(st.none() | value, min_size=len(small.rows), max_size=len(small.rows)))
    starred = draw(st.lists(st.booleans(), min_size=len(small.rows), max_size=len(small.rows)))
    rows: Rows = [("*",) * len(row) if out else row for row, out in zip(small.rows, starred, strict=True)]
    order = draw(st.permutations(hierarchy))
    return Case(
        rows,
        values,
        order if kind == "tree" else None,
        draw(st.sampled_from(MEANINGS)),
        draw(st.sampled_from(STARRED)),
    )


def shares(counts: Counter[Any], value: Any) -> Fraction:
    return Fraction(counts[value], counts.total())


def brute_recursive(class_counts: Counter[Any], l: int) -> float:
    counts = sorted(class_counts.values(), reverse=True)
    return float(Fraction(counts[0], sum(counts[l - 1 :]))) if len(counts) >= l else math.inf


def brute_enhanced(class_counts: Counter[Any], whole: Counter[Any]) -> float:
    worst = 0.0
    for value in class_counts:
        p, q = shares(class_counts, value), shares(whole, value)
        gain = float((p - q) / q)
        if p > q:
            worst = max(worst, math.inf if gain > -math.log(q) + 1e-12 else gain)
    return worst


def brute_delta(class_counts: Counter[Any], whole: Counter[Any]) -> float:
    if set(class_counts) != set(whole):
        return math.inf
    return max(abs(math.log(shares(class_counts, value) / shares(whole, value))) for value in whole)


def brute_ordered(class_counts: Counter[Any], whole: Counter[Any], hierarchy: HierarchyRows | None) -> float:
    leaves = [row[0] for row in hierarchy or []]
    known_values = sorted((v for v in whole if v is not None), key=lambda v: leaves.index(v) if leaves else v)
    values = [*known_values, *([None] if None in whole else [])]
    if len(values) < 2:
        return 0.0
    gaps = [shares(class_counts, value) - shares(whole, value) for value in values]
    return float(sum(abs(sum(gaps[: i + 1], Fraction())) for i in range(len(values))) / (len(values) - 1))


def tree(hierarchy: HierarchyRows) -> dict[Any, tuple[str, ...]]:
    """The way of each leaf up to one root, and of a missing value, which joins at the first single label."""
    ways = {row[0]: tuple(row) for row in hierarchy}
    height = len(hierarchy[0]) - 1
    if height == 0 or len({row[-1] for row in hierarchy}) > 1:
        ways = {leaf: (*way, "(root)") for leaf, way in ways.items()}
    sample_path = next(iter(ways.values()))
    first = next(i for i in range(1, len(sample_path)) if len({way[i] for way in ways.values()}) == 1)
    return ways | {None: ("(missing)",) * first + sample_path[first:]}


def brute_hierarchical(class_counts: Counter[Any], whole: Counter[Any], hierarchy: HierarchyRows) -> float:
    """Li et al. 2007, 4.2: the cost of every node, min(pos_extra, neg_extra) · height / H."""
    ways = tree(hierarchy)
    height = len(ways[None]) - 1
    gap = {value: shares(class_counts, value) - shares(whole, value) for value in whole}
    cost = Fraction()
    for level in range(1, height + 1):
        for node in {way[level] for way in ways.values()}:
            child_gaps: dict[str, Fraction] = {}
            for value, way in ways.items():
                if way[level] == node:
                    child_gaps[way[level - 1]] = child_gaps.get(way[level - 1], Fraction()) + gap.get(value, Fraction())
            more = sum((extra for extra in child_gaps.values() if extra > 0), Fraction())
            less = sum((-extra for extra in child_gaps.values() if extra < 0), Fraction())
            cost += Fraction(level, height) * min(more, less)
    return float(cost)


def brute(case: Case) -> dict[str, float]:
    classes, whole = case.classes(), case.overall()
    entropies = [
        -sum(float(shares(class_counts, v)) * math.log(shares(class_counts, v)) for v in class_counts)
        for class_counts in classes
    ]
    measures: dict[str, float] = {
        "distinct_l": min((len(class_counts) for class_counts in classes), default=0),
        "entropy_l": math.exp(min(entropies)) if entropies else 0.0,
    }
    worst: dict[str, Callable[[Counter[Any]], float]] = {
        "recursive_c": lambda class_counts: brute_recursive(class_counts, 2),
        "alpha": lambda class_counts: float(Fraction(max(class_counts.values()), class_counts.total())),
        "t_equal": lambda class_counts: float(sum(abs(shares(class_counts, v) - shares(whole, v)) for v in whole) / 2),
        "t_ordered": lambda class_counts: brute_ordered(class_counts, whole, case.hierarchy),
        "beta": lambda class_counts: max(
            0.0, *(float(shares(class_counts, v) / shares(whole, v) - 1) for v in class_counts)
        ),
        "enhanced_beta": lambda class_counts: brute_enhanced(class_counts, whole),
        "delta_disclosure": lambda class_counts: brute_delta(class_counts, whole),
    }
    if case.hierarchy:
        ways = case.hierarchy
        worst["t_hierarchical"] = lambda class_counts: brute_hierarchical(class_counts, whole, ways)
    return measures | {
        model: max((measure(class_counts) for class_counts in classes), default=0.0) for model, measure in worst.items()
    }


@settings(max_examples=200, deadline=None)
@given(cases())
def test_every_model_agrees_with_brute_force(case: Case) -> None:
    table, expected = case.table(), brute(case)
    starred: Any = case.starred
    measures = anonymity(table, starred_rows=starred)
    assert dict(measures["s"]) == pytest.approx(expected, abs=2e-12)
    assert measures["k"] == min((class_counts.total() for class_counts in case.classes()), default=0)
    assert measures["k"] == k_anonymity(table, None, starred)
    if starred == "class":
        assert measures["uniqueness"] == round(uniqueness(table), 12)


@settings(max_examples=40, deadline=None)
@given(cases())
def test_checks_give_what_the_measures_give(case: Case) -> None:
    table, expected = case.table(), brute(case)
    checked = expected.keys() & CHECKS.keys()
    assert len(checked) >= 9
    for model in checked:
        given_l = {"l": 2} if model == "recursive_c" else {}
        arguments = {"column": "s", "starred_rows": case.starred, **given_l}
        assert CHECKS[model](Evidence(table), arguments) == pytest.approx(expected[model], abs=2e-12)


@settings(max_examples=60, deadline=None)
@given(cases())
def test_a_verifier_needs_only_the_file_and_the_claim(case: Case) -> None:
    """Without the hierarchy in the table, `order` and `parents` tell the measure what it needs."""
    table = case.table()
    if case.hierarchy is None:
        return
    bare = Table(table.frame, table.roles, {}, table.missing)
    arguments = {"column": "s", "starred_rows": case.starred}
    parents = tuple("\x1f".join(row) for row in case.hierarchy)
    expected = brute(case)
    tree_distance = CHECKS["t_hierarchical"](Evidence(bare), {**arguments, "parents": parents})
    assert tree_distance == pytest.approx(expected["t_hierarchical"], abs=2e-12)
    for extra in ({"parents": parents}, {"order": tuple(row[0] for row in case.hierarchy)}):
        ordered = CHECKS["t_ordered"](Evidence(bare), {**arguments, **extra})
        assert ordered == pytest.approx(expected["t_ordered"], abs=2e-12)


@settings(max_examples=100, deadline=None)
@given(cases(), st.integers(1, 4))
def test_recursive_diversity_agrees_for_every_l(case: Case, l: int) -> None:
    expected = max((brute_recursive(class_counts, l) for class_counts in case.classes()), default=0.0)
    starred: Any = case.starred
    assert diversity.recursive_c(case.table(), "s", l, starred_rows=starred) == pytest.approx(expected, abs=2e-12)


def test_tree_distance_is_the_cost_of_a_transport() -> None:
    """The paper's formula is itself checked: linear programming over all ways to move the mass."""
    from scipy.optimize import linprog

    chance = np.random.default_rng(5)
    rows = [("a", "x", "n"), ("b", "x", "n"), ("c", "y", "n"), ("d", "z", "m"), ("e", "z", "m")]
    ways = [(*row, "*") for row in rows]
    distances = [[next(i for i in range(4) if way[i] == two[i]) / 3 for two in ways] for way in ways]
    for _ in range(5):
        groups = [[rows[i][0] for i in chance.integers(0, 5, 6)] for _ in range(3)]
        table = of_values(groups, hierarchies={"s": ways})
        whole = np.array([sum(group.count(row[0]) for group in groups) / 18 for row in rows])
        costs = []
        for group in groups:
            share = np.array([group.count(row[0]) / 6 for row in rows])
            sums = np.vstack([np.kron(np.eye(5), np.ones(5)), np.kron(np.ones(5), np.eye(5))])
            moved = linprog(np.ravel(distances), A_eq=sums, b_eq=np.concatenate([share, whole]))
            costs.append(float(moved.fun or 0.0))
        assert t_hierarchical(table, "s") == pytest.approx(max(costs), abs=1e-9)


# ---- population


def covers(label: Cell, cell: Cell, hierarchy: HierarchyRows, missing: str) -> bool:
    """Whether an original cell could have been published as this label."""
    if label == "*" or (missing == "matches_any" and (label is None or cell is None)):
        return True
    if label is None or cell is None:
        levels = range(1, len(hierarchy[0]))
        if label is not None and any({row[level] for row in hierarchy} == {label} for level in levels):
            return True
        return missing == "own_value" and label is None and cell is None
    return any(row[0] == cell and label in row for row in hierarchy)


@st.composite
def samples(draw: st.DrawFn) -> tuple[Small, Rows, str, str]:
    """A population, and some of its rows published, each at levels of its own."""
    population = draw(small_tables(with_missing=True))
    published: Rows = []
    for row in population.rows:
        if draw(st.booleans()):
            levels = [draw(st.integers(0, len(hierarchy[0]) - 1)) for hierarchy in population.hierarchies]
            cells = generalized([row], population.hierarchies, levels)[0]
            published.append(("*",) * len(row) if draw(st.integers(0, 5)) == 0 else cells)
    return population, published, draw(st.sampled_from(MEANINGS)), draw(st.sampled_from(STARRED))


def brute_presence(
    population: Small, published: Rows, missing: str, starred: str
) -> tuple[list[int], list[float], bool]:
    """People for each published row, the share that is in the release, and whether someone fits no row."""
    rows = [row for row in published if not (missing == "drop" and None in row)]
    rows = [row for row in rows if not (starred == "suppressed" and all(cell == "*" for cell in row))]
    people = [row for row in population.rows if not (missing == "drop" and None in row)]

    def fits(row: Row, person: Row) -> bool:
        return all(
            covers(label, cell, hierarchy, missing)
            for label, cell, hierarchy in zip(row, person, population.hierarchies, strict=True)
        )

    lonely_flags = [missing == "never_matches" and None in row for row in rows]
    counts = [
        1 if lonely else sum(fits(row, person) for person in people)
        for row, lonely in zip(rows, lonely_flags, strict=True)
    ]
    crowds = [1 + sum(matches(row, o, missing) for j, o in enumerate(rows) if j != i) for i, row in enumerate(rows)]
    crowd_rows = [row for row, lonely in zip(rows, lonely_flags, strict=True) if not lonely]
    has_outsider = any(not any(fits(row, person) for row in crowd_rows) for person in people)
    part = [min(1.0, crowd / count) if count else 1.0 for crowd, count in zip(crowds, counts, strict=True)]
    return counts, part, has_outsider


@settings(max_examples=100, deadline=None)
@given(samples())
def test_population_models_agree_with_brute_force(sample: tuple[Small, Rows, str, str]) -> None:
    population, published, missing, starred = sample
    population_table = population.table(missing)
    data = {
        name: pl.Series([row[i] for row in published], dtype=pl.String)
        for i, name in enumerate(population_table.quasi_identifying)
    }
    table = population_table.replace_frame(pl.DataFrame(data))
    counts, part, has_outsider = brute_presence(population, published, missing, starred)
    rows: Any = starred
    assert k_map(table, population_table, starred_rows=rows) == min(counts, default=0)
    expected = (0.0 if has_outsider else min(part, default=0.0), max(part, default=0.0))
    assert delta_presence(table, population_table, starred_rows=rows) == pytest.approx(expected, abs=2e-12)
    measures = anonymity(table, population_table, starred_rows=rows)
    assert measures["k_map"] == min(counts, default=0)
    assert measures["delta_presence"] == delta_presence(table, population_table, starred_rows=rows)


def test_population_of_numbers_and_prefixes() -> None:
    """By hand: two of three people of 1305* are published, one of two of 148**; one of whom fits nothing."""
    zips = {"zip": [[code, code[:4] + "*", code[:3] + "**", "*"] for code in ("13051", "13052", "14801", "14811")]}
    roles = {"zip": "quasi_identifying", "born": "quasi_identifying"}
    people = Table.of(
        {"zip": ["13051", "13051", "13052", "14801", "14811", "13052"], "born": [1970, 1970, 1970, 1980, 1980, 1999]},
        roles,
        zips,
    )
    out = Table.of({"zip": ["1305*", "1305*", "148**"], "born": ["1970", "1970", "1980"]}, roles)
    assert k_map(out, people) == 2
    assert delta_presence(out, people) == (0.0, round(2 / 3, 12))
    assert delta_presence(out, people.replace_frame(people.frame[:5])) == (0.5, round(2 / 3, 12))


# ---- the answer, and bad input


def test_the_answer_is_a_mapping_by_model_and_by_column() -> None:
    measures = anonymity(similarity(), similarity())
    assert list(measures) == [
        "k", "uniqueness", "distinct_l", "entropy_l", "recursive_c", "alpha", "t_equal", "beta", "enhanced_beta",
        "delta_disclosure", "t_ordered", "t_hierarchical", "k_map", "delta_presence",
    ]  # fmt: skip
    assert len(measures) == 14 and "salary" not in list(measures)
    assert (
        measures["disease"]["distinct_l"] == measures["distinct_l"]["disease"] == measures.of("disease")["distinct_l"]
    )
    assert "t_hierarchical" not in measures["salary"]
    assert measures == measures.to_dict()
    assert json.loads(json.dumps(measures.to_dict()))["k"] == 3
    with pytest.raises(KeyError):
        measures["zip"]
    with pytest.raises(TypeError):
        measures["distinct_l"]["disease"] = 9
    with pytest.raises(DataError, match='"zip" is not a sensitive column'):
        measures.of("zip")


def test_the_input_is_not_changed() -> None:
    table = similarity()
    original_frame = table.frame.clone()
    anonymity(table, table)
    assert table.frame.equals(original_frame)


def test_bad_input_is_named() -> None:
    table = of_values([["a", "b"]])
    with pytest.raises(DataError, match='no column "disease"'):
        diversity.distinct_l(table, "disease")
    with pytest.raises(DataError, match='"s" has no hierarchy'):
        t_hierarchical(table, "s")
    with pytest.raises(DataError, match=r'1 value, in 1 row, has no row in the order of "s"'):
        t_ordered(table, "s", ["a"])
    with pytest.raises(PolicyError, match="whole number"):
        diversity.recursive_c(table, "s", 0)
    with pytest.raises(DataError, match="no column is quasi_identifying"):
        anonymity(Table.of({"s": ["a"]}, {"s": "sensitive"}))
    with pytest.raises(DataError, match='the population lacks the quasi-identifying "q"'):
        k_map(table, Table.of({"z": ["a"]}, {"z": "quasi_identifying"}))
    with pytest.raises(KeyError):
        CHECKS["recursive_c"](Evidence(table), {"column": "s"})


def test_an_order_may_name_values_that_are_not_there() -> None:
    """Ranks are those of the values that the table has."""
    table = of_values([["low", "mid"], ["mid", "high"]])
    order = ("lowest", "low", "mid", "higher", "high")
    assert t_ordered(table, "s", order) == t_ordered(table, "s", ("low", "mid", "high")) == 0.25
    assert t_ordered(table, "s") != t_ordered(of_values([["high", "mid"], ["low", "low"]]), "s", order)


def test_many_values_and_wide_keys_are_counted_alike() -> None:
    """The paths for large keys, many pairs and large sums give what the small ones give."""
    chance = np.random.default_rng(3)
    key, values = chance.integers(0, 50, 4000), chance.integers(0, 40, 4000)
    narrow = count_key_values(key, 50, values, 40)
    wide = count_key_values(key * (1 << 50), 1 << 60, values, 40)
    middle = count_key_values(key * (1 << 30), 1 << 40, values, 40)
    assert all(np.array_equal(a, b) for a, b in zip(narrow[1:], wide[1:], strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(narrow[1:], middle[1:], strict=True))


def test_distances_of_large_counts_do_not_overflow() -> None:
    """Counts so large that products leave 64 bits are summed in floats, to the same result."""
    from dataclasses import replace

    from sfumato.measure.anonymity.closeness import measure_t_equal, measure_t_ordered

    small = GroupedRows.of(of_values([[1, 2, 2, 5], [5, 7, 9, 1, 1]])).tally("s")
    large = replace(small, counts=small.counts * 300_000_000, overall=small.overall * 300_000_000)
    assert measure_t_ordered(large, None) == measure_t_ordered(small, None)
    assert measure_t_equal(large) == measure_t_equal(small)


def test_adult_agrees_with_pycanon(shared_data: Path) -> None:
    """ARX's Adult as it stands: what pycanon 1.3.5's own functions give, run by hand."""
    eight = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
    roles = dict.fromkeys(eight, "quasi_identifying") | {"salary-class": "sensitive"}
    measures = anonymity(Table.read(shared_data / "arx-adult/adult.csv", roles, separator=";"))
    assert (measures["k"], measures["distinct_l"]["salary-class"]) == (1, 1)
    assert measures["t_equal"]["salary-class"] == pytest.approx(0.7510775147536636, abs=2e-12)


def test_one_value_alone_is_no_distance() -> None:
    table = of_values([["a", "a"], ["a"]])
    assert t_equal(table, "s") == t_ordered(table, "s") == 0.0
    assert t_hierarchical(table, "s", Hierarchy.of([("a",)])) == 0.0
