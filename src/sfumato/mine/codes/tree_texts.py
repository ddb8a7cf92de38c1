# SPDX-License-Identifier: MIT
"""Trees in text form: tests and classes, without counts. scikit-learn's `export_text` is one such form.

Text rounds thresholds (by default to 2 decimals) and omits how many rows reach a node. The table restores both: a
threshold lies half-way between two codes of the node's rows, and if the rounded one does not identify such a place the
text is rejected. So is a text that was cut off, or over columns with missing cells, whose direction it does not state.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.arrays import Bytes, Floats, Ints
from sfumato.errors import DataError, PolicyError, count_noun
from sfumato.public.codes.tree_key import TreeKey

_LINE = re.compile(r"^(?P<bars>(?:\|   )*)\|--- (?P<said>.*)$")
_TEST = re.compile(r"^(?P<name>.*) (?P<sign><=|> ) (?P<number>-?\d+(?:\.(?P<decimals>\d+))?|-?inf|nan)$")
_LEAF = re.compile(r"^(?:weights: \[[^\]]*\] )?class: (?P<name>.*)$")


@dataclass(frozen=True)
class WrittenTree:
    """A tree's tests and leaves, as a file states them."""

    source: str
    features: tuple[str, ...] | None
    """The columns by name; None if they are those of the release, in its order."""
    left: Ints
    right: Ints
    feature: Ints
    threshold: Floats
    slack: Floats
    """How far each threshold may be off by rounding."""
    leaf_classes: tuple[str, ...]
    """The class of each leaf; empty at a test."""
    missing_left: Bytes | None = None
    """Where missing cells go; None if the file does not state it."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of the leaves."""
        return tuple(sorted({leaf_class for leaf_class in self.leaf_classes if leaf_class}))

    def renumber_columns(self, names: tuple[str, ...]) -> WrittenTree:
        """The same tree with its columns numbered as given: the file need not name those it never tests."""
        if self.features is None:
            column_places = np.arange(len(names))
        else:
            unknown = [name for name in self.features if name not in names]
            if unknown:
                raise PolicyError(
                    f"{self.source}: {count_noun(len(unknown), 'column is', 'columns are')} not among the "
                    "release's columns of numbers"
                )
            column_places = np.array([names.index(name) for name in self.features], dtype=np.int64)
        tests = self.left >= 0
        if int(self.feature[tests].max(initial=-1)) >= len(column_places):
            raise PolicyError(f"{self.source}: the model has more columns than the release has columns of numbers")
        feature = self.feature.copy()
        feature[tests] = column_places[feature[tests]]
        return replace(self, features=names, feature=feature)

    def build_model(self, sight: Any, key: TreeKey) -> Any:
        """A scikit-learn model of it, with the counts from the encoded table."""
        from sklearn.tree import DecisionTreeClassifier

        from sfumato.mine.codes.tree_files import build_sklearn_tree

        names = self.features or ()
        kept_classes = sorted(
            code for index, code in enumerate(key.labels.codes) if bool((sight.classes == index).any())
        )
        order = np.array(
            [kept_classes.index(code) if code in kept_classes else -1 for code in key.labels.codes], dtype=np.int64
        )
        walk = self._walk_rows(sight, order, len(kept_classes))
        self._refuse_other_leaves(walk.tally, kept_classes)
        tally = walk.tally
        shares = tally / np.maximum(tally.sum(axis=1, keepdims=True), 1)
        parts = {
            "left": self.left, "right": self.right, "feature": self.feature, "threshold": self.threshold,
            "missing_left": self._send_missing(walk.count), "impurity": 1 - (shares**2).sum(axis=1),
            "rows": walk.count, "weight": walk.count, "values": shares,
        }  # fmt: skip
        model: Any = DecisionTreeClassifier()
        model.tree_ = build_sklearn_tree(parts, len(names), len(kept_classes), self.source)
        model.classes_, model.n_classes_, model.n_outputs_ = np.array(kept_classes), len(kept_classes), 1
        model.n_features_in_ = model.max_features_ = len(names)
        model.feature_names_in_ = np.array(names, dtype=object)
        return model

    def _send_missing(self, count: Ints) -> Bytes:
        if self.missing_left is not None:
            return self.missing_left
        return np.asarray(count[self.left] > count[self.right], dtype=np.uint8)

    def _walk_rows(self, sight: Any, order: Ints, classes: int) -> Any:
        """Send the rows down by their codes, and check that every threshold lies half-way between two of them."""
        codes = type(sight)(sight.coded_cells, sight.coded_cells, np.ones_like(sight.is_rising), sight.classes)
        nodes: dict[str, npt.NDArray[Any]] = {
            "left_child": self.left,
            "right_child": self.right,
            "feature": self.feature,
        }
        nodes |= {"threshold": self.threshold, "missing_go_to_left": np.zeros(len(self.left), dtype=np.uint8)}
        if self.missing_left is not None:
            nodes["missing_go_to_left"] = self.missing_left
        rows = np.arange(len(sight.coded_cells))
        walk = codes.walk_bag(nodes, (rows, np.ones(len(rows), dtype=np.int64)), order, classes)
        tests = self.left >= 0
        if self.missing_left is None and bool(walk.missing[tests].any()):
            raise DataError(f"{self.source}: the file does not state where missing cells go; use write_tree's JSON")
        lower, upper = walk.sides[:, 0].astype(np.float64), walk.sides[:, 1].astype(np.float64)
        slack = self.slack * (1 + 1e-6) + np.abs(self.threshold) * 1e-15
        with np.errstate(invalid="ignore"):
            misplaced_mask = ~(np.abs(lower / 2 + upper / 2 - self.threshold) <= slack)
        # No code may be so near that rounding could have moved the threshold past it.
        misplaced_mask |= (lower >= self.threshold - slack) | (upper <= self.threshold + slack)
        if bool(misplaced_mask[tests].any()):
            raise DataError(
                f"{self.source}: {count_noun(int(misplaced_mask[tests].sum()), 'threshold is', 'thresholds are')} "
                "not half-way between two codes "
                "of the rows that reach them: the model was not trained on this table under this key, or its "
                "thresholds are rounded too much (export_text has decimals=…)"
            )
        return walk

    def _refuse_other_leaves(self, tally: Ints, kept_classes: list[str]) -> None:
        commonest = np.array(kept_classes)[tally.argmax(axis=1)]
        for leaf in np.flatnonzero(self.left < 0):
            if self.leaf_classes[leaf] != commonest[leaf]:
                raise DataError(
                    f"{self.source}: the model was not trained on this table under this key: rows of other classes "
                    "reach its leaves"
                )


