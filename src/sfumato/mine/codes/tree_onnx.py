# SPDX-License-Identifier: MIT
"""Read a decision tree from an ONNX file with the `onnx` package (an extra): the file's only tree classifier.

ONNX stores thresholds as 32-bit floats; the table corrects them, or the file is rejected (see `tree_texts`). A forest
is rejected: the file does not contain which rows each tree was grown on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.errors import DataError, PolicyError, spell_install
from sfumato.mine.codes.tree_texts import WrittenTree

_OPERATION = "TreeEnsembleClassifier"


def read_onnx(content: bytes, source: str) -> WrittenTree:
    """Read a file that skl2onnx or another converter wrote."""
    try:
        import onnx
    except ImportError:
        raise PolicyError(f"{source}: ONNX files need the package onnx: {spell_install('onnx')}") from None
    try:
        model = onnx.load_model_from_string(content)
        tree_nodes = [node for node in model.graph.node if node.op_type == _OPERATION]
    except Exception as error:  # whatever the parser raises at a broken file
        raise DataError(f"{source}: not an ONNX file ({type(error).__name__})") from None
    if len(tree_nodes) != 1:
        raise DataError(f"{source}: {len(tree_nodes)} tree classifiers in the file, but exactly one is needed")
    parts = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in tree_nodes[0].attribute}
    try:
        return _parse_onnx_tree(parts, source)
    except (KeyError, ValueError, IndexError):
        raise DataError(f"{source}: the file's tree lacks some of its nodes") from None


def _parse_onnx_tree(parts: dict[str, Any], source: str) -> WrittenTree:
    from sfumato.mine.codes.tree_files import check_tree_shape

    if len(set(parts["nodes_treeids"])) != 1:
        raise DataError(f"{source}: a forest in ONNX lacks the rows each tree was grown on; use write_tree")
    ids = list(parts["nodes_nodeids"])
    modes = [mode.decode() for mode in parts["nodes_modes"]]
    if set(modes) - {"LEAF", "BRANCH_LEQ"}:
        raise DataError(f'{source}: a test other than "at most"')
    node_index = {node: index for index, node in enumerate(_order_nodes(ids, modes, parts))}
    order = sorted(range(len(ids)), key=lambda index: node_index[ids[index]])
    tests = np.array([modes[index] != "LEAF" for index in order])
    left, right = (
        np.array([node_index[parts[side][index]] if modes[index] != "LEAF" else -1 for index in order], dtype=np.int64)
        for side in ("nodes_truenodeids", "nodes_falsenodeids")
    )
    feature = np.array(
        [parts["nodes_featureids"][index] if modes[index] != "LEAF" else -2 for index in order], dtype=np.int64
    )
    threshold = np.array([float(parts["nodes_values"][index]) if modes[index] != "LEAF" else -2.0 for index in order])
    columns = int(feature.max(initial=0)) + 1
    check_tree_shape(left, right, feature, columns, source)
    tracks = parts.get("nodes_missing_value_tracks_true")
    missing = None if tracks is None else np.array([tracks[index] for index in order], dtype=np.uint8)
    slack = np.where(tests, np.abs(threshold) * 2.0**-23, 0.0)
    leaf_classes = _list_leaf_classes(parts, [ids[index] for index in order], tests, source)
    return WrittenTree(source, None, left, right, feature, threshold, slack, leaf_classes, missing)


def _order_nodes(ids: list[int], modes: list[str], parts: dict[str, Any]) -> list[int]:
    """The nodes from the root down, parents first."""
    index_of = {node: position for position, node in enumerate(ids)}
    kids = [k for p, mode in enumerate(modes) if mode != "LEAF" for k in _list_children(parts, p)]
    stack = [node for node in ids if node not in set(kids)]
    order: list[int] = []
    while stack and len(order) <= len(ids):
        node = stack.pop()
        order.append(node)
        if modes[index_of[node]] != "LEAF":
            stack += reversed(_list_children(parts, index_of[node]))
    if sorted(order) != sorted(ids):
        raise ValueError
    return order


def _list_children(parts: dict[str, Any], index: int) -> list[int]:
    return [int(parts["nodes_truenodeids"][index]), int(parts["nodes_falsenodeids"][index])]


def _list_leaf_classes(parts: dict[str, Any], ids: list[int], tests: Any, source: str) -> tuple[str, ...]:
    """The class of each leaf: the one with the largest weight, the first of several."""
    if not parts.get("classlabels_strings"):
        raise DataError(f"{source}: the classes have no names; the model must be trained on the release's own labels")
    labels = [label.decode() for label in parts["classlabels_strings"]]
    weights: dict[int, dict[int, float]] = {}
    for node, kind, weight in zip(parts["class_nodeids"], parts["class_ids"], parts["class_weights"], strict=True):
        weights.setdefault(int(node), {})[int(kind)] = float(weight)
    return tuple(
        "" if test else labels[_find_heaviest_class(weights[node], len(labels))]
        for node, test in zip(ids, tests, strict=True)
    )


def _find_heaviest_class(weights: dict[int, float], classes: int) -> int:
    """With two classes, a converter may write only the weight of the second."""
    if classes == 2 and set(weights) == {1}:
        return int(weights[1] > 0.5)
    return max(sorted(weights), key=lambda kind: weights[kind])
