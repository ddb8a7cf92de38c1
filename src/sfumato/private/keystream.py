# SPDX-License-Identifier: MIT
"""Unpredictable random bits: numpy's distributions over the keystream of AES-256 in counter mode.

Key and counter come from the operating system. Someone who sees all published noise but not the key cannot compute
any other bit; a few outputs of numpy's own generators (PCG64, MT19937 …) reveal all others. numpy draws
words through four C functions, and those here hand out words of a buffer that the `cryptography` package fills. A word
is erased when it is handed out. If the buffer cannot be filled the process is stopped: there is no other source.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import threading
import weakref
from contextlib import suppress
from functools import cache, partial
from typing import Any, NoReturn, cast

import numpy as np

_WORDS = 8192
"""Words per refill: 64 KiB, so that the call of the cipher costs little."""
_POSITION, _FILL, _STOP, _FIRST = 0, 1, 2, 3
"""Where the state holds the next word's place, the addresses of what fills the buffer and what stops, and the words."""
_ATTEMPTS = 16
_NAME = b"BitGenerator"
_Callback = ctypes.CFUNCTYPE(None)
_LIVE: weakref.WeakSet[KeystreamBits] = weakref.WeakSet()


class _BitGenerator(ctypes.Structure):
    """numpy's `bitgen_t`, which is public: numpy/random/bitgen.h."""

    _fields_ = (
        ("state", ctypes.c_void_p),
        ("next_uint64", ctypes.c_void_p),
        ("next_uint32", ctypes.c_void_p),
        ("next_double", ctypes.c_void_p),
        ("next_raw", ctypes.c_void_p),
    )


class KeystreamBits:
    """A bit generator for numpy's `Generator`, whose state cannot be read, copied or stored."""

    __slots__ = ("__memory", "__process", "__weakref__", "capsule", "lock")

    def __init__(self, secret: bytes | None = None) -> None:
        """Draw a key, or use a given one; the first word is computed when it is needed."""
        self.lock = threading.RLock()
        state = np.zeros(_FIRST + _WORDS, dtype=np.uint64)
        words = _compile_word_functions()
        address = state.ctypes.data
        struct = _BitGenerator(address, words["word"], words["half"], words["real"], words["word"])
        self.__memory: list[Any] = [state, struct, None]
        if secret is None:
            self.renew()
            _LIVE.add(self)
        else:
            self.__begin(hashlib.blake2b(secret, digest_size=48, person=b"keystream").digest())
        make: Any = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        self.capsule = make(ctypes.addressof(struct), _NAME, None)

    def renew(self) -> None:
        """Erase the key and all words, and continue with a new key."""
        state = self.__memory[0]
        # Until there is a new key, the next word stops the process: nobody sees errors in a fork hook.
        state[_FIRST:], state[_POSITION] = 0, _WORDS
        state[_FILL] = state[_STOP] = ctypes.cast(_stop, ctypes.c_void_p).value
        self.__begin(os.urandom(48))

    def __begin(self, key_and_counter: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher
        from cryptography.hazmat.primitives.ciphers.algorithms import AES256
        from cryptography.hazmat.primitives.ciphers.modes import CTR

        state = self.__memory[0]
        state[_POSITION], state[_STOP] = _WORDS, ctypes.cast(_stop, ctypes.c_void_p).value
        cipher = Cipher(AES256(key_and_counter[:32]), CTR(key_and_counter[32:])).encryptor()
        # No Python code runs inside the callback, so no Ctrl-C can be raised, and lost, in the middle of a draw.
        fill = _Callback(partial(cipher.update_into, bytes(8 * _WORDS), memoryview(state[_FIRST:]).cast("B")))
        self.__memory[2] = fill
        self.__process = os.getpid()
        state[_FILL] = ctypes.cast(fill, ctypes.c_void_p).value

    def renew_if_forked(self) -> None:
        """A process forked without Python's hooks does not repeat its parent's words either."""
        if os.getpid() != self.__process:
            self.renew()

    def __repr__(self) -> str:
        """A text without the state."""
        return "KeystreamBits()"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        """Refuse: a copy would draw the same numbers twice."""
        raise TypeError("secure randomness cannot be copied or stored; make a new one with Randomness.secure()")


def make_keystream_generator() -> np.random.Generator:
    """A numpy generator over a fresh keystream."""
    return np.random.Generator(cast("np.random.BitGenerator", KeystreamBits()))


def make_keyed_generator(secret: bytes) -> np.random.Generator:
    """A numpy generator that draws the same for the same secret: for methods that are repeated under a key."""
    return np.random.Generator(cast("np.random.BitGenerator", KeystreamBits(secret)))


def _renew_all() -> None:
    for stream in tuple(_LIVE):
        # A thread of the parent may have held it, and does not exist here to release it.
        cast("Any", stream.lock)._at_fork_reinit()
        stream.renew()


_stop = _Callback(os.abort)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)


