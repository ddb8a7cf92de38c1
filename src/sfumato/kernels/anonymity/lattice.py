# SPDX-License-Identifier: MIT
"""The hot loops of a search over generalization levels: group the rows at a node, count values, choose the next node.

Rows come compressed to distinct ones with a weight. A node is a lookup table: for each column the group of
each leaf, already multiplied by the column's radix, so that a row's key is a sum of lookups.
"""

from __future__ import annotations

import numpy as np

from sfumato.kernels.anonymity.lattice_choice import LatticeLoops
from sfumato.kernels.compilation import compile_cached

FIRST_PAIR, FIRST_CLASS = range(2)
"""Where the pairs and the classes of a block begin."""


@compile_cached("void(int64[::1], int32[::1], int64[::1])")
def add_to_keys(keys, codes, lookup):
    """Add to each row's key what its leaf contributes at this node."""
    for row in range(keys.shape[0]):
        keys[row] += lookup[np.uint32(codes[row])]


@compile_cached("int64(int64[::1], int64[::1], int64, int64[::1], int32[::1], int32[::1], int64[::1], int64[::1])")
def group_keys(keys, weights, radix, slot_key, slot_class, class_of_row, class_size, first_row):
    """Number the classes of equal keys, add up their weights, note their first rows; returns how many there are.

    `slot_class` is all −1 on entry and on exit. Keys below its length address it directly; larger ones are
    hashed into it (its length is a power of two, more than the number of rows).
    """
    rows = keys.shape[0]
    slots = np.int64(slot_class.shape[0])
    direct = radix <= slots
    mask = slots - 1
    classes = np.int32(0)
    for row in range(rows):
        key = keys[row]
        slot = key
        if not direct:
            mixed_key = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
            slot = np.int64(mixed_key >> np.uint64(20)) & mask
            while slot_class[slot] >= 0 and slot_key[slot] != key:
                slot = (slot + 1) & mask
        class_number = slot_class[slot]
        if class_number < 0:
            class_number = classes
            slot_class[slot] = class_number
            slot_key[slot] = key
            class_size[class_number] = 0
            first_row[class_number] = row
            # The slot is remembered in the upper half of the sizes, to clear it without touching the rest.
            class_size[rows + class_number] = slot
            classes += np.int32(1)
        class_of_row[row] = class_number
        class_size[class_number] += weights[row]
    for number in range(classes):
        slot_class[class_size[rows + number]] = -1
    return np.int64(classes)


@compile_cached(
    "void(int32[:,::1], int64[::1], int64[::1], int64[::1], int64[::1], float64[::1], int64[::1], float64[::1])"
)
def add_suppression_costs(codes, starts, spared_leaves, first, refused_counts, lasting_shares, excess, lasting_excess):
    """Add up per column what suppression costs: for the refused rows of each class, and for those that stay refused.

    `spared_leaves` holds for each column and leaf how many leaves a suppressed cell loses more than a published one;
    all rows of a class lose what its first row does.
    """
    columns = codes.shape[0]
    for number in range(first.shape[0]):
        if refused_counts[number] or lasting_shares[number] > 0.0:
            row = first[number]
            for column in range(columns):
                more = spared_leaves[starts[column] + codes[column, row]]
                excess[column] += refused_counts[number] * more
                lasting_excess[column] += lasting_shares[number] * more


@compile_cached(
    "int64(int32[::1], int32[::1], int32[::1], int64[::1], int64, int64[:,::1], int64[::1], int32[::1], int64[::1], "
    "int64[::1])"
)
def count_class_values(of_row, rows, codes, counts, width, blocks, dense, values_out, counts_out, starts_out):
    """Count the values of each class: fills in the value and count of each pair and where classes begin; returns how
    many pairs there are.

    `blocks` says where pairs and classes begin that share nothing with the others. `dense` is all 0 on entry and on
    exit, `width` long for each class of the largest block. Every class has a value.
    """
    pairs = np.int64(0)
    for block in range(blocks.shape[1] - 1):
        first = blocks[FIRST_CLASS, block]
        for pair in range(blocks[FIRST_PAIR, block], blocks[FIRST_PAIR, block + 1]):
            dense[(of_row[rows[pair]] - first) * width + codes[pair]] += counts[pair]
        for number in range(first, blocks[FIRST_CLASS, block + 1]):
            starts_out[number] = pairs
            for value in range(width):
                cell = (number - first) * width + value
                if dense[cell] > 0:
                    values_out[pairs] = value
                    counts_out[pairs] = dense[cell]
                    dense[cell] = 0
                    pairs += 1
    return pairs


@compile_cached("int64(boolean[::1], float64[::1], int64[::1], int32[::1], int64[::1])")
def choose_informative_node(live, bound, shape, gains, histogram):
    """The live node whose check rules out most, whichever way it ends; −1 if no node is live.

    If it fails, every finer node falls; if it succeeds, every node with a larger bound does. The node with
    the largest minimum of the two counts is chosen, by an n-dimensional prefix sum and a histogram of bounds.
    `gains` is left with that minimum for every live node.
    """
    nodes = live.shape[0]
    low, high = np.inf, -np.inf
    for node in range(nodes):
        gains[node] = 1 if live[node] else 0
        if live[node]:
            low = min(low, bound[node])
            high = max(high, bound[node])
    if low > high:
        return np.int64(-1)
    stride = np.int64(1)
    for axis in range(shape.shape[0] - 1, -1, -1):
        block = stride * shape[axis]
        for begin in range(0, nodes, block):
            for node in range(begin + stride, begin + block):
                gains[node] += gains[node - stride]
        stride = block
    bins = histogram.shape[0]
    scale = (bins - 1) / (high - low) if high > low else 0.0
    histogram[:] = 0
    for node in range(nodes):
        if live[node]:
            histogram[np.int64((bound[node] - low) * scale)] += 1
    for position in range(bins - 2, -1, -1):
        histogram[position] += histogram[position + 1]
    best, chosen_node = np.int64(-1), np.int64(-1)
    for node in range(nodes):
        if live[node]:
            gain = min(np.int64(gains[node]), histogram[np.int64((bound[node] - low) * scale)])
            gains[node] = gain
            if gain > best:
                best, chosen_node = gain, np.int64(node)
    return chosen_node


LOOPS = LatticeLoops(add_to_keys, group_keys, add_suppression_costs, count_class_values, choose_informative_node)
