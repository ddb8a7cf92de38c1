# SPDX-License-Identifier: MIT
"""Boosted trees: decoded exactly where XGBoost and LightGBM depend on the order of values alone, else refused.

Where the packages are missing, trees in their format are grown by the plain trainer below.
"""

from __future__ import annotations

import copy
import json
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, HistGradientBoostingClassifier

import sfumato as sf
from sfumato.mine.codes.booster import Booster
from sfumato.mine.codes.decoded_tree import decode_tree
from sfumato.mine.codes.tree_files import read_tree, write_tree
from sfumato.protect.codes.encode_for_trees import EncodeForTrees


def numbers_table(seed: int, rows: int = 300, classes: int = 2, missing: float = 0.0, start: float = 500) -> sf.Table:
    lot = np.random.default_rng(seed)
    x, z = lot.integers(0, 90, rows), np.round(lot.normal(size=rows), 2)
    score = x / 30 + z + lot.normal(size=rows) * 0.6
    kinds = np.digitize(score, np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]))
    columns = {"x": x + start, "z": np.round(z + start, 2), "w": lot.permutation(rows) * 3.0 + start}
    holes = {name: np.where(lot.random(rows) < missing, np.nan, cells) for name, cells in columns.items()}
    return sf.Table.of(pl.DataFrame({**holes, "y": [f"kind {kind}" for kind in kinds]}).fill_nan(None))


class Job:
    """A table and its release; classes are numbered in the order of the release's names."""

    def __init__(self, table: sf.Table, seed: int = 0, **method: Any) -> None:
        encode = EncodeForTrees(target="y", **({"permute": False} | method))
        self.table, self.key = table, encode.new_key(table, sf.Randomness.seeded(seed))
        self.release = encode.protect(table, self.key).data
        self.labels = self.release.frame["y"].rank("dense").cast(pl.Int64).to_numpy() - 1

    def cells(self, table: sf.Table) -> Any:
        return table.frame.drop("y").cast(pl.Float64).fill_null(float("nan")).to_numpy()


def same_booster(first: Booster, second: Booster) -> bool:
    """Bit by bit: tests, thresholds, directions, leaves."""
    return len(first.trees) == len(second.trees) and all(
        np.array_equal(a.left, b.left)
        and np.array_equal(a.feature[a.tests], b.feature[b.tests])
        and np.array_equal(a.threshold[a.tests], b.threshold[b.tests])
        and np.array_equal(a.missing_left[a.tests], b.missing_left[b.tests])
        and np.array_equal(a.value[~a.tests], b.value[~b.tests])
        for a, b in zip(first.trees, second.trees, strict=True)
    )


def check_exact(job: Job, grow: Any, folder: Path) -> Booster:
    """Grow on both, decode, compare."""
    direct, provider = (
        grow(job.cells(table), job.labels, folder / name)
        for table, name in ((job.table, "direct.json"), (job.release, "provider.json"))
    )
    decoded = decode_tree(provider, job.key, job.table)
    assert same_booster(decoded, read_tree(direct))
    assert not same_booster(decoded, read_tree(provider))
    released = job.release.frame["y"].unique().sort()
    names = [job.table.frame["y"][job.release.frame["y"].index_of(name)] for name in released]
    assert decoded.classes_.tolist() == names
    assert decoded.feature_names_in_.tolist() == ["x", "z", "w"]
    return decoded  # type: ignore[no-any-return]


def load_package(name: str) -> Any:
    """Skip where it is not installed, or its library of threads is not."""
    try:
        return import_module(name)
    except (ImportError, OSError):
        pytest.skip(f"{name} is not installed")


