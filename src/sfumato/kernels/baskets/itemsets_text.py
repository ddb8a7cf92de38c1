# SPDX-License-Identifier: MIT
"""Itemsets as lines of text: space-separated words, then the support."""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compilation import compile_cached


@compile_cached("int64(int32[::1], int64[::1], int64[::1], uint8[::1], int64[::1], uint8[::1], uint8[::1])")
def write_lines(codes, ends, supports, letters, starts, label, text):
    """Write a line for each set, with a label before the support; returns how many bytes were written.

    The word of code i is `letters[starts[i]:starts[i + 1]]`, blank after it included.
    """
    offset = np.int64(0)
    begin = np.int64(0)
    digits = np.empty(20, dtype=np.uint8)
    for number in range(ends.shape[0]):
        for position in range(begin, ends[number]):
            for letter in range(starts[codes[position]], starts[codes[position] + 1]):
                text[offset] = letters[letter]
                offset += 1
        begin = ends[number]
        for letter in range(label.shape[0]):
            text[offset] = label[letter]
            offset += 1
        quotient = supports[number]
        count = np.int64(0)
        while True:
            digits[count] = np.uint8(48 + quotient % 10)
            count += 1
            quotient //= 10
            if quotient == 0:
                break
        while count:
            count -= 1
            text[offset] = digits[count]
            offset += 1
        text[offset] = np.uint8(10)
        offset += 1
    return offset
