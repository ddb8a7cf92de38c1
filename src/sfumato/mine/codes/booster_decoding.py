# SPDX-License-Identifier: MIT
"""Decode boosted trees of XGBoost and LightGBM: exact where they depend on the order of values alone, else rejected.

Both add up derivatives along a sort, and both may split a run of one class, so values must not be permuted and codes
must rise. Then the codes' bins are the originals' bins, and so is every sum, bit by bit. A threshold is decoded as the
package makes it: XGBoost's is a value of the column (`hist`, `approx`), or half-way between two values of the node's
rows (`exact`); LightGBM's is just above the middle of two neighbouring values of the column. LightGBM gives 0 a bin of
its own, so its columns must be above 0 in both forms. A threshold that is none of these is rejected.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Flags, Floats, Ints
from sfumato.errors import DataError, PolicyError, count_noun, quote_some_names
from sfumato.key import Key
from sfumato.mine.codes.booster import Booster, BoosterTree
from sfumato.public.codes.tree_key import TreeKey
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

_WRONG_MODEL = "the trees were not trained on this table under this key"
_BELOW_ALL, _ABOVE_ALL = float(np.float32(1e-35)), 1e300
"""LightGBM's thresholds that only separate missing numbers from all others, which are above 0."""
_CLOSE = 1e-4
"""How far sums of 32-bit derivatives may be off."""


def decode_booster(booster: Booster, key: Key, table: Table) -> Booster:
    """The trees that the originals would have given, with the classes numbered as in the release.

    The file does not name classes: they are numbered in the order of their names in the release, from 0 on.
    """
    from sfumato.mine.codes.decoded_tree import list_released_columns

    tree_key = TreeKey.open(key, table)
    _refuse_settings(tree_key)
    names = booster.feature_names or list_released_columns(table, tree_key)
    if len(names) != booster.columns or not set(names) <= set(list_released_columns(table, tree_key)):
        raise PolicyError(
            f"{booster.source}: the trees have {booster.columns} columns, which are not the release's columns of "
            "numbers"
        )
    forms = _BothForms.of(booster, tree_key, table, names)
    order = np.argsort(np.array(tree_key.labels.codes))
    order = order[np.isin(order, forms.classes)]
    if max(2, len(booster.start)) != max(2, len(order)):
        raise DataError(f"{_WRONG_MODEL}: they predict {max(2, len(booster.start))} classes")
    leaves = _check_covers(booster, forms)
    thresholds = _locate_thresholds(booster, forms, leaves)
    return booster.replace_thresholds(thresholds, tuple(names), np.array(tree_key.labels.values)[order])


def _refuse_settings(key: TreeKey) -> None:
    if key.is_permuted:
        raise PolicyError(
            "boosted trees can split a pure piece, whose values are permuted, and sum in the order of values: encode "
            "with permute=False for them"
        )
    if any(not column.rising for column in key.columns.values()):
        raise PolicyError('boosted trees add up fractions in the order of values: encode with direction="monotone"')


@dataclass(frozen=True, eq=False)
class _BothForms:
    """The columns in codes and in originals, in the precision that the package compares."""

    coded_cells: Floats
    true: Floats
    classes: Ints
    codes: tuple[Floats, ...]
    """For each column the distinct codes in order, and …"""
    values: tuple[Floats, ...]
    """… the original of each."""

    @classmethod
    def of(cls, booster: Booster, key: TreeKey, table: Table, names: tuple[str, ...]) -> _BothForms:
        places = key.locate_cells(table)
        plain = {name: table.frame[name].cast(float).fill_null(float("nan")).to_numpy() for name in names}
        true = booster.round_cells(np.column_stack([plain[name] for name in names]))
        coded_cells = booster.round_cells(
            np.column_stack(
                [key.columns[name].encode(places[name]) if name in key.columns else plain[name] for name in names]
            )
        )
        codes, values = [], []
        for index, name in enumerate(names):
            known_mask = ~np.isnan(true[:, index])
            distinct, first = np.unique(coded_cells[known_mask, index], return_index=True)
            distinct_values = np.unique(true[known_mask, index])
            if len(distinct_values) != len(distinct):
                raise DataError(
                    f'{table.source}: "{name}": '
                    f"{count_noun(len(distinct_values) - len(distinct), 'value shares', 'values share')} a code with a "
                    f"neighbour that {booster.maker} distinguishes; round the column, or multiply it by a power of ten"
                )
            codes.append(distinct)
            values.append(true[known_mask, index][first])
        if booster.maker == "LightGBM":
            _refuse_zero(codes, values, names, table.source)
        classes = key.labels.number_values(table.frame[key.target], table.source)
        if int(classes.min(initial=0)) < 0:
            raise DataError(f'{table.source}: the target "{key.target}" is missing in some rows; leave them out')
        return cls(coded_cells, true, classes, tuple(codes), tuple(values))