def grow_xgboost(cells: Any, labels: Any, path: Path, **settings: Any) -> Path:
    xgboost = load_package("xgboost")
    classes = int(labels.max()) + 1
    kind = {"objective": "binary:logistic"} if classes == 2 else {"objective": "multi:softprob", "num_class": classes}
    parameters = {"max_depth": 4, "seed": 0, "nthread": 1} | kind | settings
    xgboost.train(parameters, xgboost.DMatrix(cells, label=labels), 4).save_model(path)
    return path


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize(
    "settings",
    [
        {"tree_method": "hist"},
        {"tree_method": "exact"},
        {"tree_method": "approx"},
        {"tree_method": "hist", "max_bin": 16, "subsample": 0.7, "colsample_bytree": 0.7},
        {"tree_method": "exact", "gamma": 2.0, "min_child_weight": 3},
        {"tree_method": "hist", "grow_policy": "lossguide", "max_leaves": 7},
    ],
    ids=lambda settings: "-".join(map(str, settings.values())),
)
def test_xgboost_is_exact(tmp_path: Path, settings: dict[str, Any], missing: float, classes: int) -> None:
    for seed in range(2):
        job = Job(numbers_table(seed, classes=classes, missing=missing, start=-20), seed)
        decoded = check_exact(job, lambda *arguments: grow_xgboost(*arguments, **settings), tmp_path)
    xgboost = load_package("xgboost")
    booster = xgboost.Booster(model_file=write_tree(decoded, tmp_path / "decoded.json"))
    shares = booster.predict(xgboost.DMatrix(job.cells(job.table))).reshape(len(job.table), -1)
    assert np.allclose(decoded.predict_proba(job.table)[:, -shares.shape[1] :], shares, atol=1e-5)


def grow_lightgbm(cells: Any, labels: Any, path: Path, **settings: Any) -> Path:
    lightgbm = load_package("lightgbm")
    classes = int(labels.max()) + 1
    kind = {"objective": "binary"} if classes == 2 else {"objective": "multiclass", "num_class": classes}
    parameters = (
        {"verbosity": -1, "seed": 0, "deterministic": True, "num_threads": 1, "force_col_wise": True} | kind | settings
    )
    path.write_text(json.dumps(lightgbm.train(parameters, lightgbm.Dataset(cells, label=labels), 4).dump_model()))
    return path


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize(
    "settings",
    [{}, {"bagging_fraction": 0.7, "bagging_freq": 1, "feature_fraction": 0.7}, {"max_bin": 16, "min_data_in_leaf": 3}],
    ids=["plain", "bagged", "few bins"],
)
def test_lightgbm_is_exact_above_zero(tmp_path: Path, settings: dict[str, Any], missing: float, classes: int) -> None:
    for seed in range(2):
        job = Job(numbers_table(seed, classes=classes, missing=missing), seed)
        check_exact(job, lambda *arguments: grow_lightgbm(*arguments, **settings), tmp_path)


def test_lightgbm_below_zero_is_refused(tmp_path: Path) -> None:
    """A positive control too: some of its trees on codes are others there."""
    differ = 0
    for seed in range(5):
        job = Job(numbers_table(seed, start=-20), seed)
        provider, direct = (
            grow_lightgbm(job.cells(table), job.labels, tmp_path / name, max_bin=16)
            for table, name in ((job.release, "provider.json"), (job.table, "direct.json"))
        )
        with pytest.raises(sf.PolicyError, match="0 in a separate bin"):
            decode_tree(provider, job.key, job.table)
        theirs, ours = read_tree(provider), read_tree(direct)
        differ += any(
            not np.array_equal(theirs.reach(a, job.cells(job.release)), ours.reach(b, job.cells(job.table)))
            for a, b in zip(theirs.trees, ours.trees, strict=True)
        )
    assert differ


# A plain trainer: boosted stumps for two classes, in the format of either package.


def grow_stumps(cells: Any, labels: Any, maker: str, rounds: int = 3) -> dict[str, Any]:
    scores, trees = np.zeros(len(labels)), []
    for _ in range(rounds):
        share = 1 / (1 + np.exp(-scores))
        slope, bend = labels - share, share * (1 - share)
        best: tuple[float, int, float, Any] = (-1.0, 0, 0.0, None)
        for column in range(cells.shape[1]):
            values = np.unique(cells[:, column])
            for low, high in pairwise(values):
                low_side = cells[:, column] <= low
                gain = sum(slope[side].sum() ** 2 / (bend[side].sum() + 1) for side in (low_side, ~low_side))
                threshold = high if maker == "XGBoost" else np.nextafter((low + high) / 2, np.inf)
                best = max(
                    best, (round(gain, 9), -column, float(threshold), low_side), key=lambda candidate: candidate[:2]
                )
        _, column, threshold, low_side = best
        leaves = [float(np.float32(slope[side].sum() / (bend[side].sum() + 1))) for side in (low_side, ~low_side)]
        scores += np.where(low_side, *leaves)
        weights = bend if maker == "XGBoost" else np.ones(len(labels))
        covers = [float(weights.sum()), float(weights[low_side].sum()), float(weights[~low_side].sum())]
        trees.append(_write_stump(maker, -column, threshold, leaves, covers))
    if maker == "LightGBM":
        kind = {"objective": "binary sigmoid:1", "num_tree_per_iteration": 1, "max_feature_idx": cells.shape[1] - 1}
        return kind | {"feature_names": [f"Column_{i}" for i in range(cells.shape[1])], "tree_info": trees}
    model = {"trees": trees, "tree_info": [0] * rounds, "gbtree_model_param": {"num_parallel_tree": "1"}}
    learner = {"gradient_booster": {"name": "gbtree", "model": model}, "objective": {"name": "binary:logistic"}}
    shared = {"num_feature": str(cells.shape[1]), "num_class": "0", "base_score": "5E-1"}
    return {"version": [3, 0, 0], "learner": learner | {"feature_names": [], "learner_model_param": shared}}


