# SPDX-License-Identifier: MIT
"""Read boosted trees from JSON: XGBoost's `save_model("….json")` and LightGBM's `dump_model()`.

Whatever cannot be decoded is rejected with its reason: other boosters and objectives, categories, weights of classes,
linear leaves.
"""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import numpy as np

from sfumato.arrays import Flags, Floats, Ints
from sfumato.errors import DataError, PolicyError
from sfumato.mine.codes.booster import Booster, BoosterTree

_LEAF = -1


def is_booster(content: Any) -> bool:
    """Whether a JSON file holds boosted trees."""
    return isinstance(content, dict) and (
        ("learner" in content and "version" in content) or ("tree_info" in content and "objective" in content)
    )


def read_booster(content: dict[str, Any], source: str) -> Booster:
    """Read the content of a JSON file."""
    try:
        return _read_xgboost(content, source) if "learner" in content else _read_lightgbm(content, source)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError):
        raise DataError(f"{source}: not boosted trees as XGBoost or LightGBM writes them") from None


def _read_xgboost(content: dict[str, Any], source: str) -> Booster:
    learner = content["learner"]
    booster, objective = learner["gradient_booster"], learner["objective"]
    if booster["name"] != "gbtree":
        raise PolicyError(f"{source}: only XGBoost's booster gbtree can be decoded")
    if objective["name"] not in ("binary:logistic", "multi:softprob", "multi:softmax"):
        raise PolicyError(f"{source}: only trees that classify (binary:logistic, multi:softprob) can be decoded")
    if float(objective.get("reg_loss_param", {}).get("scale_pos_weight", 1)) != 1:
        raise PolicyError(f"{source}: scale_pos_weight weighs classes by number; such trees cannot be decoded")
    model, model_params = booster["model"], learner["learner_model_param"]
    if int(model["gbtree_model_param"]["num_parallel_tree"]) != 1:
        raise PolicyError(f"{source}: boosted forests (num_parallel_tree) cannot be decoded")
    binary, columns = objective["name"] == "binary:logistic", int(model_params["num_feature"])
    groups = 1 if binary else int(model_params["num_class"])
    start = np.broadcast_to(np.array(json.loads(str(model_params["base_score"])), dtype=np.float64).ravel(), groups)
    trees = tuple(
        _read_xgboost_tree(tree, int(group), columns, source)
        for tree, group in zip(model["trees"], model["tree_info"], strict=True)
    )
    _refuse_strange_trees(trees, groups, source)
    names = tuple(str(name) for name in learner["feature_names"]) or None
    if names is not None and len(names) != columns:
        raise ValueError
    first = np.log(start / (1 - start)) if binary else start.copy()
    return Booster("XGBoost", source, names, columns, trees, first, 1.0, content, _rewrite_xgboost)


def _read_xgboost_tree(tree_content: dict[str, Any], group: int, columns: int, source: str) -> BoosterTree:
    if any(tree_content["split_type"]):
        raise PolicyError(f"{source}: a test of categories; such trees cannot be decoded")
    left, right, feature = (
        np.array(tree_content[part], dtype=np.int64) for part in ("left_children", "right_children", "split_indices")
    )
    conditions = np.array(tree_content["split_conditions"], dtype=np.float32).astype(np.float64)
    parts = (right, feature, conditions, tree_content["default_left"], tree_content["sum_hessian"])
    if any(len(part) != len(left) for part in parts):
        raise ValueError
    reached_mask = _reach_nodes(left, right)
    left, right = np.where(reached_mask, left, _LEAF), np.where(reached_mask, right, _LEAF)
    if int(feature[left >= 0].max(initial=0)) >= columns or int(feature[left >= 0].min(initial=0)) < 0:
        raise ValueError
    missing = np.array(tree_content["default_left"], dtype=np.bool_)
    cover = np.where(reached_mask, np.array(tree_content["sum_hessian"], dtype=np.float64), 0.0)
    return BoosterTree(left, right, feature, conditions, missing, conditions, cover, group)


def _reach_nodes(left: Ints, right: Ints) -> Flags:
    """Which nodes the root leads to; a file may still hold those that pruning cut off."""
    reached_mask, stack = np.zeros(len(left), dtype=np.bool_), [0]
    while stack:
        node = stack.pop()
        if reached_mask[node]:
            raise ValueError
        reached_mask[node] = True
        if left[node] >= 0:
            if min(left[node], right[node]) <= node:  # so a walk ends
                raise ValueError
            stack += [int(left[node]), int(right[node])]
    return reached_mask


