# SPDX-License-Identifier: MIT
"""Decode a tree that a provider grew on codes to the originals' own values.

Decoding is by location: the rows that go left and right at every node are known, so the threshold is put between the
originals' values where scikit-learn would have put it. The inverse of the code's function, as in the paper, would not
be exact. A model that was not trained on this table under this key is rejected: at every node rows and their classes
are counted and compared with the model. So is one that was grown with settings for which the promise does not hold.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.arrays import Bytes, Flags, Ints, Singles
from sfumato.data.roles.role import Role
from sfumato.errors import DataError, PolicyError
from sfumato.key import Key
from sfumato.mine.codes.booster import Booster
from sfumato.mine.codes.booster_decoding import decode_booster
from sfumato.mine.codes.c45 import C45Tree
from sfumato.mine.codes.c45_decoding import decode_c45
from sfumato.public.codes.learner_columns import convert_for_learners, is_learnable_type, map_in_threads
from sfumato.public.codes.tree_key import TreeKey
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

_CHUNK = 2**16
_HARMLESS_SETTINGS = {"min_samples_leaf": 1, "min_weight_fraction_leaf": 0.0, "class_weight": None}
"""Settings that may split inside a run of one class, or round sums differently there, and when they do not."""
_DRAWS = "draws thresholds at random between codes: its trees cannot be decoded"
_SAVE_XGBOOST = 'is decoded from its file: have the provider call save_model("trees.json")'
_SAVE_LIGHTGBM = "is decoded from its file: have the provider write its dump_model() as JSON"
_REASONS = {
    "ExtraTreeClassifier": _DRAWS,
    "ExtraTreesClassifier": _DRAWS,
    "GradientBoostingClassifier": "splits pure pieces, whose values may be permuted: its trees cannot be decoded",
    "HistGradientBoostingClassifier": "cuts columns into bins by the rank of codes, which are others where values are "
    "permuted, and scikit-learn does not publish its trees: they cannot be decoded",
    "XGBClassifier": _SAVE_XGBOOST,
    "Booster": f"of XGBoost {_SAVE_XGBOOST}; that of LightGBM {_SAVE_LIGHTGBM}",
    "LGBMClassifier": _SAVE_LIGHTGBM,
}
"""Why other learners are refused."""
_WRONG_MODEL = "the model was not trained on this table under this key"


def decode_tree(model: Any, key: Key, table: Table) -> Any:
    """The tree (or forest) that the originals would have given, as a model that predicts on originals.

    `model` is a `C45Tree`, a fitted `DecisionTreeClassifier` or `RandomForestClassifier`, or the path of a file that
    `read_tree` reads. The result has the same kind; boosted trees of XGBoost and LightGBM come as a `Booster`.
    """
    if isinstance(model, (str, Path)):
        from sfumato.mine.codes.tree_files import read_tree

        model = read_tree(model)
    if isinstance(model, C45Tree):
        return decode_c45(model, key, table)
    if isinstance(model, Booster):
        return decode_booster(model, key, table)
    if not hasattr(model, "classes_"):
        return _decode_written(model, key, table)
    tree_key = TreeKey.open(key, table)
    refuse_settings(model, tree_key)
    sight = DecodingTable.of(tree_key, table, list_feature_names(model, table, tree_key))
    order = index_classes([str(name) for name in model.classes_], tree_key)
    decoded_model = copy.deepcopy(model)
    trees = [decoded_model] if hasattr(decoded_model, "tree_") else decoded_model.estimators_
    for tree_index, (tree, bag) in enumerate(zip(trees, _draw_bags(model, len(table)), strict=True)):
        report_progress("decoding trees", tree_index, len(trees))
        tree.tree_ = sight.decode(tree.tree_, bag, order, model.class_weight is not None)
    names = np.array(tree_key.labels.values)[list_kept_classes([str(name) for name in model.classes_], tree_key)]
    decoded_model.classes_ = names
    return decoded_model


def _decode_written(written_tree: Any, key: Key, table: Table) -> Any:
    """A tree from a text or ONNX file: counts that the file leaves out are taken from the table first."""
    from sfumato.mine.codes.tree_files import WrittenTree

    if not isinstance(written_tree, WrittenTree):
        raise PolicyError(_explain_refusal(written_tree))
    tree_key = TreeKey.open(key, table)
    index_classes(list(written_tree.classes), tree_key)
    names = list_released_columns(table, tree_key)
    return decode_tree(
        written_tree.renumber_columns(names).build_model(DecodingTable.of(tree_key, table, names), tree_key), key, table
    )


def refuse_settings(model: Any, key: TreeKey) -> None:
    """Reject learners and settings under which a tree on codes is not the tree on the originals."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    if not isinstance(model, (DecisionTreeClassifier, RandomForestClassifier)):
        raise PolicyError(_explain_refusal(model))
    settings = model.get_params()
    if settings.get("splitter") == "random":
        raise PolicyError('splitter="random" draws thresholds between codes: such a tree cannot be decoded')
    if settings.get("monotonic_cst") is not None:
        raise PolicyError("monotonic constraints refer to the codes: such a tree cannot be decoded")
    if model.n_outputs_ != 1:
        raise PolicyError("the model predicts several columns at once; only one target can be decoded")
    _refuse_rounding(settings.get("class_weight") is not None, key)
    is_random = isinstance(model, RandomForestClassifier) or model.max_features_ < model.n_features_in_
    if is_random and any(not column_key.rising for column_key in key.columns.values()):
        raise PolicyError(
            "some codes descend as values rise, so that branches swap sides and columns are drawn for other nodes: "
            'encode with direction="monotone" for forests and for max_features'
        )
    tearing_names = [name for name, harmless in _HARMLESS_SETTINGS.items() if settings.get(name, harmless) != harmless]
    if key.is_permuted and tearing_names:
        raise PolicyError(
            f"{', '.join(tearing_names)} can make a tree split a pure piece, whose values are permuted: encode with "
            "permute=False for it"
        )


