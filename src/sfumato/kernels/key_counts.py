# SPDX-License-Identifier: MIT
"""Count equal keys: scatter them into parts that fit the cache, then a small hash table a part."""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compilation import compile_cached


@compile_cached("int64[::1](uint64[::1], int64[::1], int64, int64)")
def _count_parts(scattered_keys, ends, bits, largest):
    slot_bits = np.int64(4)
    while (np.int64(1) << slot_bits) < 2 * largest:
        slot_bits += 1
    mask = (np.int64(1) << slot_bits) - 1
    shift = np.uint64(max(64 - bits - slot_bits, 0))
    slot_key = np.zeros(mask + 1, dtype=np.uint64)
    slot_count = np.zeros(mask + 1, dtype=np.int64)
    used_slots = np.empty(largest, dtype=np.int64)
    sizes = np.empty(scattered_keys.shape[0], dtype=np.int64)
    key_count = np.int64(0)
    for part in range(ends.shape[0] - 1):
        distinct = np.int64(0)
        for row in range(ends[part], ends[part + 1]):
            key = scattered_keys[row]
            slot = np.int64(key >> shift) & mask
            while slot_count[slot] > 0 and slot_key[slot] != key:
                slot = (slot + 1) & mask
            if slot_count[slot] == 0:
                slot_key[slot] = key
                used_slots[distinct] = slot
                distinct += 1
            slot_count[slot] += 1
        for number in range(distinct):
            slot = used_slots[number]
            sizes[key_count] = slot_count[slot]
            slot_count[slot] = 0
            key_count += 1
    return sizes[:key_count].copy()


@compile_cached("int64[::1](int64[::1])")
def count_equal_keys(keys):
    """How often each distinct key occurs, in no particular order."""
    rows = keys.shape[0]
    bits = 0
    while bits < 12 and (rows >> bits) > 4096:
        bits += 1
    parts = np.int64(1) << bits
    shift = np.uint64(64 - bits)
    # Multiplying by an odd number mixes the bits and keeps distinct keys distinct.
    ends = np.zeros(parts + 1, dtype=np.int64)
    for row in range(rows):
        mixed_key = np.uint64(keys[row]) * np.uint64(0x9E3779B97F4A7C15)
        ends[(np.int64(mixed_key >> shift) if bits else np.int64(0)) + 1] += 1
    largest = np.int64(0)
    for part in range(parts):
        largest = max(largest, ends[part + 1])
        ends[part + 1] += ends[part]
    scattered_keys = np.empty(rows, dtype=np.uint64)
    cursors = ends[:-1].copy()
    for row in range(rows):
        mixed_key = np.uint64(keys[row]) * np.uint64(0x9E3779B97F4A7C15)
        target = np.int64(mixed_key >> shift) if bits else np.int64(0)
        scattered_keys[cursors[target]] = mixed_key
        cursors[target] += 1
    return _count_parts(scattered_keys, ends, bits, largest)


@compile_cached(
    [f"void(int64[::1], Array({kind}, 1, 'C', readonly=True), int64, int64)" for kind in ("uint8", "int64")]
)
def append_digits(keys, codes, lowest, width):
    """Append a digit to every key, in a system of that width."""
    for row in range(keys.shape[0]):
        keys[row] = keys[row] * width + (np.int64(codes[row]) - lowest)