def _write_stump(maker: str, column: int, threshold: float, leaves: list[float], covers: list[float]) -> dict[str, Any]:
    if maker == "XGBoost":
        return {
            "left_children": [1, -1, -1], "right_children": [2, -1, -1], "split_indices": [column, 0, 0],
            "split_conditions": [threshold, *leaves], "default_left": [0, 0, 0], "split_type": [0, 0, 0],
            "sum_hessian": covers,
        }  # fmt: skip
    kids = [{"leaf_value": leaf, "leaf_count": int(cover)} for leaf, cover in zip(leaves, covers[1:], strict=True)]
    test = {"split_feature": column, "threshold": threshold, "decision_type": "<=", "missing_type": "None"}
    return {"tree_structure": test | {"internal_count": int(covers[0]), "left_child": kids[0], "right_child": kids[1]}}


def write_stumps(job: Job, maker: str, path: Path) -> tuple[Path, Booster]:
    paths = []
    for table, name in ((job.table, "direct"), (job.release, "provider")):
        cells = job.cells(table)
        cells = cells.astype(np.float32).astype(np.float64) if maker == "XGBoost" else cells
        paths.append(path / f"{name}.json")
        paths[-1].write_text(json.dumps(grow_stumps(cells, job.labels, maker)))
    return paths[1], read_tree(paths[0])


@pytest.mark.parametrize("maker", ["XGBoost", "LightGBM"])
def test_stumps_are_exact(tmp_path: Path, maker: str) -> None:
    for seed in range(3):
        job = Job(numbers_table(seed, rows=60), seed)
        provider, direct = write_stumps(job, maker, tmp_path)
        decoded = decode_tree(provider, job.key, job.table)
        assert same_booster(decoded, direct)
        assert read_tree(write_tree(decoded, tmp_path / "again.json")).content == decoded.content
        assert (decoded.predict(job.table) == job.table.frame["y"].to_numpy()).mean() > 0.6
        assert "value" not in repr(decoded) and repr(decoded) == f"Booster({maker}: 3 trees, 9 nodes)"


@pytest.mark.parametrize("maker", ["XGBoost", "LightGBM"])
def test_strangers_are_refused(tmp_path: Path, maker: str) -> None:
    job, other = Job(numbers_table(1, rows=60), 1), Job(numbers_table(1, rows=60), 2)
    provider, _ = write_stumps(job, maker, tmp_path)
    with pytest.raises(sf.DataError, match="not trained on this table under this key"):
        decode_tree(provider, other.key, job.table)
    with pytest.raises(sf.DataError, match="not trained on this table under this key"):
        decode_tree(provider, job.key, job.table.replace_frame(job.table.frame.head(50)))
    for method, message in (({"permute": True}, "permute=False"), ({"direction": "random"}, 'direction="monotone"')):
        unfit = Job(job.table, 4, **method)
        with pytest.raises(sf.PolicyError, match=message):
            decode_tree(provider, unfit.key, unfit.table)


def test_values_that_share_a_code_are_refused(tmp_path: Path) -> None:
    """They are one value for scikit-learn, but not for LightGBM, which compares 64-bit numbers."""
    table = numbers_table(1, rows=60)
    close = table.frame.with_columns(pl.when(pl.col("w") == 500).then(503 + 1e-7).otherwise(pl.col("w")).alias("w"))
    job = Job(table.replace_frame(close), 1)
    provider, _ = write_stumps(job, "LightGBM", tmp_path)
    with pytest.raises(sf.DataError, match='"w": 1 value shares a code'):
        decode_tree(provider, job.key, job.table)