def _explain_refusal(model: Any) -> str:
    """Why a learner's trees cannot be decoded."""
    name = type(model).__name__
    if name in _REASONS:
        return f"{name} {_REASONS[name]}"
    return "only a C45Tree, a fitted DecisionTreeClassifier or RandomForestClassifier, or a file can be decoded"


def _refuse_rounding(is_weighted: bool, key: TreeKey) -> None:
    """Weights of classes are fractions, and their sums depend on the order of the rows."""
    if is_weighted and any(
        column_key.has_merged_values or not column_key.rising for column_key in key.columns.values()
    ):
        raise PolicyError(
            "class_weight adds up fractions in the order of the rows, which differs for codes that descend or that "
            'values closer than 1e-7 share: encode with direction="monotone", columns multiplied by a power of ten'
        )


def list_feature_names(model: Any, table: Table, key: TreeKey) -> tuple[str, ...]:
    """The columns that a model was grown on, in its order; if it does not name them, those of the release."""
    given_names, count = getattr(model, "feature_names_in_", None), int(model.n_features_in_)
    released_names = list_released_columns(table, key)
    if given_names is not None:
        names = tuple(str(name) for name in given_names)
    else:
        names = released_names if len(released_names) == count else tuple(key.columns)
    if len(names) != count or not set(names) <= set(released_names):
        raise PolicyError(
            f"the model was grown on {count} columns, which are not the table's columns of numbers; train it on "
            "a frame with the release's own columns and names"
        )
    return names


def list_released_columns(table: Table, key: TreeKey) -> tuple[str, ...]:
    """The number columns of a release, in its order."""
    return tuple(
        name
        for name, kind in table.frame.schema.items()
        if name != key.target and is_learnable_type(kind) and table.roles.get(name) is not Role.IDENTIFYING
    )


def _draw_bags(model: Any, rows: int) -> list[tuple[Ints, Ints]]:
    """The rows that each tree was grown on, and how often each was drawn."""
    whole = np.arange(rows), np.ones(rows, dtype=np.int64)
    if hasattr(model, "tree_"):
        return [whole]
    if model._n_samples != rows:
        raise DataError(f"{_WRONG_MODEL}: it was trained on a different number of rows")
    if not model.bootstrap:
        return [whole] * len(model.estimators_)
    bag_counts = [np.bincount(bag, minlength=rows) for bag in model.estimators_samples_]
    return [(np.flatnonzero(times), times[times > 0]) for times in bag_counts]


