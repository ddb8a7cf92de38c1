# SPDX-License-Identifier: MIT
"""Trees in files: read exactly or refused, and nothing is ever run."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, export_text

import sfumato as sf
from sfumato.measure.codes.tree_equality import same_tree
from sfumato.mine.codes.decoded_tree import decode_tree
from sfumato.mine.codes.tree_files import read_tree, write_tree
from sfumato.protect.codes.encode_for_trees import EncodeForTrees


class Job:
    """A table, its release, and a learner's model of both."""

    def __init__(self, seed: int = 0, learner: Any = None, decimals: int = 0) -> None:
        lot = np.random.default_rng(seed)
        rows = 90
        a, b = lot.integers(0, 80, rows), np.round(lot.normal(size=rows), decimals)
        classes = np.where(a + 20 * b + 10 * lot.normal(size=rows) > 40, "yes", "no")
        self.table = sf.Table.of({"a b": a, "c": b, "unused": np.full(rows, 7), "y": classes.tolist()})
        method = EncodeForTrees(target="y")
        self.key = method.new_key(self.table, sf.Randomness.seeded(seed))
        release = method.protect(self.table, self.key).data
        learner = DecisionTreeClassifier(random_state=0) if learner is None else learner
        self.direct, self.provider = (
            type(learner)(**learner.get_params()).fit(data.frame.drop("y").to_pandas(), data.frame["y"].to_numpy())
            for data in (self.table, release)
        )

    def decoded(self, path: Path) -> Any:
        return decode_tree(path, self.key, self.table)


@pytest.mark.parametrize("seed", range(4))
def test_json_is_the_model(tmp_path: Path, seed: int) -> None:
    job = Job(seed, decimals=3)
    path = write_tree(job.provider, tmp_path / "tree.json")
    tree_copy = read_tree(path)
    state, other = job.provider.tree_.__getstate__(), tree_copy.tree_.__getstate__()
    assert np.array_equal(state["nodes"], other["nodes"]) and np.array_equal(state["values"], other["values"])
    assert tree_copy.get_params() == job.provider.get_params()
    assert same_tree(job.decoded(path), job.direct)


def test_json_of_a_forest(tmp_path: Path) -> None:
    job = Job(1, RandomForestClassifier(3, max_samples=0.7, random_state=2))
    decoded = job.decoded(write_tree(job.provider, tmp_path / "forest.json"))
    assert same_tree(decoded, job.direct)
    cells = job.table.frame.drop("y").to_pandas()
    assert (decoded.predict(cells) == job.direct.predict(cells)).all()


def test_json_of_a_tree_with_missing_cells(tmp_path: Path) -> None:
    """A split of what is missing from what is not has an infinite threshold."""
    table = sf.Table.of({"x": [None, 1.0, 2.0, None, 1.0, 2.0], "y": ["u", "w", "w", "u", "w", "w"]})
    method = EncodeForTrees(target="y")
    key = method.new_key(table)
    frame = method.protect(table, key).data.frame
    direct, provider = (
        DecisionTreeClassifier(random_state=0).fit(source.select("x").to_numpy(), source["y"].to_numpy())
        for source in (table.frame, frame)
    )
    assert np.isinf(provider.tree_.threshold[0])
    assert same_tree(decode_tree(write_tree(provider, tmp_path / "t.json"), key, table), direct)
    text = tmp_path / "t.txt"
    text.write_text(export_text(provider))
    with pytest.raises(sf.DataError):
        decode_tree(text, key, table)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("has_names", [False, True])
def test_text_is_read_by_location(tmp_path: Path, weights: bool, has_names: bool) -> None:
    for seed in range(4):
        job = Job(seed)
        names = list(job.table.frame.columns[:-1]) if has_names else None
        text = export_text(job.provider, feature_names=names, max_depth=99, show_weights=weights)
        (tmp_path / "tree.txt").write_text(text)
        assert same_tree(job.decoded(tmp_path / "tree.txt"), job.direct)


def test_text_that_rounds_too_much_is_refused(tmp_path: Path) -> None:
    job = Job(2, decimals=4)
    path = tmp_path / "tree.txt"
    path.write_text(export_text(job.provider, feature_names=["a b", "c", "unused"], max_depth=99, decimals=0))
    with pytest.raises(sf.DataError, match="rounded too much"):
        job.decoded(path)
    path.write_text(export_text(job.provider, feature_names=["a b", "c", "unused"], max_depth=99, decimals=6))
    assert same_tree(job.decoded(path), job.direct)


def test_text_of_another_key_or_cut_off_is_refused(tmp_path: Path) -> None:
    job, other = Job(3), Job(4)
    path = tmp_path / "tree.txt"
    path.write_text(export_text(other.provider, max_depth=99))
    with pytest.raises(sf.DataError):
        job.decoded(path)
    path.write_text(export_text(job.provider, max_depth=1))
    with pytest.raises(sf.DataError, match="cut off"):
        job.decoded(path)
    whole = export_text(job.provider, max_depth=99)
    for spoilt in (whole.replace(" >  ", " <= ", 1), "\n".join(whole.splitlines()[:-1]), whole + "|--- class: x\n"):
        path.write_text(spoilt)
        with pytest.raises(sf.DataError, match="not what export_text would write"):
            read_tree(path)
    path.write_text(whole.replace("feature_0", "z"))
    with pytest.raises(sf.PolicyError, match="not among the release's columns"):
        job.decoded(path)
    path.write_text("Once upon a time")
    with pytest.raises(sf.DataError, match="not a tree written by export_text"):
        read_tree(path)


