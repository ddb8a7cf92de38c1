# SPDX-License-Identifier: MIT
"""Classes when a missing cell matches every value: they overlap, and each counts every row that agrees with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sfumato.arrays import Flags, Ints
from sfumato.protect.anonymity.models.sensitive_values import ClassValues, SensitiveColumn, build_class_values
from sfumato.protect.anonymity.search.node_classes import NodeClasses


def overlap_classes(plain: NodeClasses, groups: Ints, unknown: Flags, counted_mask: Flags) -> NodeClasses:
    """Classes with the crowds they are hidden among, of some of them, and the rows of the whole table that they fit."""

    def match_values(sensitive: SensitiveColumn) -> ClassValues:
        class_values, width = sensitive.count_by_class(plain.of_row, len(plain.sizes)), len(sensitive.values)
        return pair_matching_values(class_values, groups, unknown, counted_mask, width)

    def fit_values(sensitive: SensitiveColumn) -> ClassValues:
        class_values, width = sensitive.count_by_class(plain.of_row, len(plain.sizes)), len(sensitive.values)
        return pair_fitting_values(class_values, groups, unknown, width)

    crowds = np.maximum(count_matching_rows(groups, unknown, np.where(counted_mask, plain.sizes, 0)), 1)
    fits = count_fitting_rows(groups, unknown, plain.sizes)
    fitting_classes = replace(plain, crowds=fits, match_values=fit_values, _values_by_column={}, _measures={})
    return replace(
        plain,
        crowds=crowds,
        fitting_classes=fitting_classes,
        match_values=match_values,
        _values_by_column={},
        _measures={},
    )


def pair_matching_values(
    class_values: ClassValues, groups: Ints, unknown: Flags, counted_mask: Flags, width: int
) -> ClassValues:
    """The values among the rows that agree with each class, from those of each class itself; only some classes
    count."""
    dense = np.zeros((len(counted_mask), width), dtype=np.int64)
    dense[class_values.classes, class_values.values] = class_values.counts
    dense[~counted_mask] = 0
    for value in range(width):
        dense[:, value] = count_matching_rows(groups, unknown, dense[:, value])
    dense[~counted_mask, 0] = 1  # already refused: any count works
    of_class, values = np.nonzero(dense)
    return build_class_values(of_class, values, dense[of_class, values])


def pair_fitting_values(class_values: ClassValues, groups: Ints, unknown: Flags, width: int) -> ClassValues:
    """The values among the rows that have every value that is known of each class."""
    dense = np.zeros((groups.shape[1], width), dtype=np.int64)
    dense[class_values.classes, class_values.values] = class_values.counts
    for value in range(width):
        dense[:, value] = count_fitting_rows(groups, unknown, dense[:, value])
    of_class, values = np.nonzero(dense)
    return build_class_values(of_class, values, dense[of_class, values])


def count_matching_rows(groups: Ints, unknown: Flags, sizes: Ints) -> Ints:
    """Rows that agree with a class wherever both are known, for every class."""
    return _count_agreeing_rows(groups, unknown, sizes, need_all=False)


def count_fitting_rows(groups: Ints, unknown: Flags, sizes: Ints) -> Ints:
    """Rows that have every value that is known of a class, for every class: the people its rows could be about."""
    return _count_agreeing_rows(groups, unknown, sizes, need_all=True)


def _count_agreeing_rows(groups: Ints, unknown: Flags, sizes: Ints, *, need_all: bool) -> Ints:
    """One grouping per pair of patterns; with `need_all`, other rows must know all that is known of the class."""
    crowds: Ints = np.zeros(len(sizes), dtype=np.int64)
    patterns, pattern_of = np.unique(unknown, axis=1, return_inverse=True)
    members = [np.flatnonzero(pattern_of.ravel() == number) for number in range(patterns.shape[1])]
    for number, row_indices in enumerate(members):
        for other, other_indices in enumerate(members):
            common = ~patterns[:, number] & ~patterns[:, other]
            if need_all and (common != ~patterns[:, number]).any():
                continue
            if not common.any():
                crowds[row_indices] += sizes[other_indices].sum()
                continue
            joint_groups = np.concatenate([groups[common][:, row_indices], groups[common][:, other_indices]], axis=1)
            _, key = np.unique(joint_groups, axis=1, return_inverse=True)
            keys: Any = key.ravel()
            totals = np.zeros(int(keys.max()) + 1, dtype=np.int64)
            np.add.at(totals, keys[len(row_indices) :], sizes[other_indices])
            crowds[row_indices] += totals[keys[: len(row_indices)]]
    return crowds
