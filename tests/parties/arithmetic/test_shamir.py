# SPDX-License-Identifier: MIT
"""Arithmetic modulo the prime, secure sums, and comparisons of shared sums, against plain integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.arrays import Flags, Ints, Words
from sfumato.errors import PartyError
from sfumato.parties.arithmetic import field, shamir
from sfumato.parties.arithmetic.field import PRIME
from sfumato.parties.arithmetic.shamir import (
    SharedNumbers,
    compare_shared_sums,
    compute_coefficients,
    evaluate_polynomial,
)
from sfumato.parties.protocols.sums import add_integers
from sfumato.parties.transport.network import Network, run_sites
from sfumato.randomness import Randomness

RESIDUES = st.one_of(st.integers(0, PRIME - 1), st.sampled_from([0, 1, 2, PRIME - 1, PRIME - 2, PRIME // 2, 1 << 60]))


@given(st.lists(st.tuples(RESIDUES, RESIDUES), min_size=1, max_size=20))
def test_field_operations_equal_integers(pairs: list[tuple[int, int]]) -> None:
    left, right = (np.array(side, dtype=np.uint64) for side in zip(*pairs, strict=True))
    assert field.add(left, right).tolist() == [(a + b) % PRIME for a, b in pairs]
    assert field.subtract(left, right).tolist() == [(a - b) % PRIME for a, b in pairs]
    assert field.multiply(left, right).tolist() == [a * b % PRIME for a, b in pairs]
    assert field.invert(left).tolist() == [pow(a, PRIME - 2, PRIME) for a, _ in pairs]
    roots = field.invert_root(field.multiply(left, left)).tolist()
    assert all(a == 0 or root * root * a * a % PRIME == 1 for root, (a, _) in zip(roots, pairs, strict=True))
    assert field.wrap_signed(field.unwrap_signed(left)).tolist() == left.tolist()


def test_any_majority_of_shares_determines_and_any_minority_fits_every_secret() -> None:
    coefficients = field.draw_uniform(Randomness.secure(), 2, 1)
    shares = [int(evaluate_polynomial(np.array([7], dtype=np.uint64), coefficients, point)[0]) for point in range(1, 6)]
    for start in range(1, 4):
        points = range(start, start + 3)
        parts = zip(compute_coefficients(points, 0), shares[start - 1 :], strict=False)
        assert sum(coefficient * share for coefficient, share in parts) % PRIME == 7
    # Through another secret and two of the shares there is a polynomial of the same degree, with another third share.
    at_three = compute_coefficients(range(3), 3)
    assert sum(c * value for c, value in zip(at_three, [8, *shares[:2]], strict=True)) % PRIME != shares[2]


def run_shared(terms: list[list[int]]) -> list[Flags]:
    async def compare(network: Network, site_terms: Ints) -> Flags:
        return await compare_shared_sums(network, site_terms, "compare")

    return run_sites(compare, [np.array(row, dtype=np.int64) for row in terms])


@settings(max_examples=8, deadline=None)
@given(st.integers(3, 5), st.data())
def test_comparisons_equal_plain_sums(sites: int, data: st.DataObject) -> None:
    numbers = st.one_of(st.integers(-3, 3), st.integers(-(2**57), 2**57))
    terms = data.draw(st.lists(st.lists(numbers, min_size=6, max_size=6), min_size=sites, max_size=sites))
    expected = [sum(column) >= 0 for column in zip(*terms, strict=True)]
    assert [flags.tolist() for flags in run_shared(terms)] == [expected] * sites


def test_sums_at_the_edge_of_zero() -> None:
    values = np.arange(-40, 40)
    terms = [(values + 5).tolist(), (-np.full(80, 9)).tolist(), np.full(80, 4).tolist()]
    assert run_shared(terms)[0].tolist() == (values >= 0).tolist()
    assert run_shared([[], [], []])[0].tolist() == []


def test_the_factors_compare_every_pair_of_small_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The product is zero exactly if [c < r] differs from the last bit of r."""
    monkeypatch.setattr(shamir, "BITS", 4)
    opened, masks = (grid.ravel().astype(np.uint64) for grid in np.meshgrid(np.arange(16), np.arange(16)))
    bits = (masks[:, None] >> np.arange(4, dtype=np.uint64)) & np.uint64(1)
    has_zero = (shamir._build_factors(opened, bits) == 0).any(axis=1)
    assert has_zero.tolist() == [bool((c < r) ^ (r & 1)) for c, r in zip(opened.tolist(), masks.tolist(), strict=True)]


def test_batches_join(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shamir, "BATCH", 4)
    assert run_shared([[1, -1] * 5, [0] * 10, [0] * 10])[2].tolist() == [True, False] * 5


def test_random_bits_are_bits_of_both_kinds() -> None:
    async def draw(network: Network, _: None) -> Words:
        shared = SharedNumbers(network, "bits")
        return await shared.open(await shared.draw_bits(200))

    bits = run_sites(draw, [None] * 3)[0].tolist()
    assert set(bits) == {0, 1}
    assert 40 < sum(bits) < 160  # misses with probability below 1e-16


def test_wrong_shares_are_noticed() -> None:
    async def cheat(network: Network, term: int) -> Words:
        shared = SharedNumbers(network, "sum")
        shares = await shared.share_sum(np.array([term], dtype=np.uint64))
        return await shared.open(field.add(shares, shares) if term == 3 else shares)

    with pytest.raises(PartyError, match="do not fit together"):
        run_sites(cheat, [1, 2, 3])


def test_two_sites_are_refused_with_the_reason() -> None:
    with pytest.raises(PartyError, match="three or more sites"):
        run_shared([[1], [2]])

    async def total(network: Network, terms: Ints) -> Ints:
        return await add_integers(network, terms)

    with pytest.raises(PartyError, match="is the other's"):
        run_sites(total, [np.array([1]), np.array([2])])


@settings(max_examples=10, deadline=None)
@given(st.lists(st.lists(st.integers(-(2**57), 2**57), min_size=3, max_size=3), min_size=3, max_size=6))
def test_secure_sums_are_exact(rows: list[list[int]]) -> None:
    async def total(network: Network, terms: Ints) -> Ints:
        return await add_integers(network, terms)

    expected = [sum(column) for column in zip(*rows, strict=True)]
    assert [sums.tolist() for sums in run_sites(total, [np.array(row) for row in rows])] == [expected] * len(rows)


def test_frames_of_a_comparison_do_not_depend_on_the_terms_in_size() -> None:
    def sizes(terms: list[list[int]]) -> list[int]:
        frames: list[bytes] = []

        async def compare(network: Network, site_terms: Ints) -> Flags:
            return await compare_shared_sums(network, site_terms, "compare")

        run_sites(compare, [np.array(row, dtype=np.int64) for row in terms], tap=frames.append)
        return sorted(map(len, frames))

    assert sizes([[1], [2], [3]]) == sizes([[-(2**50)], [0], [2**55]])