def test_what_cannot_be_decoded_is_refused(tmp_path: Path) -> None:
    job = Job(numbers_table(1, rows=60), 1)
    path = tmp_path / "spoilt.json"
    for maker, changes in _UNFIT.items():
        good = json.loads(write_stumps(job, maker, tmp_path)[0].read_text())
        for key_path, content, message in changes:
            spoilt = copy.deepcopy(good)
            *parents, last = key_path
            part = spoilt
            for name in parents:
                part = part[name]
            part[last] = content
            path.write_text(json.dumps(spoilt))
            with pytest.raises((sf.PolicyError, sf.DataError), match=message):
                read_tree(path)


_TREE: tuple[Any, ...] = ("learner", "gradient_booster", "model", "trees", 0)
_ROOT: tuple[Any, ...] = ("tree_info", 0, "tree_structure")
_UNFIT: dict[str, list[tuple[tuple[Any, ...], Any, str]]] = {
    "XGBoost": [
        (("learner", "gradient_booster", "name"), "dart", "gbtree"),
        (("learner", "objective", "name"), "reg:squarederror", "classify"),
        (("learner", "objective", "reg_loss_param"), {"scale_pos_weight": "2"}, "scale_pos_weight"),
        (("learner", "gradient_booster", "model", "gbtree_model_param", "num_parallel_tree"), "4", "forests"),
        ((*_TREE, "split_type"), [1, 0, 0], "categories"),
        ((*_TREE, "left_children"), [0, -1, -1], "not boosted trees"),
        ((*_TREE, "right_children"), [1, -1, -1], "not boosted trees"),
        ((*_TREE, "right_children"), [7, -1, -1], "not boosted trees"),
        ((*_TREE, "split_indices"), [9, 0, 0], "not boosted trees"),
        ((*_TREE, "split_conditions"), ["NaN", 1, 1], "not finite"),
        (("learner", "gradient_booster", "model", "trees"), [], "not boosted trees"),
        (("learner", "learner_model_param"), {}, "not boosted trees"),
    ],
    "LightGBM": [
        (("objective",), "regression", "classify"),
        (("average_output",), True, "random forests"),
        ((*_ROOT, "decision_type"), "==", "categories"),
        ((*_ROOT, "left_child", "leaf_coeff"), [1.0], "linear"),
        ((*_ROOT, "missing_type"), "Zero", "not boosted trees"),
        ((*_ROOT, "split_feature"), 9, "not boosted trees"),
        ((*_ROOT, "threshold"), "x", "not boosted trees"),
        (("tree_info",), [], "no trees"),
        (("feature_names",), ["a"], "not boosted trees"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (ExtraTreesClassifier(2, random_state=0), "at random between codes"),
        (HistGradientBoostingClassifier(max_iter=2), "into bins"),
        (GradientBoostingClassifier(n_estimators=2), "pure pieces"),
    ],
    ids=lambda case: type(case).__name__,
)
def test_other_learners_are_refused_with_the_reason(learner: Any, message: str) -> None:
    job = Job(numbers_table(1, rows=60), 1)
    model = learner.fit(job.cells(job.release), job.release.frame["y"].to_numpy())
    with pytest.raises(sf.PolicyError, match=message):
        decode_tree(model, job.key, job.table)


@pytest.mark.parametrize("permute", [True, False])
def test_what_is_said_of_other_learners(permute: bool) -> None:
    """Extra trees never separate the rows alike; histograms do without permutation, and mostly not with it."""
    alike = dict.fromkeys(("extra", "bins"), 0)
    for seed in range(4):
        job = Job(numbers_table(seed), seed, permute=permute, min_width=2)
        for name, learner in (
            ("extra", ExtraTreesClassifier(3, max_depth=4, random_state=0)),
            ("bins", HistGradientBoostingClassifier(max_iter=4, random_state=0)),
        ):
            shares = [
                learner.fit(cells := job.cells(table), job.labels).predict_proba(cells)
                for table in (job.table, job.release)
            ]
            alike[name] += np.array_equal(*shares)
    assert alike["extra"] == 0
    assert alike["bins"] == 4 if not permute else alike["bins"] < 4
