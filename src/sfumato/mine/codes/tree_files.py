# SPDX-License-Identifier: MIT
"""Trees in files that can be read without running code: never a pickle.

The JSON form holds a complete scikit-learn tree or forest, or a C4.5 tree, with exact numbers (`write_tree`).
scikit-learn's `export_text` and ONNX omit counts, which are taken from the table when the tree is decoded. A file is
checked before it is used: every node has one parent that comes before it, so a tree is a tree.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.arrays import Ints
from sfumato.data.reading.near_files import explain_unreadable
from sfumato.errors import DataError, PolicyError
from sfumato.mine.codes.booster import Booster
from sfumato.mine.codes.booster_files import is_booster, read_booster
from sfumato.mine.codes.c45 import C45Tree
from sfumato.mine.codes.c45_files import FORM, LEARNER, build_c45, describe_c45
from sfumato.mine.codes.tree_texts import WrittenTree, parse_tree_text

_NODES = {
    "left": ("left_child", np.int64),
    "right": ("right_child", np.int64),
    "feature": ("feature", np.int64),
    "threshold": ("threshold", np.float64),
    "missing_left": ("missing_go_to_left", np.uint8),
    "impurity": ("impurity", np.float64),
    "rows": ("n_node_samples", np.int64),
    "weight": ("weighted_n_node_samples", np.float64),
}
"""The names of a node's parts in the file and in scikit-learn."""
_LEARNERS = ("DecisionTreeClassifier", "RandomForestClassifier")


def write_tree(model: Any, path: str | Path) -> Path:
    """Write a fitted decision tree, random forest or C4.5 tree as JSON; boosted trees as their package would."""
    if isinstance(model, C45Tree):
        return _write_content(describe_c45(model), Path(path))
    if isinstance(model, Booster):
        return _write_content(model.content, Path(path))
    name = type(model).__name__
    if name not in _LEARNERS or not hasattr(model, "classes_"):
        raise PolicyError(f"only a C45Tree or a fitted {' or '.join(_LEARNERS)} can be written")
    trees = [model] if hasattr(model, "tree_") else model.estimators_
    names = getattr(model, "feature_names_in_", None)
    content = {
        "sfumato_tree": FORM,
        "learner": name,
        "settings": {k: v for k, v in model.get_params(deep=False).items() if _is_plain(v)},
        "features": None if names is None else [str(name) for name in names],
        "columns": int(model.n_features_in_),
        "classes": [str(label) for label in model.classes_],
        "rows": getattr(model, "_n_samples", None),
        "rows_drawn": getattr(model, "_n_samples_bootstrap", None),
        "trees": [_encode_tree(tree) for tree in trees],
    }
    return _write_content(content, Path(path))


def _write_content(content: dict[str, Any], target: Path) -> Path:
    try:
        target.write_text(json.dumps(content, allow_nan=False), encoding="utf-8")
    except OSError as error:
        raise DataError(f"{target}: the tree cannot be written ({error.strerror})") from None
    return target


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _encode_tree(model: Any) -> dict[str, Any]:
    state = model.tree_.__getstate__()
    parts: dict[str, Any] = {
        own_name: state["nodes"][sklearn_name].tolist() for own_name, sklearn_name in _list_node_parts()
    }
    parts["threshold"] = ["inf" if math.isinf(threshold) else threshold for threshold in parts["threshold"]]
    seed = model.random_state if isinstance(model.random_state, int) else None
    return {**parts, "values": state["values"][:, 0, :].tolist(), "seed": seed}


def _list_node_parts() -> list[tuple[str, str]]:
    return [(own_name, sklearn_name) for own_name, (sklearn_name, _) in _NODES.items()]


def read_tree(path: str | Path) -> Any:
    """Read a tree: our JSON as the model it was, `export_text` or ONNX as a `WrittenTree`.

    The JSON of XGBoost (`save_model`) or LightGBM (`dump_model`) is read as a `Booster`.
    """
    source = Path(path)
    try:
        content = source.read_bytes()
    except OSError as error:
        raise DataError(f"{source}: the tree cannot be read {explain_unreadable(error, source)}") from None
    if source.suffix == ".onnx":
        from sfumato.mine.codes.tree_onnx import read_onnx

        return read_onnx(content, str(source))
    _refuse_pickle(content, source)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{source}: not a readable tree: JSON, export_text's text, or .onnx") from None
    if text.lstrip().startswith("{"):
        return _parse_tree(text, str(source))
    return parse_tree_text(text, str(source))


def _refuse_pickle(content: bytes, source: Path) -> None:
    if content[:1] == b"\x80" or source.suffix in (".pkl", ".pickle", ".joblib"):
        raise DataError(
            f"{source}: a pickle can run arbitrary code, so it is not opened; have the provider write the tree "
            "with sfumato.mine.write_tree, scikit-learn's export_text, or as ONNX"
        )
    if source.suffix == ".pmml" or b"<PMML" in content[:2000]:
        raise DataError(f"{source}: PMML is not read; have the tree written as JSON, export_text's text, or ONNX")


def _parse_tree(text: str, source: str) -> Any:
    try:
        content = json.loads(text)
        if is_booster(content):
            return read_booster(content, source)
        if content["sfumato_tree"] == FORM and content["learner"] == LEARNER:
            return build_c45(content, source)
        if content["sfumato_tree"] != FORM or content["learner"] not in _LEARNERS:
            raise DataError(f"{source}: the tree has another version, or a learner that cannot be decoded")
        return _build_model(content, source)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
        raise DataError(f"{source}: not a tree as sfumato writes it; see the page on encoding for trees") from None