def _refuse_zero(codes: list[Floats], values: list[Floats], names: tuple[str, ...], source: str) -> None:
    low = [name for name, c, v in zip(names, codes, values, strict=True) if len(c) and min(c[0], v[0]) <= 0]
    if low:
        raise PolicyError(
            f"{source}: LightGBM puts 0 in a separate bin, so trees differ if a column or its codes reach 0: "
            f"{quote_some_names(low)}; add a number to the column, or draw a new key"
        )


def _check_covers(booster: Booster, forms: _BothForms) -> list[Ints]:
    """Send the rows down every tree and compare what its nodes hold; less is right if rows were drawn for each tree."""
    scores = np.tile(booster.start, (len(forms.coded_cells), 1))
    leaves, round_scores = [], scores.copy()
    for index, tree in enumerate(booster.trees):
        report_progress("sending rows down the trees", index, len(booster.trees))
        if index % len(booster.start) == 0:
            round_scores = scores.copy()  # a round's trees all start from the same scores
        weights = _weigh_rows(booster, round_scores, tree.group)
        leaf = booster.reach(tree, forms.coded_cells)
        cover = _sum_up(tree, np.bincount(leaf, weights=weights, minlength=len(tree.left)).astype(np.float64))
        slack = _CLOSE * cover + (_CLOSE if booster.maker == "XGBoost" else 0)
        whole = tree.cover[0] > cover[0] - slack[0]
        if bool((tree.cover > cover + slack).any() or (whole and (tree.cover < cover - slack).any())):
            raise DataError(f"{_WRONG_MODEL}: other rows reach the nodes of tree {index}")
        scores[:, tree.group] += tree.value[leaf]
        leaves.append(leaf)
    return leaves


def _weigh_rows(booster: Booster, scores: Floats, group: int) -> Floats:
    """What a row adds to the cover of its nodes."""
    if booster.maker == "LightGBM":
        return np.ones(len(scores))
    share = booster.turn_into_shares(scores)
    if len(booster.start) == 1:
        return np.asarray(share[:, 1] * share[:, 0])
    return np.asarray(2 * share[:, group] * (1 - share[:, group]))


def _sum_up(tree: BoosterTree, cover: Floats) -> Floats:
    for node in np.flatnonzero(tree.tests)[::-1]:
        cover[node] = cover[tree.left[node]] + cover[tree.right[node]]
    return cover


def _locate_thresholds(booster: Booster, forms: _BothForms, leaves: list[Ints]) -> list[Floats]:
    """Every tree's thresholds among the originals; one way of making thresholds must explain all of them.

    XGBoost's two ways exclude each other: all codes are at a root, so that a middle of two of them is none of them.
    """
    ways = (_take_middle_above,) if booster.maker == "LightGBM" else (_take_value, _take_middle_of_node)
    for way in ways:
        thresholds = [way(booster, tree, forms, leaf) for tree, leaf in zip(booster.trees, leaves, strict=True)]
        if not any(bool(np.isnan(new[tree.tests]).any()) for new, tree in zip(thresholds, booster.trees, strict=True)):
            return [
                np.where(tree.tests, new, tree.threshold) for new, tree in zip(thresholds, booster.trees, strict=True)
            ]
    raise DataError(
        f"{_WRONG_MODEL}, or with settings that are not covered: thresholds are not where {booster.maker} puts them"
    )