def _rewrite_xgboost(content: dict[str, Any], thresholds: list[Floats]) -> dict[str, Any]:
    new_content = copy.deepcopy(content)
    for tree, new in zip(new_content["learner"]["gradient_booster"]["model"]["trees"], thresholds, strict=True):
        tree["split_conditions"] = [float(threshold) for threshold in new]
    return new_content


def _read_lightgbm(content: dict[str, Any], source: str) -> Booster:
    objective = re.fullmatch(r"(binary|multiclass)(?: num_class:\d+)?(?: sigmoid:([\d.]+))?", content["objective"])
    if objective is None:
        raise PolicyError(f"{source}: only trees that classify (binary, multiclass) can be decoded")
    if content.get("average_output"):
        raise PolicyError(f"{source}: LightGBM's random forests cannot be decoded")
    groups, columns = int(content["num_tree_per_iteration"]), int(content["max_feature_idx"]) + 1
    names = tuple(str(name) for name in content["feature_names"])
    if len(names) != columns or groups < 1:
        raise ValueError
    bare = all(re.fullmatch(r"Column_\d+", name) for name in names)
    trees = tuple(
        _read_lightgbm_tree(tree["tree_structure"], index % groups, columns, source)
        for index, tree in enumerate(content["tree_info"])
    )
    _refuse_strange_trees(trees, groups, source)
    slope = float(objective[2] or 1) if objective[1] == "binary" else 1.0
    return Booster(
        "LightGBM", source, None if bare else names, columns, trees, np.zeros(groups), slope, content, _rewrite_lightgbm
    )


def _list_lightgbm_nodes(root: dict[str, Any]) -> list[dict[str, Any]]:
    """The nodes, parents first; a tree may be deep."""
    nodes, stack = [], [root]
    while stack:
        node = stack.pop()
        nodes.append(node)
        if "left_child" in node:
            stack += [node["right_child"], node["left_child"]]
    return nodes


def _read_lightgbm_tree(root: dict[str, Any], group: int, columns: int, source: str) -> BoosterTree:
    nodes = _list_lightgbm_nodes(root)
    index_of = {id(node): index for index, node in enumerate(nodes)}
    tests = ["left_child" in node for node in nodes]
    if any("leaf_coeff" in node for node in nodes):
        raise PolicyError(f"{source}: leaves with linear models (linear_tree) cannot be decoded")
    if any(node["decision_type"] != "<=" for node, test in zip(nodes, tests, strict=True) if test):
        raise PolicyError(f"{source}: a test of categories; such trees cannot be decoded")
    left, right = (
        np.array([index_of[id(n[side])] if t else _LEAF for n, t in zip(nodes, tests, strict=True)], dtype=np.int64)
        for side in ("left_child", "right_child")
    )
    feature = np.array([int(node.get("split_feature", _LEAF)) for node in nodes], dtype=np.int64)
    if int(feature.max()) >= columns or int(feature[np.array(tests)].min(initial=0)) < 0:
        raise ValueError
    return BoosterTree(
        left, right, feature,
        np.array([float(node.get("threshold", np.nan)) for node in nodes]),
        np.array([_sends_missing_left(node) if test else False for node, test in zip(nodes, tests, strict=True)]),
        np.array([0.0 if test else float(node["leaf_value"]) for node, test in zip(nodes, tests, strict=True)]),
        np.array([float(node.get("internal_count", node.get("leaf_count", 0))) for node in nodes]),
        group,
    )  # fmt: skip


def _sends_missing_left(node: dict[str, Any]) -> bool:
    """LightGBM takes missing numbers for 0 where none were missing in training."""
    if node["missing_type"] == "NaN":
        return bool(node["default_left"])
    if node["missing_type"] != "None":
        raise ValueError
    return float(node["threshold"]) >= 0


def _rewrite_lightgbm(content: dict[str, Any], thresholds: list[Floats]) -> dict[str, Any]:
    new_content = copy.deepcopy(content)
    for tree, new in zip(new_content["tree_info"], thresholds, strict=True):
        for node, threshold in zip(_list_lightgbm_nodes(tree["tree_structure"]), new, strict=True):
            if "left_child" in node:
                node["threshold"] = float(threshold)
    # The least and largest number of each column are codes, and say nothing about the originals.
    new_content.pop("feature_infos", None)
    return new_content


def _refuse_strange_trees(trees: tuple[BoosterTree, ...], groups: int, source: str) -> None:
    fit = all(
        0 <= tree.group < groups
        and bool(np.isfinite(tree.threshold[tree.tests]).all())
        and bool(np.isfinite(tree.value[~tree.tests]).all() and np.isfinite(tree.cover).all())
        for tree in trees
    )
    if not fit or not trees:
        raise DataError(f"{source}: there are no trees, or some of their numbers are not finite")
