# SPDX-License-Identifier: MIT
"""Secure chance is a cipher's keystream: unlike any other, never repeated, and no other source steps in for it.

Statistical tests here fail an honest generator less than once in 10⁹ runs each, by the bound stated.
"""

from __future__ import annotations

import ast
import copy
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato
from sfumato.private.keystream import KeystreamBits, make_keyed_generator, make_keystream_generator
from sfumato.randomness import Randomness

RARE = 1e-9
FILLING = 8192  # words that one call of the cipher makes; tests look across several
SOURCE = Path(sfumato.__file__).parent


def words(count: int, chance: np.random.Generator | None = None) -> Any:
    return (chance or Randomness.secure().generator()).integers(0, 2**64, count, dtype=np.uint64)


def test_secure_chance_is_no_generator_of_numpys_own() -> None:
    bits: object = Randomness.secure().generator().bit_generator
    assert isinstance(bits, KeystreamBits)
    assert not isinstance(bits, np.random.BitGenerator)
    assert Randomness.secure().for_publication
    assert not Randomness(None, np.random.default_rng(1)).for_publication


def test_seeded_chance_is_what_it_was() -> None:
    """Golden results and every page rely on it."""
    numbers = Randomness.seeded(7).generator().random(3)
    assert numbers.tolist() == np.random.Generator(np.random.PCG64DXSM(7)).random(3).tolist()
    assert not Randomness.seeded(7).for_publication


def test_the_words_are_those_of_the_cipher(monkeypatch: pytest.MonkeyPatch) -> None:
    """Encrypted by hand under a known key: each word once, in order, over several fillings."""
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import AES256
    from cryptography.hazmat.primitives.ciphers.modes import CTR

    monkeypatch.setattr(os, "urandom", lambda count: bytes(range(count)))
    stream = words(3 * FILLING, make_keystream_generator())
    cipher = Cipher(AES256(bytes(range(32))), CTR(bytes(range(32, 48)))).encryptor()
    assert stream.tobytes() == cipher.update(bytes(8 * 3 * FILLING))
    half = make_keystream_generator().integers(0, 2**32, 4, dtype=np.uint32)
    assert half.tolist() == (stream[:4] >> np.uint64(32)).tolist()
    assert make_keystream_generator().random(4).tolist() == ((stream[:4] >> np.uint64(11)) * 2.0**-53).tolist()


def test_nothing_can_be_read_copied_or_stored() -> None:
    secure = Randomness.secure()
    generator = secure.generator()
    generator.random()
    for source in (secure, generator, generator.bit_generator):
        with pytest.raises(TypeError, match="cannot be copied or stored"):
            pickle.dumps(source)
        with pytest.raises(TypeError, match="cannot be copied or stored"):
            copy.deepcopy(source)
        assert not any(letter.isdigit() for letter in repr(source).split(" at ")[0])
    assert not hasattr(generator.bit_generator, "state")
    assert not hasattr(generator.bit_generator, "seed_seq")
    assert not hasattr(generator.bit_generator, "__dict__")


def test_words_are_erased_when_they_were_drawn() -> None:
    generator = make_keystream_generator()
    stream = words(100, generator)
    state = generator.bit_generator._KeystreamBits__memory[0]  # type: ignore[attr-defined]
    assert not np.isin(stream, state).any()
    assert state[3:103].tolist() == [0] * 100
    assert (state[103:] != 0).all()


def test_all_bytes_are_as_likely() -> None:
    """χ² over 256 bytes, and over the 64 bits of a word."""
    from scipy.stats import binom, chi2

    stream = words(500_000)
    byte_counts = np.bincount(stream.view(np.uint8), minlength=256)
    expected = byte_counts.sum() / 256
    assert chi2.sf(((byte_counts - expected) ** 2 / expected).sum(), 255) > RARE
    bit_counts = [int((stream >> np.uint64(bit) & np.uint64(1)).sum()) for bit in range(64)]
    low, high = (float(binom.ppf(share, len(stream), 0.5)) for share in (RARE / 128, 1 - RARE / 128))
    assert low <= min(bit_counts) <= max(bit_counts) <= high


def test_no_word_comes_twice_and_no_two_streams_agree() -> None:
    """Among n words two are the same with probability n² / 2⁶⁵: 4·10⁻⁹ for all drawn here together."""
    stream, two = words(200_000), words(200_000)
    assert len(np.unique(np.concatenate((stream, two)))) == 400_000
    # Bits in which two independent words differ: binomial of all bits.
    differing = int(np.bitwise_count(stream ^ two).sum())
    assert abs(differing - 32 * len(stream)) < 6.2 * np.sqrt(16 * len(stream))


def test_a_stream_does_not_go_with_itself() -> None:
    """Correlation of numbers with those before them, up to a whole filling: |r| √n is normal, 6.2 happens 6·10⁻¹⁰."""
    numbers = Randomness.secure().generator().random(200_000) - 0.5
    for shift in (1, 2, 3, 64, FILLING):
        products = numbers[shift:] * numbers[:-shift]
        assert abs(products.sum()) < 6.2 * np.sqrt(len(products)) / 12