def _take_middle_above(booster: Booster, tree: BoosterTree, forms: _BothForms, leaf: Ints) -> Floats:
    """LightGBM: the number next to the middle of two neighbouring values; NaN where a threshold is none."""
    del booster, leaf
    thresholds = np.full(len(tree.left), np.nan)
    for node in np.flatnonzero(tree.tests):
        codes, values = forms.codes[tree.feature[node]], forms.values[tree.feature[node]]
        upper_index = int(np.searchsorted(codes, tree.threshold[node], side="right"))
        if tree.threshold[node] == _BELOW_ALL or tree.threshold[node] >= _ABOVE_ALL:
            thresholds[node] = tree.threshold[node]
        elif 0 < upper_index < len(codes) and tree.threshold[node] == _step_up(
            (codes[upper_index - 1] + codes[upper_index]) / 2
        ):
            thresholds[node] = _step_up((values[upper_index - 1] + values[upper_index]) / 2)
    return thresholds


def _step_up(number: float) -> float:
    return float(np.nextafter(number, np.inf))


def _take_value(booster: Booster, tree: BoosterTree, forms: _BothForms, leaf: Ints) -> Floats:
    """XGBoost by bins: a value of the column, or a number beyond all of them; NaN where a threshold is none."""
    del booster, leaf
    thresholds = np.full(len(tree.left), np.nan)
    for node in np.flatnonzero(tree.tests):
        codes, values = forms.codes[tree.feature[node]], forms.values[tree.feature[node]]
        threshold = tree.threshold[node]
        index = int(np.searchsorted(codes, threshold))
        if index < len(codes) and codes[index] == threshold:
            thresholds[node] = values[index]
        elif index == len(codes) and index and threshold == _reach_beyond(codes[-1], 1):
            thresholds[node] = _reach_beyond(values[-1], 1)
        elif index == 0 and len(codes) and threshold == _reach_beyond(codes[0], -1):
            thresholds[node] = _reach_beyond(values[0], -1)
    return thresholds


def _reach_beyond(end: float, side: int) -> float:
    """A threshold of a column's bins that only separates missing numbers from all others."""
    return float(np.float32(end + side * (abs(end) + 1e-5)))


def _reach_beyond_node(end: float, side: int) -> float:
    """The same for a node's rows, which XGBoost computes in 32-bit floats."""
    last = np.float32(end)
    return float(last + np.float32(side) * (np.abs(last) + np.float32(1e-6)))


def _take_middle_of_node(booster: Booster, tree: BoosterTree, forms: _BothForms, leaf: Ints) -> Floats:
    """XGBoost one value after the other: the middle of two values of the node's rows; NaN where a threshold is none."""
    thresholds = np.full(len(tree.left), np.nan)
    rows_below = _list_rows_by_node(tree, leaf)
    for node in np.flatnonzero(tree.tests):
        rows = rows_below[int(node)]
        coded_cells, true = forms.coded_cells[rows, tree.feature[node]], forms.true[rows, tree.feature[node]]
        known_mask = ~np.isnan(coded_cells)
        coded_cells, true = coded_cells[known_mask], true[known_mask]
        left_mask = booster.goes_left(tree, np.full(len(coded_cells), node), coded_cells)
        if not len(coded_cells):
            continue
        if left_mask.all() or not left_mask.any():
            end, side = (-1, 1) if left_mask.all() else (0, -1)
            if tree.threshold[node] == _reach_beyond_node(np.sort(coded_cells)[end], side):
                thresholds[node] = _reach_beyond_node(np.sort(true)[end], side)
        elif tree.threshold[node] == _halve(coded_cells, left_mask):
            thresholds[node] = _halve(true, left_mask)
    return thresholds


def _halve(cells: Floats, left_mask: Flags) -> float:
    low, high = np.float32(cells[left_mask].max()), np.float32(cells[~left_mask].min())
    return float((low + high) * np.float32(0.5))


def _list_rows_by_node(tree: BoosterTree, leaf: Ints) -> dict[int, Ints]:
    """The rows that reach each node."""
    order = np.argsort(leaf, kind="stable")
    starts = np.searchsorted(leaf[order], np.arange(len(tree.left) + 1))
    rows = {node: order[starts[node] : starts[node + 1]] for node in range(len(tree.left))}
    for node in np.flatnonzero(tree.tests)[::-1]:
        rows[int(node)] = np.concatenate((rows[int(tree.left[node])], rows[int(tree.right[node])]))
    return rows
