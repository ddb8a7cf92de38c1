# SPDX-License-Identifier: MIT
"""Partition: the paper's figure, the guarantees by brute force, and what it refuses."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import accumulate
from math import isclose, log
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.arrays import Flags, Ints
from sfumato.data.hierarchies.hierarchy import Hierarchy, spell_cells
from sfumato.data.hierarchies.label_ranges import parse_range
from sfumato.data.hierarchies.published_labels import Domain
from sfumato.errors import DataError, ImpossibleRelease, PolicyError, SfumatoError
from sfumato.protect.anonymity.models.class_models import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    KAnonymity,
    LDiversity,
    TCloseness,
)
from sfumato.protect.anonymity.models.model import PrivacyModel
from sfumato.protect.anonymity.models.model_judge import ModelJudge
from sfumato.protect.anonymity.models.population_models import KMap
from sfumato.protect.anonymity.models.sensitive_values import SensitiveColumn
from sfumato.protect.anonymity.participants import keep_participants_leaves
from sfumato.protect.anonymity.partition import Partition
from sfumato.protect.anonymity.parts import k_member
from sfumato.protect.anonymity.parts.best_cuts import GroupJudge, SizeJudge
from sfumato.protect.anonymity.parts.k_member import _choose_hosts, choose_block_size
from sfumato.protect.anonymity.search.node_classes import NodeClasses
from sfumato.release import Release
from sfumato.runtime.progress import listen_to_progress
from sfumato.table import Table
from tests.tables import hierarchies

EIGHT = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")


def patients() -> Table:
    """LeFevre, DeWitt, Ramakrishnan 2006, Figure 2."""
    return Table.of(
        {
            "age": [25, 25, 26, 27, 27, 28],
            "sex": ["Male", "Female", "Male", "Male", "Female", "Male"],
            "zip": [53711, 53712, 53711, 53710, 53712, 53711],
            "disease": ["Flu", "Hepatitis", "Brochitis", "Broken Arm", "AIDS", "Hang Nail"],
        },
        dict.fromkeys(("age", "sex", "zip"), "quasi_identifying") | {"disease": "sensitive"},
    )


@pytest.mark.parametrize("refine", [False, True])
def test_the_papers_figure(refine: bool) -> None:
    """Figure 5 of the paper: the multidimensional 2-anonymization of its patients."""
    release = Partition(models=(KAnonymity(k=2),), refine=refine).protect(patients())
    assert release.data.frame.rows() == [
        ("[25, 26]", "Male", "53711", "Flu"),
        ("[25, 27]", "Female", "53712", "Hepatitis"),
        ("[25, 26]", "Male", "53711", "Brochitis"),
        ("[27, 28]", "Male", "[53710, 53711]", "Broken Arm"),
        ("[25, 27]", "Female", "53712", "AIDS"),
        ("[27, 28]", "Male", "[53710, 53711]", "Hang Nail"),
    ]
    # By hand: ages lose 1/3, 2/3, 1/3 of 3 steps (2 rows each); ZIPs 1/2 in two rows; 18 cells.
    assert isclose(release.losses["loss"], (2 * (1 + 2 + 1) / 3 + 2 / 2) / 18)
    assert release.losses["discernibility"] == 12
    assert release.losses["average_class_size"] == 2
    assert release.details["classes"] == 3


def test_relaxed_cuts_between_equal_values() -> None:
    """By hand: six rows of one value and two others; no strict cut leaves four on both sides."""
    table = Table.of(
        {"a": [1, 1, 1, 1, 1, 1, 2, 3], "s": list("uvwxuvwx")}, {"a": "quasi_identifying", "s": "sensitive"}
    )
    strict, relaxed = (
        Partition(models=(KAnonymity(k=4),), relaxed=relaxed, refine=False).protect(table).data.frame["a"].to_list()
        for relaxed in (False, True)
    )
    assert strict == ["[1, 3]"] * 8
    assert relaxed == ["1"] * 4 + ["[1, 3]"] * 4


def test_cuts_follow_the_branches_of_a_hierarchy() -> None:
    """By hand: the median lies inside the branch B; the cut is made between the branches all the same."""
    rows = [[leaf, leaf[0].upper(), "*"] for leaf in ("a1", "b1", "b2", "b3", "b4", "a2")]
    values = ["a1", "b1", "b2", "b3", "b1", "b4", "a2"]
    table = Table.of({"v": values}, {"v": "quasi_identifying"}, {"v": rows})
    release = Partition(models=(KAnonymity(k=2),), refine=False, publish="hierarchy").protect(table)
    assert release.data.frame["v"].to_list() == ["A", "b1", "B", "B", "b1", "B", "A"]
    sets = Partition(models=(KAnonymity(k=2),), refine=False).protect(table)
    three = "{b2, b3, b4}"
    assert sets.data.frame["v"].to_list() == ["A", "b1", three, three, "b1", three, "A"]


def test_columns_without_a_hierarchy_become_sets_and_missing_cells_stay_apart() -> None:
    table = Table.of({"v": ["x, y", "x, y", "z", None, None]}, {"v": "quasi_identifying"})
    release = Partition(models=(KAnonymity(k=2),)).protect(table)
    assert release.data.frame["v"].to_list() == ["{x\\, y, z}"] * 3 + [None] * 2
    joint_release = Partition(models=(KAnonymity(k=3),)).protect(table)
    assert joint_release.data.frame["v"].to_list() == ["*"] * 5


MODELS: list[tuple[PrivacyModel, ...]] = [
    (KAnonymity(k=2),),
    (KAnonymity(k=3),),
    (KAnonymity(k=1),),
    (KAnonymity(k=2), LDiversity(l=2, column="s")),
    (LDiversity(l=1.5, column="s", kind="entropy"),),
    (LDiversity(l=2, column="s", kind="recursive", c=3),),
    (KAnonymity(k=2), TCloseness(t=0.4, column="s")),
    (TCloseness(t=0.3, column="s", distance="ordered"),),
    (AlphaKAnonymity(k=2, alpha=0.7, column="s"),),
    (BetaLikeness(beta=1.0, column="s"),),
    (DeltaDisclosure(delta=1.5, column="s"),),
]


@st.composite
def mixed_tables(draw: st.DrawFn) -> Table:
    """Up to 20 rows of numbers, text and values with a hierarchy, some of them missing."""
    rows = draw(st.integers(1, 20))
    tree = draw(hierarchies())

    def column(values: st.SearchStrategy[object], kind: object) -> pl.Series:
        cells = draw(st.lists(values | st.none() if draw(st.booleans()) else values, min_size=rows, max_size=rows))
        return pl.Series(cells, dtype=kind)  # type: ignore[arg-type]

    data = {
        "number": column(st.integers(-3, 6), pl.Int64),
        "real": column(st.sampled_from([0.5, 1.0, 1.5, 1e20]), pl.Float64),
        "text": column(st.sampled_from(["a", "b, c", "{a, b}", "1"]), pl.String),
        "leaf": column(st.sampled_from([row[0] for row in tree]), pl.String),
        "graded": column(st.integers(0, 5), pl.Int64),
        "s": pl.Series(draw(st.lists(st.sampled_from("xyz"), min_size=rows, max_size=rows))),
        "id": pl.Series(range(rows)),
    }
    used = draw(st.lists(st.sampled_from(["number", "real", "text", "leaf", "graded"]), min_size=1, unique=True))
    roles = {name: "quasi_identifying" if name in used else "insensitive" for name in data}
    graded = [[str(i), f"{i // 2 * 2}+", "low" if i < 4 else "high"] for i in range(6)]
    given_hierarchies = {"leaf": tree, "graded": graded}
    missing = draw(st.sampled_from(["own_value", "matches_any", "never_matches", "drop"]))
    return Table.of(data, roles | {"s": "sensitive", "id": "identifying"}, given_hierarchies, missing)


methods = st.builds(
    Partition,
    models=st.sampled_from(MODELS),
    relaxed=st.booleans(),
    publish=st.sampled_from(["ranges", "hierarchy"]),
    refine=st.booleans(),
)


def domains(table: Table) -> dict[str, Domain]:
    return {name: Domain.of(table.frame[name], table.hierarchies.get(name)) for name in table.quasi_identifying}


def assert_true(release: Release, table: Table) -> None:
    """Every published cell covers its original; a missing one stays missing or is published as nothing."""
    for name, domain in domains(table).items():
        before = spell_cells(table.frame[name][release.details["rows"]]).to_list()
        after = spell_cells(release.data.frame[name]).to_list()
        for cell, label in set(zip(before, after, strict=True)):
            if cell is None:
                assert label == "*" or (label is None and table.missing == "own_value")
            else:
                assert domain.spellings.index(cell) in domain.list_covered(label)


def published_tuples(release: Release) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = release.data.frame.select(release.data.quasi_identifying).rows()
    return rows


def accepts(model: PrivacyModel, values: list[str], all_values: list[str]) -> bool:  # noqa: PLR0911
    """A class by the book, in plain Python; nobody is no class."""
    if not values:
        return False
    counts, whole, size = Counter(values), Counter(all_values), len(values)
    shares = {value: Fraction(whole[value], len(all_values)) for value in sorted(whole)}
    gaps = [Fraction(counts[value], size) - share for value, share in shares.items()]
    match model:
        case KAnonymity():
            return size >= model.k
        case AlphaKAnonymity():
            return size >= model.k and max(counts.values()) / size <= model.alpha + 1e-9
        case LDiversity(kind="distinct"):
            return len(counts) >= model.l
        case LDiversity(kind="entropy"):
            return -sum(n / size * log(n / size) for n in counts.values()) >= log(model.l) - 1e-9
        case LDiversity(kind="recursive", c=c):
            assert c is not None
            ordered = sorted(counts.values(), reverse=True)
            return ordered[0] < c * sum(ordered[int(model.l) - 1 :])
        case TCloseness(distance="equal"):
            return sum(abs(gap) for gap in gaps) / 2 <= model.t + 1e-9
        case TCloseness():
            return float(sum(map(abs, accumulate(gaps)))) / max(len(gaps) - 1, 1) <= model.t + 1e-9
        case BetaLikeness():
            return all(float(gap / p) <= model.beta + 1e-9 for gap, p in zip(gaps, shares.values(), strict=True))
        case DeltaDisclosure():
            return all(counts[v] > 0 and abs(log(counts[v] / size / float(p))) < model.delta for v, p in shares.items())
    raise AssertionError(model)


def assert_models_hold(release: Release) -> None:
    values = release.data.frame["s"].to_list()
    classes = defaultdict(list)
    for key, value in zip(published_tuples(release), values, strict=True):
        classes[key].append(value)
    for model in release.method.models:
        for members in classes.values():
            assert accepts(model, members, values)


def assert_losses(release: Release, table: Table) -> None:
    sizes = Counter(published_tuples(release)).values()
    assert release.losses["discernibility"] == sum(size * size for size in sizes)
    assert release.losses["average_class_size"] == len(release.data) / len(sizes)
    assert release.details["classes"] == len(sizes)
    participants = keep_participants_leaves(table.replace_frame(table.frame[release.details["rows"]]))
    losses = [
        np.mean(domain.measure_losses(spell_cells(release.data.frame[name])))
        for name, domain in domains(participants).items()
    ]
    assert isclose(release.losses["loss"], float(np.mean(losses)), abs_tol=1e-12)
    assert release.losses["suppressed_rows"] == 0


@given(mixed_tables(), methods)
@settings(max_examples=200, deadline=None)
def test_every_release_is_true_safe_and_counted_right(table: Table, method: Partition) -> None:
    try:
        release = method.protect(table)
    except DataError:
        assert table.missing == "drop"
        return
    except ImpossibleRelease:
        usable = table.frame.drop_nulls(table.quasi_identifying) if table.missing == "drop" else table.frame
        values = usable["s"].to_list()
        assert not all(accepts(model, values, values) for model in method.models)
        return
    assert_true(release, table)
    assert_models_hold(release)
    assert_losses(release, table)
    rows = release.details["rows"]
    assert release.data.frame["s"].to_list() == table.frame["s"][rows].to_list()
    assert release.data.frame.columns == [name for name in table.frame.columns if name != "id"]
    assert release.losses["dropped_rows"] == len(table) - len(rows)


@given(mixed_tables(), st.sampled_from(MODELS), st.booleans(), st.sampled_from(["ranges", "hierarchy"]))
@settings(max_examples=60, deadline=None)
def test_refining_never_loses_more(table: Table, models: tuple[PrivacyModel, ...], relaxed: bool, publish: str) -> None:
    described = {"models": models, "relaxed": relaxed, "publish": publish}
    try:
        plain = Partition.model_validate(described | {"refine": False}).protect(table)
    except SfumatoError:
        return
    refined = Partition.model_validate(described | {"refine": True}).protect(table)
    assert refined.losses["loss"] <= plain.losses["loss"] + 1e-12


@given(mixed_tables())
@settings(max_examples=60, deadline=None)
def test_strict_cuts_keep_equal_people_together_and_leave_no_cut(table: Table) -> None:
    try:
        release = Partition(models=(KAnonymity(k=2),), refine=False).protect(table)
    except SfumatoError:
        return
    originals = table.frame.select(table.quasi_identifying)[release.details["rows"]].rows()
    published = published_tuples(release)
    assert len(set(zip(originals, published, strict=True))) == len(set(originals))
    for label in set(published):
        members = [row for row, other in zip(originals, published, strict=True) if other == label]
        for column in zip(*members, strict=True):
            order = sorted(Counter(column).items(), key=lambda item: (item[0] is None, item[0]))
            if len(label) == 1:  # with one column every place between two values is a cut in the order of values
                lefts = np.cumsum([count for _, count in order])[:-1]
                name = table.quasi_identifying[0]
                assert name in table.hierarchies or all(
                    left_count < 2 or len(members) - left_count < 2 for left_count in lefts
                )


@given(mixed_tables(), st.sampled_from(MODELS), st.lists(st.integers(0, 3), min_size=20, max_size=20))
@settings(max_examples=60, deadline=None)
def test_groups_are_judged_as_classes_are(
    table: Table, models: tuple[PrivacyModel, ...], group_numbers: list[int]
) -> None:
    of_row = np.unique(group_numbers[: len(table)], return_inverse=True)[1].astype(np.int32)
    weights = np.ones(len(table), dtype=np.int64)
    sensitive = {name: SensitiveColumn.of(table, name) for model in models for name in model.list_columns()}
    judge = GroupJudge(models, weights, sensitive)
    sizes = np.bincount(of_row).astype(np.int64)
    expected = ModelJudge(models).refuses(NodeClasses(of_row, sizes, sizes, sensitive))
    assert (judge.flag_refused(of_row) == expected).all()
    assert judge.flag_refused(of_row)[np.bincount(of_row) < judge.least].all()


def test_values_are_counted_for_the_right_groups_if_each_row_is_one() -> None:
    """Groups need not be numbered in the order of rows: each of three rows is a group, in another order."""
    table = Table.of({"a": [1, 2, 3], "s": ["x", "y", "y"]}, {"a": "quasi_identifying", "s": "sensitive"})
    pairs = SensitiveColumn.of(table, "s").count_by_class(np.array([2, 0, 1], dtype=np.int32), 3)
    assert pairs.classes.tolist() == [0, 1, 2]
    assert pairs.values.tolist() == [1, 1, 0]


def people(rows: int, seed: int = 1) -> Table:
    """Enough rows for several blocks, with a column of many distinct numbers and one of many distinct texts."""
    chance = np.random.default_rng(seed)
    tree = [[f"c{i:02}", f"r{i // 5}", f"w{i // 15}", "*"] for i in range(30)]
    frame = pl.DataFrame(
        {
            "income": np.round(chance.lognormal(10, 1, rows), 2),
            "age": chance.integers(18, 90, rows),
            "street": [f"street {i}" for i in chance.integers(0, rows, rows)],
            "city": [f"c{i:02}" for i in (30 * chance.random(rows) ** 2).astype(int)],
            "s": chance.choice(["x", "y", "z"], rows, p=[0.6, 0.3, 0.1]),
        }
    )
    known_flags = {name: pl.Series(chance.random(rows) > share) for name, share in (("age", 0.03), ("city", 0.1))}
    frame = frame.with_columns(pl.when(flags).then(pl.col(name)) for name, flags in known_flags.items())
    roles = dict.fromkeys(("income", "age", "street", "city"), "quasi_identifying") | {"s": "sensitive"}
    return Table.of(frame, roles, {"city": tree})


@pytest.mark.parametrize("publish", ["ranges", "hierarchy"])
@pytest.mark.parametrize("relaxed", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "models",
    [
        pytest.param((KAnonymity(k=7),), marks=pytest.mark.slow),
        (KAnonymity(k=4), TCloseness(t=0.25, column="s"), LDiversity(l=2, column="s")),
        pytest.param((LDiversity(l=3, column="s"),), marks=pytest.mark.slow),
    ],
    ids=["k", "k, l and t", "l"],
)
def test_many_blocks_many_values(models: tuple[PrivacyModel, ...], relaxed: bool, publish: str) -> None:
    table = people(2600)
    described = {"models": models, "relaxed": relaxed, "publish": publish}
    release = Partition.model_validate(described).protect(table)
    assert_true(release, table)
    assert_models_hold(release)
    assert_losses(release, table)
    plain = Partition.model_validate(described | {"refine": False}).protect(table)
    assert_models_hold(plain)
    assert release.losses["loss"] <= plain.losses["loss"] + 1e-12
    second_release = Partition.model_validate(described).protect(table)
    assert second_release.data == release.data


def test_a_model_that_allows_no_cut_still_gives_parts() -> None:
    """Each side of every first cut is too far from the whole, so only uniting far-off rows can help: claims hold."""
    rows = 1200
    table = Table.of(
        {"a": [i % 2 for i in range(rows)], "b": list(range(rows)), "s": ["xy"[i % 2] for i in range(rows)]},
        {"a": "quasi_identifying", "b": "quasi_identifying", "s": "sensitive"},
    )
    release = Partition(models=(KAnonymity(k=3), TCloseness(t=0.1, column="s"))).protect(table)
    assert_models_hold(release)
    assert_losses(release, table)


def test_uniting_that_takes_too_long_still_ends_safely() -> None:
    """A hundred rows of one value would need fifty neighbours, one after the other: the block is united instead."""
    values = ["x"] * 100 + ["x", "y", "z", "w"] * 200
    table = Table.of(
        {"a": list(range(len(values))), "b": [i // 100 for i in range(len(values))], "s": values},
        {"a": "quasi_identifying", "b": "quasi_identifying", "s": "sensitive"},
    )
    release = Partition(models=(AlphaKAnonymity(k=4, alpha=0.5, column="s"),)).protect(table)
    assert_models_hold(release)
    assert_losses(release, table)


def test_whole_numbers_beyond_floats_and_single_values_are_spelt_as_they_are() -> None:
    large = 2**53
    values = [large + 1, large + 1, large + 2, large + 3]
    table = Table.of({"n": values}, {"n": "quasi_identifying"})
    labels = Partition(models=(KAnonymity(k=2),)).protect(table).data.frame["n"].to_list()
    assert labels == [str(large + 1)] * 2 + [f"[{large + 2}, {large + 3}]"] * 2
    assert parse_range(labels[2]) is not None


def test_a_label_that_reads_as_another_value_is_not_published() -> None:
    """A set of a and b is spelt like the third value, and the leaf "G" like the group of the others."""
    table = Table.of({"v": ["a", "b", "{a, b}", "{a, b}"]}, {"v": "quasi_identifying"})
    release = Partition(models=(KAnonymity(k=2),)).protect(table)
    assert release.data.frame["v"].to_list() == ["*", "*", "{a, b}", "{a, b}"]
    assert_losses(release, table)
    rows = [["G", "other"], ["x", "G"], ["y", "G"]]
    table = Table.of({"v": ["G", "G", "x", "y"]}, {"v": "quasi_identifying"}, {"v": rows})
    release = Partition(models=(KAnonymity(k=2),)).protect(table)
    assert release.data.frame["v"].to_list() == ["*", "*", "G", "G"]
    assert_true(release, table)
    assert_losses(release, table)


def test_a_column_in_which_nothing_changes_keeps_its_kind() -> None:
    table = Table.of({"n": [1, 1, 2, 2], "m": [1, 2, 3, 4]}, {"n": "quasi_identifying", "m": "quasi_identifying"})
    frame = Partition(models=(KAnonymity(k=2),)).protect(table).data.frame
    assert frame.schema == {"n": pl.Int64, "m": pl.String}


def test_a_column_without_any_value() -> None:
    table = Table.of({"n": [None, None], "m": [1, 2]}, {"n": "quasi_identifying", "m": "quasi_identifying"})
    release = Partition(models=(KAnonymity(k=2),)).protect(table)
    assert release.data.frame.rows() == [(None, "[1, 2]")] * 2
    assert release.losses["loss"] == 0.5


def test_what_is_impossible_says_why() -> None:
    with pytest.raises(ImpossibleRelease, match=r"all rows together \(6 rows\) do not satisfy k_anonymity; relax it"):
        Partition(models=(KAnonymity(k=7), LDiversity(l=2, column="disease"))).protect(patients())


def test_bad_input() -> None:
    two = Partition(models=(KAnonymity(k=2),))
    with pytest.raises(DataError, match="no rows"):
        two.protect(patients().replace_frame(patients().frame.clear()))
    with pytest.raises(PolicyError, match="no people to hide"):
        two.protect(Table.of({"a": [1, 2]}, {"a": "sensitive"}))
    with pytest.raises(DataError, match='"v" holds "\\*" in 1 row,'):
        two.protect(Table.of({"v": ["*", "b"]}, {"v": "quasi_identifying"}))
    with pytest.raises(DataError, match="every row has a missing"):
        two.protect(Table.of({"v": [None, None]}, {"v": "quasi_identifying"}, missing="drop"))
    with pytest.raises(PolicyError, match="k_map compares with a population"):
        Partition(models=(KMap(k=2, population=patients()),)).protect(patients())
    with pytest.raises(DataError, match='"nothing", which the table does not have'):
        Partition(models=(LDiversity(l=2, column="nothing"),)).protect(patients())


def test_progress_is_told() -> None:
    steps = []
    with listen_to_progress(lambda step, count, total: steps.append(step)):
        Partition(models=(KAnonymity(k=2), LDiversity(l=2, column="s"))).protect(people(500))
    assert list(dict.fromkeys(steps)) == ["encoding the table", "cutting the table", "clustering rows", "publishing"]


def test_blocks_are_small_where_there_are_many_rows() -> None:
    no_rows = np.zeros(0, dtype=np.int64)
    judge = SizeJudge(5, no_rows)
    assert [choose_block_size(rows, judge) for rows in (1_000, 100_000, 1_000_000, 10_000_000)] == [
        2048,
        2048,
        256,
        128,
    ]
    assert choose_block_size(1_000_000, SizeJudge(1_000, no_rows)) is None


@pytest.fixture(scope="module")
def adult(shared_data: Path) -> Table:
    folder = shared_data / "arx-adult"
    roles = dict.fromkeys(EIGHT, "quasi_identifying") | {"salary-class": "sensitive"}
    trees = {name: Hierarchy.read(folder / f"adult_hierarchy_{name}.csv") for name in EIGHT}
    return Table.read(folder / "adult.csv", roles, trees, separator=";")


def test_adult_is_better_than_anonypy(adult: Table) -> None:
    """PEERS_SPEED.md: anonypy 3.13e5 and .032; FEASIBLE.md asks for 1.8e5 and .02 at k = 5."""
    release = Partition(models=(KAnonymity(k=5),)).protect(adult)
    assert_losses(release, adult)
    assert_true(release, adult)
    assert min(Counter(published_tuples(release)).values()) >= 5
    assert release.losses["discernibility"] <= 1.8e5
    assert release.losses["loss"] <= 0.02


def test_adult_to_labels_of_its_hierarchies(adult: Table) -> None:
    release = Partition(models=(KAnonymity(k=5),), publish="hierarchy").protect(adult)
    for name in EIGHT:
        assert set(spell_cells(release.data.frame[name])) <= set(adult.hierarchies[name].leaves_under)
    assert_losses(release, adult)
    assert_true(release, adult)
    assert release.losses["discernibility"] <= 2.2e5
    assert release.losses["loss"] <= 0.07


def test_parts_of_equal_rows_go_two_by_two() -> None:
    """A thousand parts of equal rows are all nearest to the first: one a round would be a thousand rounds."""
    nearest = np.array([1, 0, 0, 0, 0, 3], dtype=np.int64)
    small = np.zeros(6, dtype=np.bool_)
    free = np.array([True, True, True, True, True, False])
    assert _choose_hosts(np.arange(6), nearest, small, free).tolist() == [0, 0, 2, 2, 4, 5]
    # Where something is lost, two large ones never go into the same.
    assert _choose_hosts(np.arange(6), nearest, small, np.zeros(6, dtype=np.bool_)).tolist() == [1, 1, 2, 3, 4, 3]
    # One that is left over goes to its nearest, if that has no other guest.
    assert _choose_hosts(np.array([1]), np.array([-1, 0]), small[:2], free[:2]).tolist() == [0, 0]


def test_many_equal_rows_under_t_closeness_take_few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """12,000 rows of 12 kinds: all but a few of a kind are one line, which is close enough to the whole."""
    chance = np.random.default_rng(1)
    kind = chance.integers(0, 12, 12_000)
    frame = {"x": kind.tolist(), "y": (kind % 3).tolist(), "s": chance.choice(["a", "b", "c"], 12_000).tolist()}
    roles = {"x": "quasi_identifying", "y": "quasi_identifying", "s": "sensitive"}
    rounds: list[int] = []

    def count_rounds(moving: Ints, nearest: Ints, small: Flags, free: Flags) -> Ints:
        rounds.append(len(moving))
        return _choose_hosts(moving, nearest, small, free)

    monkeypatch.setattr(k_member, "_choose_hosts", count_rounds)
    release = Partition(models=(KAnonymity(k=5), TCloseness(t=0.1, column="s"))).protect(Table.of(frame, roles))
    assert release.losses["loss"] == 0.0  # every kind is close enough to the whole by itself
    assert len(rounds) < 12
