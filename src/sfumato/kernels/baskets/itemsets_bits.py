# SPDX-License-Identifier: MIT
"""Bitmaps of 64-bit words: intersect, count, compare. And how the parts of the itemset kernels are compiled.

Bitmaps of many words come in blocks of eight, which the machine handles at once; that is said to the compiler outright,
since it would do the words of a short bitmap one by one.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.options import DefaultOptions
from numba.extending import intrinsic

from sfumato.kernels.bits import popcount
from sfumato.kernels.compiled import OPTIONS, compiled, read_signature

_BARE = dict(OPTIONS)
if hasattr(DefaultOptions, "_nrt"):
    # Else numba counts who holds an array each time one is passed on, which takes longer than the search itself.
    _BARE["_nrt"] = False

part: Any = numba.njit(forceinline=True, **_BARE)
"""A part of a kernel: compiled only into those that call it, where passing it arrays costs nothing."""


def kernel(signature: str) -> Any:
    """As `compiled`, for what makes no arrays of its own."""
    return numba.njit(read_signature(signature), cache=True, **_BARE) if "_nrt" in _BARE else compiled(signature)


BLOCK = 8
_build: Any = cgutils
_WORD = ir.IntType(64)
_WORDS = ir.VectorType(_WORD, BLOCK)


def _called(builder: Any, name: str, given: Any, *arguments: Any) -> Any:
    """What a function of the compiler's own gives for vectors."""
    kind = ir.FunctionType(given, [argument.type for argument in arguments])
    return builder.call(_build.get_or_insert_function(builder.module, kind, name), arguments)


class _Blocks:
    """An array of words, read and written by blocks."""

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any) -> None:
        self._builder = builder
        self._data = context.make_array(kind)(context, builder, value).data

    def _place(self, begin: Any, at: Any) -> Any:
        builder = self._builder
        return builder.bitcast(builder.gep(self._data, [builder.add(begin, at)]), _WORDS.as_pointer())

    def load(self, begin: Any, at: Any) -> Any:
        return self._builder.load(self._place(begin, at), align=8)

    def store(self, block: Any, begin: Any, at: Any) -> None:
        self._builder.store(block, self._place(begin, at), align=8)


def _counting(stores: bool) -> Any:
    """Make a function (bits, one, other, place, words) that counts what two bitmaps of whole blocks share."""

    def typed(typing_context: Any, bits: Any, one: Any, other: Any, place: Any, words: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            maps = _Blocks(context, builder, signature.args[0], arguments[0])
            nothing = ir.Constant(_WORD, 0)
            total = _build.alloca_once_value(builder, ir.Constant(_WORDS, [0] * BLOCK))
            with _build.for_range_slice(builder, nothing, arguments[4], ir.Constant(_WORD, BLOCK)) as (at, _):
                both = builder.and_(maps.load(arguments[1], at), maps.load(arguments[2], at))
                if stores:
                    maps.store(both, arguments[3], at)
                count = _called(builder, f"llvm.ctpop.v{BLOCK}i64", _WORDS, both)
                builder.store(builder.add(builder.load(total), count), total)
            return _called(builder, f"llvm.vector.reduce.add.v{BLOCK}i64", _WORD, builder.load(total))

        return types.uint64(bits, *4 * (types.uint64,)), generate

    return intrinsic(typed)


_intersect_blocks: Any = _counting(stores=True)
_common_blocks: Any = _counting(stores=False)


def _look_outside(typing_context: Any, bits: Any, one: Any, others: Any, other: Any) -> Any:
    """Whether a block of the one has a bit that is not set in a block of the other."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        nothing = ir.Constant(_WORD, 0)
        inside = _Blocks(context, builder, signature.args[2], arguments[2]).load(arguments[3], nothing)
        block = _Blocks(context, builder, signature.args[0], arguments[0]).load(arguments[1], nothing)
        outside = builder.and_(block, builder.not_(inside))
        found = builder.icmp_unsigned("!=", outside, ir.Constant(_WORDS, [0] * BLOCK))
        flags = builder.bitcast(found, ir.IntType(BLOCK))
        return builder.icmp_unsigned("!=", flags, ir.Constant(ir.IntType(BLOCK), 0))

    return types.boolean(bits, types.uint64, others, types.uint64), generate


_is_outside: Any = intrinsic(_look_outside)


@part
def whole_blocks(words):  # type: ignore[no-untyped-def]
    """How many words a bitmap is laid out with that needs so many."""
    return words if words <= BLOCK // 2 else (words + BLOCK - 1) // BLOCK * BLOCK


@part
def intersect(bits, one, other, place, words):  # type: ignore[no-untyped-def]
    """Intersect two bitmaps into a third; returns how many bits are set. Words are whole blocks, or less than one."""
    if words >= BLOCK:
        return np.int64(_intersect_blocks(bits, one, other, place, words))
    total = np.uint64(0)
    for word in range(words):
        both = bits[one + word] & bits[other + word]
        bits[place + word] = both
        total += popcount(both)
    return np.int64(total)


@part
def common(bits, one, other, words):  # type: ignore[no-untyped-def]
    """How many bits two bitmaps share, counted as above."""
    if words >= BLOCK:
        return np.int64(_common_blocks(bits, one, other, one, words))
    total = np.uint64(0)
    for word in range(words):
        total += popcount(bits[one + word] & bits[other + word])
    return np.int64(total)


@part
def is_within(bits, one, others, other, words):  # type: ignore[no-untyped-def]
    """Whether every bit of the one is set in the other; words as above."""
    if words >= BLOCK:
        # Block by block: most answers are no, and known by then, which a processor can foresee.
        for at in range(np.uint64(0), words, np.uint64(BLOCK)):
            if _is_outside(bits, one + at, others, other + at):
                return False
        return True
    outside = np.uint64(0)
    for word in range(words):
        outside |= bits[one + word] & ~others[other + word]
    return outside == 0


@part
def is_within_few(bits, one, others, other, words):  # type: ignore[no-untyped-def]
    """The same for bitmaps of a word or two."""
    outside = np.uint64(0)
    for word in range(words):
        outside |= bits[one + word] & ~others[other + word]
        if outside:
            return False
    return True
