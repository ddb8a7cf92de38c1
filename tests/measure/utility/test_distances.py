# SPDX-License-Identifier: MIT
"""Distances between originals and releases: by hand, and against plain Python over every leaf and every cell."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import inf, log, log1p, log2

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import DataError, PolicyError
from sfumato.measure.utility import distances as module
from sfumato.measure.utility.distances import c_avg, marginal_distance, non_uniform_entropy, pair_distance, precision
from sfumato.randomness import Randomness
from sfumato.table import Table
from tests.brute import Cell, HierarchyRows
from tests.tables import hospital, small_tables

CITIES = [["Pisa", "Tuscany", "*"], ["Siena", "Tuscany", "*"], ["Rome", "Lazio", "*"], ["Fondi", "Lazio", "*"]]


def people() -> Table:
    """Eight people: a column with a hierarchy, one of numbers without, and a sensitive one."""
    return Table.of(
        {
            "city": ["Pisa", "Pisa", "Pisa", "Siena", "Rome", "Rome", "Rome", "Rome"],
            "age": [20, 20, 30, 30, 40, 40, 50, 50],
            "ill": ["flu", "flu", "flu", "flu", "ulcer", "ulcer", "ulcer", "flu"],
        },
        {"city": "quasi_identifying", "age": "quasi_identifying", "ill": "sensitive"},
        {"city": CITIES},
    )


def recoded() -> Table:
    """The same people, recoded locally: labels of two levels, ranges, sets and a suppressed row."""
    table = people()
    return table.replace_frame(
        table.frame.with_columns(
            pl.Series("city", ["Tuscany"] * 4 + ["Rome", "Rome", "{Pisa, Rome}", "*"]),
            pl.Series("age", ["[20, 30]"] * 4 + ["40", "40", "[40, 50]", "*"]),
        )
    )


def test_nothing_moved_when_the_release_is_the_original() -> None:
    table = people()
    assert set(marginal_distance(table, table).values()) == set(marginal_distance(table, table, "kl").values()) == {0.0}
    assert set(pair_distance(table, table).values()) == set(pair_distance(table, table, "kl").values()) == {0.0}
    entropy = non_uniform_entropy(table, table)
    assert (entropy.bits, entropy.share, precision(table, table)) == (0.0, 0.0, 1.0)


def test_marginals_by_hand() -> None:
    # Pisa 3, Siena 1, Rome 4, Fondi 0 are read as 2 + ½ + ¼, 2 + ¼, 2 + ½ + ¼, ¼.
    marginals = marginal_distance(people(), recoded())
    assert list(marginals) == ["city", "age", "ill"]
    assert marginals["city"] == pytest.approx((0.25 + 1.25 + 1.25 + 0.25) / 16)
    # Each age has 2; they are read as 2 + ¼, 2 + ¼, 2 + ½ + ¼, ½ + ¼.
    assert marginals["age"] == pytest.approx((0.25 + 0.25 + 0.75 + 1.25) / 16)
    assert marginals["ill"] == 0.0
    bits = marginal_distance(people(), recoded(), "kl")
    assert bits["city"] == pytest.approx(3 / 8 * log2(3 / 2.75) + 1 / 8 * log2(1 / 2.25) + 4 / 8 * log2(4 / 2.75))


def test_a_pair_by_hand() -> None:
    table = Table.of({"a": ["x", "y"], "b": ["u", "v"]}, dict.fromkeys("ab", "quasi_identifying"))
    published = table.replace_frame(pl.DataFrame({"a": ["{x, y}", "y"], "b": ["u", "v"]}))
    # Original: (x, u) ½, (y, v) ½. Read: (x, u) ¼, (y, u) ¼, (y, v) ½.
    assert pair_distance(table, published) == {("a", "b"): 0.25}
    assert pair_distance(table, published, "kl") == {("a", "b"): 0.5}


def test_a_value_that_cannot_be_read_is_infinitely_far_in_bits() -> None:
    table = people()
    published = table.replace_frame(table.frame.head(4))
    assert marginal_distance(table, published, "kl")["city"] == inf
    assert marginal_distance(table, published)["city"] == 0.5
    assert pair_distance(table, published, "kl", ["city", "age"]) == {("city", "age"): inf}


def test_a_suppressed_cell_may_have_been_missing_where_cells_were() -> None:
    table = Table.of({"a": ["x", None, "y"]}, {"a": "quasi_identifying"})
    published = table.replace_frame(pl.DataFrame({"a": ["*", "*", "*"]}))
    assert marginal_distance(table, published) == {"a": 0.0}
    assert marginal_distance(table, published, "kl") == {"a": 0.0}


def test_dropped_people_count_nowhere() -> None:
    table = Table.of({"a": ["x", None, "y"]}, {"a": "quasi_identifying"}, missing="drop")
    published = table.replace_frame(pl.DataFrame({"a": ["x", "y"]}))
    assert marginal_distance(table, published) == {"a": 0.0}
    assert non_uniform_entropy(table, published).share == 0.0
    assert precision(table, published) == 1.0


def test_pairs_are_drawn_by_chance_when_there_are_too_many() -> None:
    table, published = people(), recoded()
    sampled_pairs = pair_distance(table, published, pairs=2, randomness=Randomness.seeded(3))
    assert len(sampled_pairs) == 2 and sampled_pairs == pair_distance(
        table, published, pairs=2, randomness=Randomness.seeded(3)
    )
    assert sampled_pairs.items() <= pair_distance(table, published).items()
    assert pair_distance(table, published, pairs=9) == pair_distance(table, published)


def test_entropy_by_hand() -> None:
    # city: Tuscany has 4 people (Pisa 3, Siena 1), the set 7, the suppressed cell 8; Rome itself 4.
    cells = 3 * log2(4 / 3) + log2(4 / 1) + 2 * log2(4 / 4) + log2(7 / 4) + log2(8 / 4)
    most = 3 * log2(8 / 3) + log2(8 / 1) + 4 * log2(8 / 4)
    # age: every value has 2 people; ranges of two values have 4.
    ages = 4 * log2(4 / 2) + log2(4 / 2) + log2(8 / 2)
    entropy = non_uniform_entropy(people(), recoded())
    assert entropy.columns == {"city": pytest.approx(cells / most), "age": pytest.approx(ages / 16)}
    assert entropy.bits == pytest.approx((cells + ages) / 16)
    assert entropy.share == pytest.approx((cells / most + ages / 16) / 2)


def test_everything_suppressed_or_left_out_is_all_the_entropy_there_is() -> None:
    table = people()
    starred = table.frame.with_columns(pl.lit("*").alias("city"), pl.lit("*").alias("age"))
    assert non_uniform_entropy(table, table.replace_frame(starred)).share == 1.0
    assert non_uniform_entropy(table, table.replace_frame(table.frame.head(0))).share == 1.0
    assert (
        precision(table, table.replace_frame(starred))
        == precision(table, table.replace_frame(table.frame.head(0)))
        == 0.0
    )


def test_precision_by_hand() -> None:
    # city, height 2: four cells at 1, two at 0, a set under no label but "*" at 2, one suppressed.
    # age, no hierarchy, height 1: two cells kept, six not.
    assert precision(people(), recoded()) == pytest.approx(1 - (4 / 8 / 2 + 2 / 8 + 6 / 8) / 2)


def test_precision_of_the_hospital_at_sex_1_and_zip_1() -> None:
    # By hand, Giannotti et al. (2009): dob 0 of 1, sex 1 of 1, zip 1 of 2.
    table = hospital()
    frame = table.frame.with_columns(pl.lit("Person").alias("sex"), pl.Series("zip", ["5371*"] * 2 + ["5370*"] * 4))
    assert precision(table, table.replace_frame(frame)) == pytest.approx(1 - (0 + 1 + 1 / 2) / 3)


def test_a_label_counts_at_its_own_level_even_if_it_covers_one_leaf() -> None:
    table = Table.of({"a": ["x"]}, {"a": "quasi_identifying"}, {"a": [["x", "X", "top"], ["y", "Y", "top"]]})
    for label, level in (("x", 0), ("X", 1), ("top", 2), ("{x, y}", 2), ("*", 2)):
        published = table.replace_frame(pl.DataFrame({"a": [label]}))
        assert precision(table, published) == 1 - level / 2


def test_c_avg_is_class_size_in_units_of_k() -> None:
    table = Table.of({"a": ["x"] * 4 + ["y"] * 2 + ["*"] * 3}, {"a": "quasi_identifying"})
    assert c_avg(table, 2) == 1.5
    assert c_avg(table, 2, "class") == 1.5
    assert c_avg(table, 3) == 1.0
    with pytest.raises(PolicyError, match="k = 0"):
        c_avg(table, 0)


def test_bad_input_is_named() -> None:
    table = people()
    with pytest.raises(DataError, match='"wage"'):
        marginal_distance(table, table, columns=["wage"])
    with pytest.raises(DataError, match='column "city": 1 published label is'):
        marginal_distance(table, table.replace_frame(table.frame.with_columns(pl.lit("Milan").alias("city"))))
    with pytest.raises(PolicyError, match="total_variation or kl"):
        marginal_distance(table, table, "euclid")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="16 rows are published from 8"):
        non_uniform_entropy(table, table.replace_frame(pl.concat([table.frame, table.frame])))
    with pytest.raises(DataError, match='column "city": published cells stand for values'):
        non_uniform_entropy(table, table.replace_frame(table.frame.with_columns(pl.lit("Fondi").alias("city"))))
    with pytest.raises(DataError, match="no rows"):
        marginal_distance(table.replace_frame(table.frame.head(0)), table)


# Brute force: every leaf and every cell, in fractions.

Weights = dict[Cell, Fraction]


@st.composite
def recodings(draw: st.DrawFn) -> tuple[Table, Table, list[HierarchyRows]]:
    """A small table with missing cells, and a true local recoding of it."""
    small = draw(small_tables(with_missing=True))
    table = small.table()
    columns = {}
    for j, hierarchy in enumerate(small.hierarchies):
        cells: list[Cell] = []
        for row in small.rows:
            value = row[j]
            line = next((list(leaf) for leaf in hierarchy if leaf[0] == value), [])
            other_leaves = draw(st.sets(st.sampled_from([leaf[0] for leaf in hierarchy])))
            labels: list[Cell] = [*line, "*"]
            if value is None:
                labels.append(None)
            elif other_leaves - {value}:
                labels.append("{" + ", ".join(sorted(other_leaves | {value})) + "}")
            cells.append(draw(st.sampled_from(labels)))
        columns[f"q{j}"] = pl.Series(cells, dtype=pl.String)
    return table, table.replace_frame(table.frame.with_columns(**columns)), small.hierarchies


def covers(label: Cell, hierarchy: HierarchyRows, holes: bool) -> list[Cell]:
    """What a label may stand for; None is the missing value."""
    if label is None:
        return [None]
    leaves: list[Cell] = [row[0] for row in hierarchy]
    if label.startswith("{"):
        return list(label[1:-1].split(", "))
    if label in leaves:
        return [label]
    covered_leaves: list[Cell] = leaves if label == "*" else [row[0] for row in hierarchy if label in row]
    return [*covered_leaves, None] if holes and len(covered_leaves) == len(leaves) else covered_leaves


def read_weights(label: Cell, hierarchy: HierarchyRows, holes: bool) -> Weights:
    covered_leaves = covers(label, hierarchy, holes)
    return {leaf: Fraction(1, len(covered_leaves)) for leaf in covered_leaves}


def distances(before: dict[object, Fraction], after: dict[object, Fraction]) -> tuple[float, float]:
    every = before.keys() | after.keys()
    variation = (
        sum((abs(before.get(value, Fraction(0)) - after.get(value, Fraction(0))) for value in every), Fraction(0)) / 2
    )
    if any(not after.get(value) for value in before):
        return float(variation), inf
    return float(variation), sum(float(share) * log2(share / after[value]) for value, share in before.items())


@pytest.mark.parametrize("entries", [0, 20, 4_000_000])
@settings(deadline=None, max_examples=30)
@given(recoding=recodings())
def test_distances_agree_with_plain_python(entries: int, recoding: tuple[Table, Table, list[HierarchyRows]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        # At once or in portions, sparse or dense.
        patch.setattr(module, "_ENTRIES", entries)
        compare_distances(*recoding)


def compare_distances(table: Table, published: Table, hierarchies: list[HierarchyRows]) -> None:
    names = [f"q{j}" for j in range(len(hierarchies))]
    cells = {name: table.frame[name].to_list() for name in names}
    read = {
        name: [read_weights(cell, hierarchy, None in cells[name]) for cell in published.frame[name]]
        for name, hierarchy in zip(names, hierarchies, strict=True)
    }
    row_share = Fraction(1, len(table))
    for name in names:
        before: dict[object, Fraction] = {}
        after: dict[object, Fraction] = {}
        for value, weights in zip(cells[name], read[name], strict=True):
            before[value] = before.get(value, Fraction(0)) + row_share
            for leaf, weight in weights.items():
                after[leaf] = after.get(leaf, Fraction(0)) + weight * row_share
        variation, bits = distances(before, after)
        assert marginal_distance(table, published)[name] == pytest.approx(variation, abs=1e-9)
        assert marginal_distance(table, published, "kl")[name] == pytest.approx(bits, abs=1e-9)
    variations, in_bits = pair_distance(table, published), pair_distance(table, published, "kl")
    for a, b in combinations(names, 2):
        before, after = {}, {}
        for i in range(len(table)):
            pair = (cells[a][i], cells[b][i])
            before[pair] = before.get(pair, Fraction(0)) + row_share
            for (x, wx), (y, wy) in product(read[a][i].items(), read[b][i].items()):
                after[x, y] = after.get((x, y), Fraction(0)) + wx * wy * row_share
        variation, bits = distances(before, after)
        assert variations[a, b] == pytest.approx(variation, abs=1e-9)
        assert in_bits[a, b] == pytest.approx(bits, abs=1e-9)


def level_share(label: Cell, hierarchy: HierarchyRows) -> Fraction:
    height = len(hierarchy[0]) - 1
    if label is None:
        return Fraction(0)
    if label == "*":
        return Fraction(1)
    for level in range(height + 1):
        if label in {row[level] for row in hierarchy}:
            return Fraction(level, max(height, 1))
    members = label[1:-1].split(", ")
    for level in range(height + 1):
        if len({row[level] for row in hierarchy if row[0] in members}) == 1:
            return Fraction(level, max(height, 1))
    return Fraction(height, max(height, 1))


@settings(deadline=None, max_examples=60)
@given(recodings())
def test_entropy_and_precision_agree_with_plain_python(recoding: tuple[Table, Table, list[HierarchyRows]]) -> None:
    table, published, hierarchies = recoding
    bits, shares, risen = 0.0, [], Fraction(0)
    for j, hierarchy in enumerate(hierarchies):
        before, after = table.frame[f"q{j}"].to_list(), published.frame[f"q{j}"].to_list()
        lost_bits = most = 0.0
        for value, label in zip(before, after, strict=True):
            covered_count = sum(cell in covers(label, hierarchy, None in before) for cell in before)
            lost_bits += log2(covered_count / before.count(value))
            most += log2(len(before) / before.count(value))
            risen += level_share(label, hierarchy)
        bits += lost_bits
        shares.append(lost_bits / most if most else 0.0)
    cells = len(table) * len(hierarchies)
    entropy = non_uniform_entropy(table, published)
    assert entropy.bits == pytest.approx(bits / cells, abs=1e-9)
    assert list(entropy.columns.values()) == pytest.approx(shares, abs=1e-9)
    assert entropy.share == pytest.approx(sum(shares) / len(shares), abs=1e-9)
    assert precision(table, published) == pytest.approx(float(1 - risen / cells), abs=1e-9)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=30))
def test_entropy_is_a_share_or_refused(cells: list[tuple[str, str]]) -> None:
    """Values moved between rows are no generalization: less than nothing may seem lost of them."""
    table = Table.of({"q": [before for before, _ in cells]}, {"q": "quasi_identifying"})
    published = table.replace_frame(pl.DataFrame({"q": [after for _, after in cells]}))
    try:
        entropy = non_uniform_entropy(table, published)
    except DataError:
        assert sorted(table.frame["q"]) != sorted(published.frame["q"])
    else:
        assert 0 <= entropy.share <= 1
        assert entropy.bits >= 0


@pytest.mark.parametrize("rows", [1, 1_000, 3_000_000])
def test_entropy_of_one_odd_person_is_exact(rows: int) -> None:
    """n log n − (n − 1) log (n − 1) would lose the digits that count."""
    table = Table.of({"q": ["a"] * rows + ["b"]}, {"q": "quasi_identifying"})
    assert non_uniform_entropy(table, table).share == 0.0
    starred = table.replace_frame(table.frame.with_columns(pl.Series("q", ["{a, b}"] * rows + ["*"])))
    entropy = non_uniform_entropy(table, starred)
    assert entropy.share == 1.0
    expected = (log2(rows + 1) + rows * log1p(1 / rows) / log(2)) / (rows + 1)
    assert entropy.bits == pytest.approx(expected, abs=1e-12)


def test_numbers_that_are_as_they_were_are_at_no_distance_and_all_others_are_read() -> None:
    roles = dict.fromkeys("abc", "sensitive")
    original = Table.of({"a": [1, 2, 2, 5], "b": [0.5, None, 2.5, 2.5], "c": [1, 1, 2, 2]}, roles)
    published = Table.of({"a": [1, 2, 2, 5], "b": [0.5, None, 2.5, 2.5], "c": [1, 1, 1, 2]}, roles)
    assert marginal_distance(original, published) == {"a": 0.0, "b": 0.0, "c": 0.25}