@cache
def _compile_word_functions() -> dict[str, int]:
    """The addresses of the functions that numpy calls for a word, half a word and a number in [0, 1)."""
    import llvmlite.binding as llvm

    with suppress(RuntimeError):  # automatic since llvmlite 0.45
        llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(opt=3)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(_write_module_text()), machine)
    engine.finalize_object()
    addresses = {name: int(engine.get_function_address(name)) for name in ("word", "half", "real")}
    _ENGINES.append(engine)
    return addresses


_ENGINES: list[Any] = []
"""The compiled functions, kept for the life of the process."""


def _write_module_text() -> str:
    """`word` returns a word, erases it and refills the buffer at its end; `half` and `real` are made of words."""
    from llvmlite import ir

    word, real = ir.IntType(64), ir.DoubleType()
    state = word.as_pointer()
    module = ir.Module(name="keystream")
    fill_function = ir.Function(module, ir.FunctionType(ir.VoidType(), [state]), "filled")
    fill_function.linkage = "internal"
    fill_function.attributes.add("noinline")
    _write_filled(fill_function)
    next_word = ir.Function(module, ir.FunctionType(word, [state]), "word")
    next_word.attributes.add("alwaysinline")
    _write_word(next_word, fill_function)
    half = ir.Function(module, ir.FunctionType(ir.IntType(32), [state]), "half")
    code = ir.IRBuilder(half.append_basic_block())
    code.ret(code.trunc(code.lshr(code.call(next_word, half.args), word(32)), ir.IntType(32)))
    unit = ir.Function(module, ir.FunctionType(real, [state]), "real")
    code = ir.IRBuilder(unit.append_basic_block())
    top = code.uitofp(code.lshr(code.call(next_word, unit.args), word(11)), real)
    code.ret(code.fmul(top, ir.Constant(real, 2.0**-53)))
    return str(module)


def _write_word(function: Any, fill_function: Any) -> None:
    from llvmlite import ir

    word, (state,) = ir.IntType(64), function.args
    begin, empty, ready = (function.append_basic_block(name) for name in ("begin", "empty", "ready"))
    code = ir.IRBuilder(begin)
    position_pointer = code.gep(state, [word(_POSITION)])
    code.cbranch(code.icmp_unsigned("<", code.load(position_pointer), word(_WORDS)), ready, empty)
    code = ir.IRBuilder(empty)
    code.call(fill_function, [state])
    code.branch(ready)
    code = ir.IRBuilder(ready)
    position = code.load(position_pointer)
    word_pointer = code.gep(state, [code.add(position, word(_FIRST))])
    word_value = code.load(word_pointer)
    code.store(word(0), word_pointer)
    code.store(code.add(position, word(1)), position_pointer)
    code.ret(word_value)


def _write_filled(function: Any) -> None:
    """Call the cipher. All words were erased: where two are still 0 it has failed. Try again, and in the end stop."""
    from llvmlite import ir

    word, (state,) = ir.IntType(64), function.args
    call = ir.FunctionType(ir.VoidType(), []).as_pointer()
    begin, retry, good, bad, end = (function.append_basic_block(n) for n in ("begin", "again", "good", "bad", "end"))
    code = ir.IRBuilder(begin)
    code.branch(retry)
    code = ir.IRBuilder(retry)
    attempt = code.phi(word)
    attempt.add_incoming(word(0), begin)
    attempt.add_incoming(code.add(attempt, word(1)), bad)
    code.call(code.inttoptr(code.load(code.gep(state, [word(_FILL)])), call), [])
    first, second = (code.load(code.gep(state, [word(_FIRST + index)])) for index in range(2))
    code.cbranch(code.icmp_unsigned("!=", code.or_(first, second), word(0)), good, bad)
    code = ir.IRBuilder(bad)
    code.cbranch(code.icmp_unsigned("<", attempt, word(_ATTEMPTS)), retry, end)
    code = ir.IRBuilder(end)
    code.call(code.inttoptr(code.load(code.gep(state, [word(_STOP)])), call), [])
    code.unreachable()
    code = ir.IRBuilder(good)
    code.store(word(0), code.gep(state, [word(_POSITION)]))
    code.ret_void()
