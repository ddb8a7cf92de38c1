# SPDX-License-Identifier: MIT
"""Secure randomness compared with numpy's own generators: uniform numbers, normals, whole numbers and permutations."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from bench.timing import best_of, show
from sfumato.private.keystream import KeystreamBits, make_keystream_generator

_DRAWS: dict[str, Callable[[np.random.Generator, int], object]] = {
    "uniform": lambda chance, count: chance.random(count),
    "normal": lambda chance, count: chance.standard_normal(count),
    "integers below 1000": lambda chance, count: chance.integers(0, 1_000, count),
    "permutation": lambda chance, count: chance.permutation(count),
}


def main() -> None:
    """A million draws, four and sixteen times as many; then what a generator costs before its first draw."""
    table_rows = []
    for name, draw in _DRAWS.items():
        for count in (1_000_000, 4_000_000, 16_000_000):
            secure, plain = (
                best_of(3, partial(draw, chance, count))
                for chance in (make_keystream_generator(), np.random.Generator(np.random.PCG64DXSM(1)))
            )
            rate = f"{count / secure / 1e6:.0f} million/s"
            table_rows.append((name, f"{count:,}", f"{1e3 * secure:.1f} ms", f"{1e3 * plain:.1f} ms", rate))
    show("Draws", ("what", "how many", "AES-256-CTR", "numpy's PCG64DXSM", "AES-256-CTR"), table_rows)
    creation_seconds = best_of(3, lambda: [KeystreamBits() for _ in range(100)]) / 100
    show("A new generator", ("AES-256-CTR",), [(f"{1e6 * creation_seconds:.0f} µs",)])


if __name__ == "__main__":
    main()