def test_normals_and_permutations_are_drawn_from_it() -> None:
    chance = Randomness.secure().generator()
    normals = chance.standard_normal(100_000)
    assert abs(normals.sum()) < 6.2 * np.sqrt(len(normals))
    order = chance.permutation(10_000)
    assert sorted(order.tolist()) == list(range(10_000))
    assert order.tolist() != chance.permutation(10_000).tolist()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_does_not_repeat_its_parent() -> None:
    """In a process of its own, since one with threads should not fork."""
    code = """
import os, numpy as np
from sfumato.randomness import Randomness
chance = Randomness.secure().generator()
chance.random()  # words are waiting in the buffer
reads = []
for _ in range(2):
    read, write = os.pipe()
    if not os.fork():
        os.write(write, chance.bytes(64))
        os._exit(0)
    reads.append(read)
    os.wait()
drawn = [os.read(read, 64) for read in reads] + [chance.bytes(64)]
assert [len(one) for one in drawn] == [64] * 3
assert len(set(drawn)) == 3
"""
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"PYTHONPATH": str(SOURCE.parent)})


def test_a_process_that_was_forked_behind_pythons_back_gets_a_new_key(monkeypatch: pytest.MonkeyPatch) -> None:
    secure = Randomness.secure()
    words(5, secure.generator())
    waiting = secure.generator().bit_generator._KeystreamBits__memory[0][8:].copy()  # type: ignore[attr-defined]
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert not np.isin(words(1_000, secure.generator()), waiting).any()


def test_threads_share_a_stream_without_repeating_it() -> None:
    generator, batches = Randomness.secure().generator(), []
    threads = [threading.Thread(target=lambda: batches.append(words(50_000, generator))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(np.unique(np.concatenate(batches))) == 200_000


@pytest.mark.parametrize("fault", ["raise OSError('no cipher')", "return None"])
def test_a_cipher_that_fails_stops_the_process(fault: str) -> None:
    """Neither old words nor zeros are handed out."""
    code = f"""
import ctypes
from sfumato.private.keystream import _Callback, make_keystream_generator
generator = make_keystream_generator()
def fail():
    {fault}
kept = _Callback(fail)
state = generator.bit_generator._KeystreamBits__memory[0]
state[1] = ctypes.cast(kept, ctypes.c_void_p).value
print(generator.random())
"""
    result = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(SOURCE.parent)},
    )
    assert result.returncode < 0
    assert result.stdout == ""


def test_a_secret_gives_the_same_words_again() -> None:
    secret = bytes(range(32))
    assert make_keyed_generator(secret).bytes(80) == make_keyed_generator(secret).bytes(80)
    assert make_keyed_generator(secret).bytes(80) != make_keyed_generator(secret[::-1]).bytes(80)
    with pytest.raises(TypeError, match="cannot be copied or stored"):
        pickle.dumps(make_keyed_generator(secret))


def calls_of_chance(path: Path) -> list[tuple[int, str]]:
    """Every use of a source of chance in a module that is not the randomness it was given, with its line."""
    calls = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            calls += [
                (node.lineno, a.name) for a in node.names if a.name.split(".")[0] in ("random", "secrets", "uuid")
            ]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            full = [f"{module}.{alias.name}" for alias in node.names]
            calls += [(node.lineno, name) for name in full if name.split(".")[0] in ("random", "secrets", "uuid")]
            calls += [(node.lineno, name) for name in full if name.startswith("numpy.random") or name == "os.urandom"]
        elif isinstance(node, ast.Attribute):
            name = ast.unparse(node)
            if name == "os.urandom" or (name.startswith(("np.random.", "numpy.random.")) and name.count(".") == 2):
                calls.append((node.lineno, name))
    return [(line, name) for line, name in calls if name != "np.random.Generator"]


@pytest.mark.parametrize("path", sorted((SOURCE / "protect").rglob("*.py")), ids=lambda path: path.stem)
def test_methods_draw_from_the_randomness_they_are_given(path: Path) -> None:
    """A constant seed may order a search, and the line above says that nothing published depends on it."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for line, name in calls_of_chance(path):
        assert name == "np.random.default_rng", f"{path.name}:{line}: {name}"
        assert "np.random.default_rng(0)" in lines[line - 1], f"{path.name}:{line}: not a constant"
        assert "not the randomness of the release" in lines[line - 2], f"{path.name}:{line}: say why"
    assert "Generator(np.random." not in "".join(lines)


def test_the_walk_sees_other_sources(tmp_path: Path) -> None:
    for code in ("import random", "from secrets import token_hex", "import os\nos.urandom(3)", "np.random.rand(3)"):
        (tmp_path / "method.py").write_text(code)
        assert calls_of_chance(tmp_path / "method.py")


def test_without_entropy_there_is_no_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    def empty(count: int) -> bytes:
        raise NotImplementedError("no entropy")

    monkeypatch.setattr(os, "urandom", empty)
    with pytest.raises(NotImplementedError):
        Randomness.secure()