def list_kept_classes(codes: list[str], key: TreeKey) -> list[int]:
    """Which of the key's classes a model predicts, in the originals' order."""
    return [index for index, code in enumerate(key.labels.codes) if code in set(codes)]


def index_classes(codes: list[str], key: TreeKey) -> Ints:
    """For each of the key's classes, its index among the model's; −1 if the model does not predict it."""
    class_index = {name: index for index, name in enumerate(codes)}
    order = np.array([class_index.get(code, -1) for code in key.labels.codes], dtype=np.int64)
    if int((order >= 0).sum()) != len(class_index):
        raise DataError(
            f"{_WRONG_MODEL}: its classes are not those of the key. It must be trained on the labels as they are in "
            "the release"
        )
    return order


@dataclass(frozen=True)
class NodeWalk:
    """The counts at each node after sending the rows down a tree."""

    count: Ints
    missing: Bytes
    """Whether some row's cell was missing."""
    tally: Ints
    """Weighted rows of each of the model's classes."""
    sides: Singles
    """The largest true value on the lower side, and the smallest on the upper one; infinite where a side is empty."""

    @classmethod
    def start(cls, nodes: int, classes: int) -> NodeWalk:
        """Before any row went down."""
        open_sides = np.array([-np.inf, np.inf], dtype=np.float32)
        count, missing = np.zeros(nodes, dtype=np.int64), np.zeros(nodes, dtype=np.uint8)
        return cls(count, missing, np.zeros((nodes, classes), dtype=np.int64), np.tile(open_sides, (nodes, 1)))

    def add_tally(self, other: NodeWalk) -> NodeWalk:
        """The combined counts of two parts of the rows."""
        lower, upper = np.maximum(self.sides[:, 0], other.sides[:, 0]), np.minimum(self.sides[:, 1], other.sides[:, 1])
        missing = self.missing | other.missing
        return NodeWalk(self.count + other.count, missing, self.tally + other.tally, np.column_stack((lower, upper)))


@dataclass(frozen=True)
class DecodingTable:
    """A table in two forms: in codes, as the provider's learner saw it, and in originals."""

    coded_cells: Singles
    true: Singles
    is_rising: Flags
    classes: Ints
    """Each row's class, as an index into the key's classes."""

    @classmethod
    def of(cls, key: TreeKey, table: Table, names: tuple[str, ...]) -> DecodingTable:
        """Encode the columns that a model was grown on."""
        places = key.locate_cells(table)
        true = [convert_for_learners(table.frame[name], table.source) for name in names]
        coded_columns = [
            key.columns[name].encode(places[name]).astype(np.float32) if name in key.columns else column
            for name, column in zip(names, true, strict=True)
        ]
        is_rising = [name not in key.columns or key.columns[name].rising for name in names]
        classes = key.labels.number_values(table.frame[key.target], table.source)
        if int(classes.min(initial=0)) < 0:
            raise DataError(f'{table.source}: the target "{key.target}" is missing in some rows; leave them out')
        return cls(np.column_stack(coded_columns), np.column_stack(true), np.array(is_rising), classes)

    def decode(self, tree: Any, bag: tuple[Ints, Ints], order: Ints, is_weighted: bool) -> Any:
        """The same tree with the originals' thresholds and classes."""
        state = tree.__getstate__()
        nodes = state["nodes"].copy()
        walk = self.walk_bag(nodes, bag, order, int(state["values"].shape[2]))
        _refuse_stranger(nodes, state["values"], walk, is_weighted)
        _restore_thresholds(nodes, self.is_rising, walk)
        values = np.ascontiguousarray(state["values"][:, :, order[order >= 0]])
        new_tree = type(tree)(tree.n_features, np.asarray(tree.n_classes, dtype=np.intp), tree.n_outputs)
        new_tree.__setstate__({**state, "nodes": nodes, "values": values})
        return new_tree

    def walk_bag(self, nodes: Any, bag: tuple[Ints, Ints], order: Ints, classes: int) -> NodeWalk:
        """Send the rows of a bag down a tree."""
        from sfumato.kernels.codes.tree_walk import FEATURE, IS_FALLING, LEFT_NODE, NodeTally, sum_children, walk_tree

        names = ("left_child", "right_child", "feature", "missing_go_to_left")
        parts = np.column_stack([nodes[name] for name in names] + [np.zeros(len(nodes["feature"]))]).astype(np.int32)
        tests = parts[:, LEFT_NODE] >= 0
        parts[tests, IS_FALLING] = ~self.is_rising[parts[tests, FEATURE]]
        threshold = nodes["threshold"].astype(np.float64)
        class_codes = order[self.classes]
        rows, weights = bag
        if int(class_codes[rows].min(initial=0)) < 0:
            raise DataError(f"{_WRONG_MODEL}: some rows have a class that it does not predict")

        def walk_half(half: slice) -> NodeWalk:
            walk = NodeWalk.start(len(parts), classes)
            tally = NodeTally(walk.count, walk.missing, walk.tally, walk.sides)
            for begin in range(half.start, half.stop, _CHUNK):
                report_progress("sending rows down the tree", begin, len(rows))
                part = slice(begin, min(begin + _CHUNK, half.stop))
                walk_tree(rows[part], weights[part], self.coded_cells, self.true, class_codes, parts, threshold, tally)
            return walk

        middle = len(rows) // 2 if len(rows) > _CHUNK else len(rows)
        walks = map_in_threads(
            walk_half, [slice(0, middle), slice(middle, len(rows))][: 2 if middle < len(rows) else 1]
        )
        whole_walk = walks[0] if len(walks) == 1 else walks[0].add_tally(walks[1])
        sum_children(parts, whole_walk.count, whole_walk.tally)
        return whole_walk