class Bomb:
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return (pytest.fail, ("a pickle was opened",))


def test_pickles_and_pmml_are_not_opened(tmp_path: Path) -> None:
    for name, content in (("a.pkl", b"x"), ("b.joblib", b"x"), ("c.json", pickle.dumps(Bomb()))):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(sf.DataError, match="a pickle can run arbitrary code"):
            read_tree(tmp_path / name)
    (tmp_path / "d.pmml").write_text("<PMML/>")
    with pytest.raises(sf.DataError, match="PMML is not read"):
        read_tree(tmp_path / "d.pmml")
    with pytest.raises(sf.DataError, match="cannot be read"):
        read_tree(tmp_path / "nothing.json")
    (tmp_path / "e.bin").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(sf.DataError, match="not a readable tree"):
        read_tree(tmp_path / "e.bin")


def test_json_that_is_no_tree_is_refused(tmp_path: Path) -> None:
    job = Job()
    path = write_tree(job.provider, tmp_path / "tree.json")
    good = json.loads(path.read_text())
    tree = good["trees"][0]
    nodes = len(tree["left"])

    def spoilt(**parts: Any) -> str:
        return json.dumps({**good, "trees": [{**tree, **parts}]})

    for text in (
        "{", "{}", json.dumps({**good, "sfumato_tree": 2}), json.dumps({**good, "learner": "SVC"}),
        json.dumps({**good, "settings": {"evil": 1}}), json.dumps({**good, "classes": ["a", "a"]}),
        json.dumps({**good, "trees": []}), json.dumps({**good, "features": ["a"]}),
        spoilt(left=[0, *tree["left"][1:]]), spoilt(left=tree["left"][:-1]),
        spoilt(right=[nodes + 5, *tree["right"][1:]]),
        spoilt(feature=[99, *tree["feature"][1:]]), spoilt(values=[[0.5]] * nodes), spoilt(threshold=["x"] * nodes),
        spoilt(left=[-1] * nodes, right=[-1] * nodes), spoilt(values=[[-1.0, 2.0]] * nodes),
    ):  # fmt: skip
        path.write_text(text)
        with pytest.raises(sf.DataError):
            read_tree(path)
    path.write_text(spoilt(rows=[*tree["rows"][:-1], tree["rows"][-1] + 1]))
    with pytest.raises(sf.DataError, match="different numbers of rows"):
        job.decoded(path)


def test_only_trees_can_be_written(tmp_path: Path) -> None:
    for model in (DecisionTreeClassifier(), DecisionTreeRegressor().fit([[0.0], [1.0]], [0, 1]), object()):
        with pytest.raises(sf.PolicyError):
            write_tree(model, tmp_path / "tree.json")
    with pytest.raises(sf.DataError, match="cannot be written"):
        write_tree(Job().provider, tmp_path / "no" / "tree.json")


def test_onnx(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    job = Job(5)
    tree = job.provider.tree_
    leaf = tree.children_left < 0
    many = range(tree.node_count)
    node = onnx.helper.make_node(
        "TreeEnsembleClassifier", ["X"], ["label", "scores"], domain="ai.onnx.ml",
        nodes_treeids=[0 for _ in many], nodes_nodeids=list(many),
        nodes_modes=["LEAF" if is_leaf else "BRANCH_LEQ" for is_leaf in leaf],
        nodes_featureids=[max(int(feature), 0) for feature in tree.feature],
        nodes_values=[float(threshold) for threshold in tree.threshold],
        nodes_truenodeids=[max(int(child), 0) for child in tree.children_left],
        nodes_falsenodeids=[max(int(child), 0) for child in tree.children_right],
        class_treeids=[0 for node_index in many if leaf[node_index] for _ in range(2)],
        class_nodeids=[node_index for node_index in many if leaf[node_index] for _ in range(2)],
        class_ids=[kind for node_index in many if leaf[node_index] for kind in range(2)],
        class_weights=[float(tree.value[index, 0, kind]) for index in many if leaf[index] for kind in range(2)],
        classlabels_strings=[str(label) for label in job.provider.classes_],
    )  # fmt: skip
    graph = onnx.helper.make_graph([node], "tree", [], [])
    path = tmp_path / "tree.onnx"
    path.write_bytes(onnx.helper.make_model(graph).SerializeToString())
    assert same_tree(job.decoded(path), job.direct)
    path.write_bytes(b"nonsense")
    with pytest.raises(sf.DataError):
        read_tree(path)


def test_onnx_says_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "onnx", None)
    (tmp_path / "tree.onnx").write_bytes(b"")
    with pytest.raises(sf.PolicyError, match="pip install"):
        read_tree(tmp_path / "tree.onnx")
