# SPDX-License-Identifier: MIT
"""Decoded trees: equal to direct ones on hundreds of random tables, and wrong keys refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

import sfumato as sf
from sfumato.measure.codes.tree_equality import same_tree, trees_that_differ
from sfumato.mine.codes.decoded_tree import decode_tree, tree_rules
from sfumato.protect.codes.encode_for_trees import EncodeForTrees
from sfumato.public.codes.tree_key import TreeKey

pytestmark = [  # scikit-learn sums huge numbers as 32-bit floats, and wonders at many classes
    pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered in reduce:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:The number of unique classes:UserWarning"),
]
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"criterion": "entropy"},
    {"max_depth": 3, "min_samples_split": 9},
    {"max_leaf_nodes": 5},
    {"ccp_alpha": 0.01, "min_impurity_decrease": 0.005},
    {"max_features": 1, "random_state": 5},
)
UNPERMUTED: tuple[dict[str, Any], ...] = ({"min_samples_leaf": 4}, {"class_weight": "balanced", "criterion": "entropy"})


def random_column(lot: np.random.Generator, rows: int) -> Any:
    kinds = (
        lambda: lot.integers(0, 10, rows),
        lambda: lot.normal(size=rows) * 10.0 ** lot.integers(-2, 7),
        lambda: np.full(rows, 3),
        lambda: np.round(lot.normal(size=rows), 1),
        lambda: -lot.integers(0, 1000, rows) * 1e6,
        lambda: np.where(lot.random(rows) < 0.2, np.nan, np.round(lot.exponential(size=rows) * 50)),
        lambda: 2**24 + lot.integers(0, 9, rows),  # equal as 32-bit floats
        lambda: 2 + lot.integers(0, 40, rows) * 2.0**-22,  # neighbours as 32-bit floats
        lambda: lot.normal(size=rows) * 1e-9,  # all taken for equal
        lambda: lot.normal(size=rows) * 1e37,
        lambda: lot.integers(-(2**62), 2**62, rows),
        lambda: lot.random(rows) < 0.5,
        lambda: lot.choice([0.0, -0.0, 1e-8, 5e-8, 1.0, 1 + 1e-9], rows),
        lambda: np.where(lot.random(rows) < 0.5, np.nan, 1.0),
    )
    return kinds[int(lot.integers(len(kinds)))]()


def random_table(lot: np.random.Generator) -> sf.Table:
    rows, many = int(lot.integers(2, 150)), int(lot.integers(1, 25)) if lot.random() < 0.2 else int(lot.integers(1, 5))
    columns = {f"c{index}": random_column(lot, rows) for index in range(int(lot.integers(1, 6)))}
    order = [np.argsort(np.argsort(np.nan_to_num(np.asarray(column, float)))) for column in columns.values()]
    score = sum(lot.normal() * ranks for ranks in order) + np.zeros(rows)
    classes = np.searchsorted(np.unique(np.quantile(score, np.linspace(0, 1, many + 1)[1:-1])), score)
    classes = np.where(lot.random(rows) < 0.15, lot.integers(0, many, rows), classes)
    kinds = (
        [f"k{code}" for code in classes],
        (classes * 7 - 3).tolist(),
        (classes > 0).tolist(),
        (classes * 1.0).tolist(),
    )
    return sf.Table.of({**columns, "y": kinds[int(lot.integers(len(kinds)))]})


def cells(frame: pl.DataFrame) -> Any:
    return frame.select(pl.exclude("y").cast(pl.Float64)).to_numpy().astype(np.float64)


def grow_tree(table: sf.Table, learner: Any) -> Any:
    return learner.fit(cells(table.frame), table.frame["y"].to_numpy())


@pytest.mark.parametrize("seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 8))])
def test_decoded_trees_are_direct_trees(seed: int) -> None:
    """Ties, duplicates, constants, missing cells, huge and tiny numbers, one class and many: node by node."""
    lot = np.random.default_rng(seed)
    for _ in range(14):
        table = random_table(lot)
        permute = bool(lot.integers(2))
        method = EncodeForTrees(
            target="y",
            permute=permute,
            min_width=int(lot.integers(1, 6)),
            pieces=int(lot.integers(1, 30)),
            breakpoints=("max_monochromatic", "random")[int(lot.integers(2))],
        )
        key = method.new_key(table, sf.Randomness.seeded(seed))
        release = method.protect(table, key)
        merged = any(column.has_merged_values for column in TreeKey.open(key, table).columns.values())
        for setting in SETTINGS + (() if permute else UNPERMUTED[: 1 if merged else 2]):
            learner = DecisionTreeClassifier(**{"random_state": 0, **setting})
            direct = grow_tree(table, learner)
            decoded = decode_tree(grow_tree(release.data, DecisionTreeClassifier(**learner.get_params())), key, table)
            assert same_tree(decoded, direct), setting
            assert (decoded.predict(cells(table.frame)) == direct.predict(cells(table.frame))).all()


def test_forests() -> None:
    lot = np.random.default_rng(3)
    for bootstrap, max_samples in ((True, None), (True, 0.6), (False, None)):
        table = random_table(lot)
        method = EncodeForTrees(target="y")
        key = method.new_key(table)
        release = method.protect(table, key)
        settings: dict[str, Any] = {"n_estimators": 4, "bootstrap": bootstrap, "max_samples": max_samples}
        direct, provider = (
            grow_tree(data, RandomForestClassifier(random_state=1, **settings)) for data in (table, release.data)
        )
        decoded = decode_tree(provider, key, table)
        assert same_tree(decoded, direct)
        assert (decoded.predict(cells(table.frame)) == direct.predict(cells(table.frame))).all()


def test_codes_that_fall_are_decoded_up_to_ties() -> None:
    lot, fall_count = np.random.default_rng(11), 0
    for trial in range(40):
        table = random_table(lot)
        method = EncodeForTrees(target="y", direction="random")
        key = method.new_key(table, sf.Randomness.seeded(trial))
        release = method.protect(table, key)
        columns = TreeKey.open(key, table).columns
        fall_count += any(not column.rising for column in columns.values())
        for setting in ({}, {"criterion": "entropy"}, {"max_depth": 3}):
            direct, provider = (
                grow_tree(data, DecisionTreeClassifier(random_state=0, **setting)) for data in (table, release.data)
            )
            assert same_tree(decode_tree(provider, key, table), direct, up_to_ties=True)
        learners = ("scikit_learn",)
        assert trees_that_differ(release.data, table, "y", tuple(columns), up_to_ties=True, learners=learners) == 0
    assert fall_count > 20


def small() -> tuple[sf.Table, EncodeForTrees, sf.Key, Any]:
    lot = np.random.default_rng(0)
    a, b = lot.integers(0, 60, 120), lot.integers(0, 60, 120)
    table = sf.Table.of({"a": a, "b": b, "y": np.where(a + 2 * b + lot.integers(0, 30, 120) > 100, "u", "w").tolist()})
    method = EncodeForTrees(target="y")
    key = method.new_key(table, sf.Randomness.seeded(4))
    return table, method, key, grow_tree(method.protect(table, key).data, DecisionTreeClassifier(random_state=0))


def test_a_wrong_key_is_refused() -> None:
    """Another key of the same table, a key of another table, an edited key that was sealed anew."""
    table, method, key, provider = small()
    for seed in range(40):
        with pytest.raises(sf.DataError, match="not trained on this table under this key"):
            decode_tree(provider, method.new_key(table, sf.Randomness.seeded(seed + 100)), table)
    other = sf.Table.of(table.frame.with_columns(pl.col("a").reverse()))
    with pytest.raises(sf.DataError):
        decode_tree(provider, method.new_key(other), other)
    with pytest.raises(sf.DataError):
        decode_tree(provider, key, other)
    secret = {name: part for name, part in key.secret.items() if name != "seal"}
    columns = dict(secret["columns"])
    for codes in (columns["b"]["codes"], columns["a"]["values"]):
        edited = {**secret, "columns": {**columns, "a": {**columns["a"], "codes": codes}}}
        with pytest.raises(sf.DataError):
            decode_tree(provider, sf.Key(key.method, edited), table)
        with pytest.raises(sf.DataError):
            decode_tree(provider, TreeKey.seal(edited), table)


def test_a_model_of_other_rows_is_refused() -> None:
    table, method, key, _ = small()
    release = method.protect(table, key).data
    few_rows = release.replace_frame(release.frame.head(60))
    with pytest.raises(sf.DataError, match="different numbers of rows"):
        decode_tree(grow_tree(few_rows, DecisionTreeClassifier(random_state=0)), key, table)
    turned = release.replace_frame(release.frame.with_columns(pl.col("y").reverse()))
    with pytest.raises(sf.DataError):
        decode_tree(grow_tree(turned, DecisionTreeClassifier(random_state=0)), key, table)
    with pytest.raises(sf.DataError, match="a different number of rows"):
        decode_tree(grow_tree(few_rows, RandomForestClassifier(2, random_state=0)), key, table)


def test_a_model_of_relabelled_classes_is_refused() -> None:
    table, method, key, _ = small()
    frame = method.protect(table, key).data.frame
    model = DecisionTreeClassifier().fit(cells(frame), frame["y"].rank("dense").to_numpy())
    with pytest.raises(sf.DataError, match="trained on the labels as they are in the release"):
        decode_tree(model, key, table)


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (DecisionTreeClassifier(splitter="random"), 'splitter="random"'),
        (ExtraTreeClassifier(), 'splitter="random"'),
        (ExtraTreesClassifier(3), "draws thresholds at random"),
        (GradientBoostingClassifier(n_estimators=2), "splits pure pieces"),
        (DecisionTreeClassifier(monotonic_cst=[1, 0]), "monotonic"),
        (DecisionTreeClassifier(min_samples_leaf=5), "min_samples_leaf can make a tree split a pure piece"),
        (DecisionTreeClassifier(class_weight="balanced"), "class_weight can make"),
        (RandomForestClassifier(2, min_weight_fraction_leaf=0.1), "min_weight_fraction_leaf"),
    ],
)
def test_settings_that_the_promise_does_not_cover(learner: Any, message: str) -> None:
    table, method, key, _ = small()
    with pytest.raises(sf.PolicyError, match=message):
        decode_tree(grow_tree(method.protect(table, key).data, learner), key, table)


def test_codes_that_fall_rule_out_forests_and_drawn_columns() -> None:
    table, *_ = small()
    method = EncodeForTrees(target="y", direction="random", permute=False)
    key = next(
        key
        for key in (method.new_key(table, sf.Randomness.seeded(n)) for n in range(50))
        if not all(column.rising for column in TreeKey.open(key, table).columns.values())
    )
    data = method.protect(table, key).data
    for learner in (RandomForestClassifier(2), DecisionTreeClassifier(max_features=1)):
        with pytest.raises(sf.PolicyError, match='direction="monotone" for forests'):
            decode_tree(grow_tree(data, learner), key, table)
    with pytest.raises(sf.PolicyError, match="adds up fractions"):
        decode_tree(grow_tree(data, DecisionTreeClassifier(class_weight="balanced")), key, table)


def test_named_columns_in_any_order_and_columns_left_as_they_are() -> None:
    table, *_ = small()
    method = EncodeForTrees(target="y", columns=("b",))
    key = method.new_key(table)
    frame = method.protect(table, key).data.frame
    assert frame["a"].equals(table.frame["a"]) and not frame["b"].equals(table.frame["b"])
    direct, provider = (
        DecisionTreeClassifier(random_state=0).fit(source.select("b", "a").to_pandas(), source["y"].to_numpy())
        for source in (table.frame, frame)
    )
    assert same_tree(decode_tree(provider, key, table), direct)
    with pytest.raises(sf.PolicyError, match="release's own columns"):
        decode_tree(DecisionTreeClassifier().fit(frame.select("b").to_numpy().repeat(3, 1), frame["y"]), key, table)


def test_rules_read_like_the_originals() -> None:
    table = sf.Table.of({"age": [17, 20, 23, 32, 43, 68], "risk": ["high"] * 3 + ["low"] * 3})
    method = EncodeForTrees(target="risk", min_width=1)
    key = method.new_key(table)
    frame = method.protect(table, key).data.frame
    decoded = decode_tree(DecisionTreeClassifier().fit(frame.select("age").to_numpy(), frame["risk"]), key, table)
    lines = tree_rules(decoded, ["age"]).splitlines()
    assert lines[0] == "|--- age <= 27.500000" and lines[1] == "|   |--- class: high"


def test_same_tree_can_tell_trees_apart() -> None:
    table, *_ = small()
    tree = grow_tree(table, DecisionTreeClassifier(random_state=0))
    for other in (
        grow_tree(table, DecisionTreeClassifier(random_state=0, max_depth=2)),
        grow_tree(sf.Table.of(table.frame.with_columns(pl.col("a") + 1)), DecisionTreeClassifier(random_state=0)),
        grow_tree(sf.Table.of(table.frame.with_columns(pl.col("y") + "x")), DecisionTreeClassifier(random_state=0)),
        grow_tree(table, RandomForestClassifier(2)),
    ):
        assert not same_tree(tree, other)
    assert same_tree(tree, grow_tree(table, DecisionTreeClassifier(random_state=0)))
    shifted = sf.Table.of(table.frame.with_columns(pl.col("a").reverse()))
    assert trees_that_differ(shifted, table, "y", ("a", "b"), learners=("scikit_learn",)) == 3
    assert trees_that_differ(shifted, table, "y", ("a", "b"), learners=("c45",)) == 2
    assert trees_that_differ(table, table, "y", ("a", "b")) == 0