def parse_tree_text(text: str, source: str) -> WrittenTree:
    """Read what scikit-learn's `export_text` wrote."""
    lines = [_LINE.match(line) for line in text.splitlines() if line.strip()]
    if not lines or any(line is None for line in lines):
        raise DataError(f"{source}: not a tree written by export_text, nor any other readable form")
    if any("truncated branch" in line["said"] for line in lines if line):
        raise DataError(f"{source}: branches are cut off; export_text has max_depth=…")
    reader = _TreeTextReader(source, [(len(line["bars"]) // 4, line["said"]) for line in lines if line])
    reader.branch(0)
    return reader.build_tree()


class _TreeTextReader:
    """Reads the lines once; a node's first test is followed by its branch, then by the opposite test."""

    def __init__(self, source: str, lines: list[tuple[int, str]]) -> None:
        self.source, self.lines, self.line_index = source, lines, 0
        self.left: list[int] = []
        self.right: list[int] = []
        self.names: list[str] = []
        self.threshold: list[float] = []
        self.slack: list[float] = []
        self.leaf_classes: list[str] = []

    def branch(self, depth: int) -> None:
        """Read one node and everything below it with an explicit stack: trees may be deep."""
        stack: list[tuple[int, int, str]] = [(depth, -1, "left")]
        while stack:
            depth, parent, side = stack.pop()
            if side == "right":
                self._read_second_test(depth - 1, parent)
            node = self._read_node(depth)
            if parent >= 0:
                (self.left if side == "left" else self.right)[parent] = node
            if not self.leaf_classes[node]:
                stack += [(depth + 1, node, "right"), (depth + 1, node, "left")]
        if self.line_index != len(self.lines):
            self._refuse()

    def _read_node(self, depth: int) -> int:
        """A leaf, or the first of a node's two tests."""
        parsed_test = self._take_line(depth)
        node = len(self.leaf_classes)
        leaf, test = _LEAF.match(parsed_test), _TEST.match(parsed_test)
        if leaf is None and (test is None or test["sign"] != "<="):
            self._refuse()
        self.left.append(-1)
        self.right.append(-1)
        self.leaf_classes.append(leaf["name"] if leaf else "")
        self.names.append(test["name"] if test and not leaf else "")
        self.threshold.append(float(test["number"]) if test and not leaf else -2.0)
        self.slack.append(0.5 * 10.0 ** -len(test["decimals"] or "") if test and not leaf else 0.0)
        return node

    def _read_second_test(self, depth: int, node: int) -> None:
        """The second test of a node, the opposite of the first; its branch is one level deeper."""
        test = _TEST.match(self._take_line(depth))
        if test is None or test["sign"] != "> " or test["name"] != self.names[node]:
            self._refuse()

    def _take_line(self, depth: int) -> str:
        if self.line_index >= len(self.lines) or self.lines[self.line_index][0] != depth:
            self._refuse()
        self.line_index += 1
        return self.lines[self.line_index - 1][1]

    def _refuse(self) -> Any:
        raise DataError(f"{self.source}: line {self.line_index + 1} is not what export_text would write there")

    def build_tree(self) -> WrittenTree:
        """The tree read."""
        used_names = [name for name in dict.fromkeys(self.names) if name]
        bare = all(re.fullmatch(r"feature_\d+", name) for name in used_names)
        column_index = {name: int(name[8:]) if bare else index for index, name in enumerate(used_names)}
        return WrittenTree(
            self.source,
            None if bare else tuple(used_names),
            np.array(self.left, dtype=np.int64),
            np.array(self.right, dtype=np.int64),
            np.array([column_index.get(name, -2) for name in self.names], dtype=np.int64),
            np.array(self.threshold),
            np.array(self.slack),
            tuple(self.leaf_classes),
        )
