# SPDX-License-Identifier: MIT
"""The tree that a provider grew on codes, told in the originals' own values.

Decoding is by location: at every node the rows that go left and right are known, so the threshold is put between the
originals' values where scikit-learn would have put it. The inverse of the code's function would not do (GOLDEN 004, 1).
A model that was not grown on this table under this key, or in a way for which the promise does not hold, is refused.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.errors import DataError, PolicyError
from sfumato.key import Key
from sfumato.mine.tree_key import TreeKey, as_learners_see, feature_names
from sfumato.progress import tell
from sfumato.table import Table

Singles = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
_LEAF = -1
_TEARING = {"min_samples_leaf": 1, "min_weight_fraction_leaf": 0.0, "class_weight": None}
"""Settings that may split inside a run of one class, or round sums differently there, and when they do not."""


def decode_tree(model: Any, key: Key, table: Table) -> Any:
    """The tree (or forest) that the originals would have given, as a scikit-learn model that predicts on originals."""
    opened = TreeKey.opened(key, table)
    names = feature_names(model, table, opened)
    _refuse_settings(model, opened)
    codes = opened.encoded(table)
    seen = np.column_stack([as_learners_see(codes[name], table.source) for name in names])
    true = np.column_stack([as_learners_see(table.frame[name], table.source) for name in names])
    rising = np.array([opened.columns[name].rising if name in opened.columns else True for name in names])
    decoded = copy.deepcopy(model)
    trees = [decoded] if hasattr(decoded, "tree_") else list(getattr(decoded, "estimators_", ()))
    if not trees:
        raise PolicyError("a fitted DecisionTreeClassifier or RandomForestClassifier can be decoded, and nothing else")
    bags = _bags(model, len(table))
    for done, (one, bag) in enumerate(zip(trees, bags, strict=True)):
        tell("decoding trees", done, len(trees))
        one.tree_ = _Decoding(seen, true, rising).decoded(one.tree_, bag, _class_order(model, opened))
    _rename_classes(decoded, trees, opened)
    return decoded


def _bags(model: Any, rows: int) -> list[Ints]:
    """The rows that each tree was grown on."""
    if hasattr(model, "tree_"):
        return [np.arange(rows)]
    if not model.bootstrap:
        return [np.arange(rows)] * len(model.estimators_)
    drawn = [np.asarray(bag) for bag in model.estimators_samples_]
    if any(len(bag) and int(bag.max()) >= rows for bag in drawn):
        raise DataError("the forest was grown on more rows than the table has: it belongs to another table")
    return [np.unique(bag) for bag in drawn]


def _refuse_settings(model: Any, key: TreeKey) -> None:
    """Settings under which a tree on codes is not the tree on the originals."""
    given = model.get_params() if hasattr(model, "get_params") else {}
    if given.get("splitter") == "random":
        raise PolicyError('splitter="random" draws thresholds between codes: such a tree cannot be decoded')
    if given.get("monotonic_cst") is not None:
        raise PolicyError("monotonic constraints speak of the codes: such a tree cannot be decoded")
    torn = [name for name, harmless in _TEARING.items() if given.get(name, harmless) != harmless]
    if key.permuted and torn:
        raise PolicyError(
            f"{', '.join(torn)} can make a tree split a pure piece, whose values changed places: encode with "
            "permute=False for it"
        )


def _class_order(model: Any, key: TreeKey) -> Ints:
    """For each original class in order, where it stands among the model's classes."""
    place = {str(name): at for at, name in enumerate(model.classes_)}
    known = dict(zip(key.labels.values, key.labels.codes, strict=True))
    kept = [place[code] for code in known.values() if code in place]
    if len(kept) != len(place):
        raise DataError("the model tells other classes than the key knows: it belongs to another key")
    return np.asarray(kept, dtype=np.int64)


def _rename_classes(model: Any, trees: list[Any], key: TreeKey) -> None:
    back = dict(zip(key.labels.codes, key.labels.values, strict=True))
    names = np.array([back[str(code)] for code in model.classes_])
    ordered = names[_class_order(model, key)]
    for one in {id(one): one for one in (model, *trees)}.values():
        if one is model or one.classes_.dtype.kind not in "fiu":
            one.classes_ = ordered


class _Decoding:
    """Walks a tree from the root, with the rows that reach each node."""

    def __init__(self, seen: Singles, true: Singles, rising: npt.NDArray[np.bool_]) -> None:
        self.seen, self.true, self.rising = seen, true, rising

    def decoded(self, tree: Any, rows: Ints, classes: Ints) -> Any:
        """The same tree with the originals' thresholds and classes."""
        state = tree.__getstate__()
        nodes = state["nodes"].copy()
        waiting = [(0, rows)]
        while waiting:
            node, here = waiting.pop()
            if nodes["n_node_samples"][node] != len(here):
                raise DataError(
                    "the model was not grown on this table under this key: other numbers of rows reach its nodes"
                )
            if nodes["left_child"][node] != _LEAF:
                waiting += self._split(nodes, node, here)
        values = np.ascontiguousarray(state["values"][:, :, classes])
        made = type(tree)(tree.n_features, np.asarray(tree.n_classes, dtype=np.intp), tree.n_outputs)
        made.__setstate__({**state, "nodes": nodes, "values": values})
        return made

    def _split(self, nodes: Any, node: int, here: Ints) -> list[tuple[int, Ints]]:
        """Put one node right; its children with their rows."""
        feature, threshold = int(nodes["feature"][node]), float(nodes["threshold"][node])
        codes, values = self.seen[here, feature], self.true[here, feature]
        missing = np.isnan(codes)
        left = np.where(missing, bool(nodes["missing_go_to_left"][node]), codes <= threshold)
        first, second = int(nodes["left_child"][node]), int(nodes["right_child"][node])
        if np.isfinite(threshold):
            lower, upper = left & ~missing, ~left & ~missing
            if not self.rising[feature]:
                lower, upper, first, second, left = upper, lower, second, first, ~left
            nodes["threshold"][node] = _between(values[lower], values[upper])
            nodes["left_child"][node], nodes["right_child"][node] = first, second
        many = int(left.sum())
        nodes["missing_go_to_left"][node] = bool(left[missing][0]) if missing.any() else many > len(here) - many
        return [(first, here[left]), (second, here[~left])]


def _between(lower: Singles, upper: Singles) -> float:
    """Where scikit-learn puts a threshold between two values."""
    if not len(lower) or not len(upper) or lower.max() >= upper.min():
        raise DataError(
            "a node splits inside a pure piece, whose values changed places: the model was not grown on this table "
            "under this key, or with settings that the promise does not cover"
        )
    return float(lower.max()) / 2.0 + float(upper.min()) / 2.0


def tree_rules(model: Any, names: list[str] | tuple[str, ...]) -> str:
    """A tree as text, a line for each test and each leaf."""
    from sklearn.tree import export_text

    return str(export_text(model, feature_names=list(names)))
