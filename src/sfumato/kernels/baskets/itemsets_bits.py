# SPDX-License-Identifier: MIT
"""Bitmaps of 64-bit words: intersect, count, compare.

Bitmaps of many words come in blocks of eight, which the machine handles at once; that is said to the compiler outright,
since it would do the words of a short bitmap one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.bits import popcount
from sfumato.kernels.compilation import part
from sfumato.kernels.compiler import cgutils, intrinsic, ir, types

BLOCK = 8
_build: Any = cgutils
_WORD = ir.IntType(64)
_WORDS = ir.VectorType(_WORD, BLOCK)


def _call_intrinsic(builder: Any, name: str, result_type: Any, *arguments: Any) -> Any:
    """What a function of the compiler's own gives for vectors."""
    kind = ir.FunctionType(result_type, [argument.type for argument in arguments])
    return builder.call(_build.get_or_insert_function(builder.module, kind, name), arguments)


class _WordBlocks:
    """An array of words, read and written by blocks."""

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any) -> None:
        self._builder = builder
        self._data = context.make_array(kind)(context, builder, value).data

    def _locate(self, begin: Any, offset: Any) -> Any:
        builder = self._builder
        return builder.bitcast(builder.gep(self._data, [builder.add(begin, offset)]), _WORDS.as_pointer())

    def load(self, begin: Any, offset: Any) -> Any:
        return self._builder.load(self._locate(begin, offset), align=8)

    def store(self, block: Any, begin: Any, offset: Any) -> None:
        self._builder.store(block, self._locate(begin, offset), align=8)


def _make_counter(stores: bool) -> Any:
    """Make a function (bits, one, other, place, words) that counts what two bitmaps of whole blocks share."""

    def count_shared_bits(typing_context: Any, bits: Any, first: Any, other: Any, target: Any, words: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            maps = _WordBlocks(context, builder, signature.args[0], arguments[0])
            zero = ir.Constant(_WORD, 0)
            total = _build.alloca_once_value(builder, ir.Constant(_WORDS, [0] * BLOCK))
            with _build.for_range_slice(builder, zero, arguments[4], ir.Constant(_WORD, BLOCK)) as (offset, _):
                common_block = builder.and_(maps.load(arguments[1], offset), maps.load(arguments[2], offset))
                if stores:
                    maps.store(common_block, arguments[3], offset)
                count = _call_intrinsic(builder, f"llvm.ctpop.v{BLOCK}i64", _WORDS, common_block)
                builder.store(builder.add(builder.load(total), count), total)
            return _call_intrinsic(builder, f"llvm.vector.reduce.add.v{BLOCK}i64", _WORD, builder.load(total))

        return types.uint64(bits, *4 * (types.uint64,)), generate

    return intrinsic(count_shared_bits)


_intersect_blocks: Any = _make_counter(stores=True)
_common_blocks: Any = _make_counter(stores=False)


def _look_outside(typing_context: Any, bits: Any, first: Any, other_bits: Any, other: Any) -> Any:
    """Whether a block of the one has a bit that is not set in a block of the other."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        zero = ir.Constant(_WORD, 0)
        other_block = _WordBlocks(context, builder, signature.args[2], arguments[2]).load(arguments[3], zero)
        block = _WordBlocks(context, builder, signature.args[0], arguments[0]).load(arguments[1], zero)
        outside_bits = builder.and_(block, builder.not_(other_block))
        differs = builder.icmp_unsigned("!=", outside_bits, ir.Constant(_WORDS, [0] * BLOCK))
        flags = builder.bitcast(differs, ir.IntType(BLOCK))
        return builder.icmp_unsigned("!=", flags, ir.Constant(ir.IntType(BLOCK), 0))

    return types.boolean(bits, types.uint64, other_bits, types.uint64), generate


_is_outside: Any = intrinsic(_look_outside)


@part
def round_to_blocks(words):
    """Round a bitmap's length up to the allocated words."""
    return words if words <= BLOCK // 2 else (words + BLOCK - 1) // BLOCK * BLOCK


@part
def intersect_bitmaps(bits, first, other, target, words):
    """Intersect two bitmaps into a third; returns how many bits are set. Words are whole blocks, or less than one."""
    if words >= BLOCK:
        return np.int64(_intersect_blocks(bits, first, other, target, words))
    total = np.uint64(0)
    for word in range(words):
        common_bits = bits[first + word] & bits[other + word]
        bits[target + word] = common_bits
        total += popcount(common_bits)
    return np.int64(total)


@part
def count_common_bits(bits, first, other, words):
    """How many bits two bitmaps share, counted as above."""
    if words >= BLOCK:
        return np.int64(_common_blocks(bits, first, other, first, words))
    total = np.uint64(0)
    for word in range(words):
        total += popcount(bits[first + word] & bits[other + word])
    return np.int64(total)


@part
def is_within(bits, first, other_bits, other, words):
    """Whether every bit of the one is set in the other; words as above."""
    if words >= BLOCK:
        # Block by block: most answers are no, and known by then, which a processor can foresee.
        for index in range(np.uint64(0), words, np.uint64(BLOCK)):
            if _is_outside(bits, first + index, other_bits, other + index):
                return False
        return True
    outside_bits = np.uint64(0)
    for word in range(words):
        outside_bits |= bits[first + word] & ~other_bits[other + word]
    return outside_bits == 0


@part
def is_within_few(bits, first, other_bits, other, words):
    """The same for bitmaps of a word or two."""
    outside_bits = np.uint64(0)
    for word in range(words):
        outside_bits |= bits[first + word] & ~other_bits[other + word]
        if outside_bits:
            return False
    return True