def _refuse_stranger(nodes: Any, values: Any, walk: NodeWalk, is_weighted: bool) -> None:
    """Compare rows and classes at every node with the model."""
    if not np.array_equal(nodes["n_node_samples"], walk.count):
        raise DataError(f"{_WRONG_MODEL}: different numbers of rows reach its nodes")
    expected_tally = (
        values[:, 0, :] / values[:, 0, :].sum(axis=1, keepdims=True) * nodes["weighted_n_node_samples"][:, None]
    )
    # Class weights show at the root, and are the same at every other node.
    weight = expected_tally[0] / np.maximum(walk.tally[0], 1) if is_weighted else 1.0
    agrees = np.allclose(expected_tally, walk.tally * weight, rtol=1e-6, atol=1e-9)
    if not agrees:
        raise DataError(f"{_WRONG_MODEL}: rows of other classes reach its nodes")


def _restore_thresholds(nodes: Any, is_rising: Flags, walk: NodeWalk) -> None:
    """Give every test the originals' threshold, and swap the children where codes descend."""
    tests = (nodes["left_child"] >= 0) & np.isfinite(nodes["threshold"])
    rising_mask = np.ones(len(nodes), dtype=bool)
    rising_mask[tests] = is_rising[nodes["feature"][tests]]
    lower, upper = walk.sides[:, 0].astype(np.float64), walk.sides[:, 1].astype(np.float64)
    # Infinite where a side is empty: not a split that a learner makes.
    fit = (lower < upper) & np.isfinite(lower) & np.isfinite(upper)
    if not bool(fit[tests].all()):
        raise DataError(
            f"{_WRONG_MODEL}, or with settings that the promise does not cover: a node splits inside a pure piece, "
            "whose values are permuted"
        )
    nodes["threshold"][tests] = lower[tests] / 2.0 + upper[tests] / 2.0
    turned_mask = tests & ~rising_mask
    left, right = nodes["left_child"].copy(), nodes["right_child"].copy()
    nodes["left_child"][turned_mask], nodes["right_child"][turned_mask] = right[turned_mask], left[turned_mask]
    goes_left = nodes["missing_go_to_left"].astype(bool)
    with_missing = walk.missing > 0
    goes_left[turned_mask & with_missing] ^= True
    # If nothing is missing, scikit-learn sends later missing values to the larger side.
    bare = tests & ~with_missing
    goes_left[bare] = (walk.count[nodes["left_child"]] > walk.count[nodes["right_child"]])[bare]
    nodes["missing_go_to_left"] = goes_left


def tree_rules(model: Any, names: list[str] | tuple[str, ...]) -> str:
    """A tree as text, one line per test and leaf, at any depth."""
    from sklearn.tree import export_text

    if isinstance(model, C45Tree):
        return model.spell_rules()
    return str(export_text(model, feature_names=list(names), max_depth=max(model.get_depth(), 1), decimals=6))