def _build_model(content: dict[str, Any], source: str) -> Any:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    classes, columns, settings = (
        [str(label) for label in content["classes"]],
        int(content["columns"]),
        content["settings"],
    )
    if len(set(classes)) != len(classes) or not content["trees"] or columns < 1:
        raise DataError(f"{source}: the tree has no nodes, no columns, or a duplicate class")
    if content["learner"] == "DecisionTreeClassifier":
        model: Any = DecisionTreeClassifier(**settings)
        model.tree_ = build_sklearn_tree(content["trees"][0], columns, len(classes), source)
        model.max_features_ = _count_features_tried(settings.get("max_features"), columns)
    else:
        model = RandomForestClassifier(**settings)
        model._n_samples, model._n_samples_bootstrap = int(content["rows"]), content["rows_drawn"]
        model._sample_weight = None
        model.estimators_ = [
            _build_member_tree(tree, model, columns, len(classes), source) for tree in content["trees"]
        ]
    model.classes_, model.n_classes_ = np.array(classes), len(classes)
    model.n_outputs_, model.n_features_in_ = 1, columns
    if content["features"] is not None:
        if len(content["features"]) != columns:
            raise DataError(f"{source}: the tree's column names do not match its column count")
        model.feature_names_in_ = np.array([str(name) for name in content["features"]], dtype=object)
    return model


def _count_features_tried(max_features: Any, columns: int) -> int:
    """How many columns are tried at a node, as in scikit-learn."""
    if max_features is None:
        return columns
    if isinstance(max_features, str):
        return max(1, int({"sqrt": math.sqrt, "log2": math.log2}[max_features](columns)))
    return int(max_features) if isinstance(max_features, int) else max(1, int(max_features * columns))


def _build_member_tree(tree_parts: dict[str, Any], forest: Any, columns: int, classes: int, source: str) -> Any:
    """One tree of a forest, with the seed that its rows were drawn with."""
    from sklearn.tree import DecisionTreeClassifier

    forest_settings = {name: getattr(forest, name) for name in forest.estimator_params}
    if forest.bootstrap and not isinstance(tree_parts["seed"], int):
        raise DataError(f"{source}: a tree of the forest lacks the seed that its rows were drawn with")
    tree: Any = DecisionTreeClassifier(**{**forest_settings, "random_state": tree_parts["seed"]})
    tree.tree_ = build_sklearn_tree(tree_parts, columns, classes, source)
    tree.classes_, tree.n_classes_ = np.arange(classes, dtype=np.float64), classes
    tree.n_outputs_, tree.n_features_in_ = 1, columns
    return tree


def build_sklearn_tree(tree_parts: dict[str, Any], columns: int, classes: int, source: str) -> Any:
    """scikit-learn's own tree from the parts of its nodes."""
    from sklearn.tree import DecisionTreeClassifier

    pattern = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]).tree_
    left_children = np.asarray(tree_parts["left"], dtype=np.int64)
    nodes = np.zeros(len(left_children), dtype=pattern.__getstate__()["nodes"].dtype)
    for own_name, (sklearn_name, kind) in _NODES.items():
        part = tree_parts[own_name]
        if own_name == "threshold":
            part = [math.inf if value == "inf" else float(value) for value in part]
        nodes[sklearn_name] = np.asarray(part, dtype=kind)
    values = np.asarray(tree_parts["values"], dtype=np.float64)
    depth = check_tree_shape(nodes["left_child"], nodes["right_child"], nodes["feature"], columns, source)
    if values.shape != (len(nodes), classes) or not np.isfinite(values).all() or (values < 0).any():
        raise DataError(f"{source}: the tree lacks the number of rows of each class at its nodes")
    new_tree = type(pattern)(columns, np.array([classes], dtype=np.intp), 1)
    state = {"max_depth": depth, "node_count": len(nodes), "nodes": nodes, "values": values[:, None, :].copy()}
    new_tree.__setstate__(state)
    return new_tree


def check_tree_shape(
    left: Ints,
    right: Ints,
    feature: Ints,
    columns: int,
    source: str,
) -> int:
    """Reject anything but a tree: children come after their only parent, columns exist. Returns the depth."""
    many = len(left)
    inner_nodes = np.flatnonzero(left >= 0)
    children = np.concatenate((left[inner_nodes], right[inner_nodes]))
    fits = (
        many > 0
        and np.array_equal(left < 0, right < 0)
        and np.array_equal(np.sort(children), np.arange(1, many))
        and bool((left[inner_nodes] > inner_nodes).all() and (right[inner_nodes] > inner_nodes).all())
        and bool(((feature[inner_nodes] >= 0) & (feature[inner_nodes] < columns)).all())
    )
    if not fits:
        raise DataError(f"{source}: the nodes do not make a tree")
    depth = np.zeros(many, dtype=np.int64)
    for node in inner_nodes.tolist():
        depth[left[node]] = depth[right[node]] = depth[node] + 1
    return int(depth.max())


__all__ = ["FORM", "WrittenTree", "build_sklearn_tree", "check_tree_shape", "read_tree", "write_tree"]
