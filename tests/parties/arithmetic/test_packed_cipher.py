# SPDX-License-Identifier: MIT
"""Packed encryption: products are right, and what comes back tells nothing about the factors."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.arrays import Words
from sfumato.errors import PartyError
from sfumato.parties.arithmetic.packed_cipher import (
    SLOTS,
    KeyHolder,
    Multiplier,
    PackedParameters,
    check_block,
    choose_parameters,
    flood_noise,
    get_moduli,
)
from sfumato.randomness import Randomness


@pytest.fixture(scope="module")
def holder() -> KeyHolder:
    return KeyHolder(choose_parameters(2, 50_000))


@pytest.fixture(scope="module")
def multiplier(holder: KeyHolder) -> Multiplier:
    return Multiplier(choose_parameters(2, 50_000), holder.write_public_key())


def draw_bits(seed: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.random.default_rng(seed).integers(0, 2, (2, SLOTS))


def test_a_product_is_the_sum_over_blocks_slot_by_slot(holder: KeyHolder, multiplier: Multiplier) -> None:
    left, right = draw_bits(1), draw_bits(2)
    answer = multiplier.multiply([holder.encrypt(row) for row in left], list(right), Randomness.secure())
    modulus = choose_parameters(2, 50_000).modulus
    opened = (holder.open(check_block(answer.block)) - answer.masks) % modulus
    assert np.array_equal(opened, (left * right).sum(axis=0))


def test_what_the_key_opens_is_uniform(holder: KeyHolder, multiplier: Multiplier) -> None:
    """For any factors: chi-square of slots in sixteen classes, above 45 with a probability below 1e-4."""
    block, modulus = [holder.encrypt(draw_bits(1)[0])], choose_parameters(2, 50_000).modulus
    for factors in (np.zeros(SLOTS, dtype=np.int64), np.ones(SLOTS, dtype=np.int64)):
        opened = holder.open(multiplier.multiply(block, [factors], Randomness.secure()).block)
        counts = np.bincount(opened * 16 // modulus, minlength=16)
        assert ((counts - SLOTS / 16) ** 2 / (SLOTS / 16)).sum() < 45


def test_columns_without_anybody_take_the_same_work(
    holder: KeyHolder, multiplier: Multiplier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Skipping blocks of zeros would tell the holder of the key by the time how many there are."""
    multiplied: list[Words] = []
    write = multiplier._scheme.write_block

    def keep(block: Words) -> object:
        multiplied.append(block)
        return write(block)

    monkeypatch.setattr(multiplier._scheme, "write_block", keep)
    left, right = draw_bits(1), draw_bits(2)
    right[1] = 0
    answer = multiplier.multiply([holder.encrypt(row) for row in left], list(right), Randomness.secure())
    modulus = choose_parameters(2, 50_000).modulus
    assert np.array_equal((holder.open(answer.block) - answer.masks) % modulus, left[0] * right[0])
    assert len(multiplied) == 2


def combine_residues(rows: Words) -> list[int]:
    """Whole numbers from their residues, by the Chinese remainder theorem."""
    moduli = get_moduli()
    product = int(np.prod(np.array(moduli, dtype=object)))
    weights = [product // modulus * pow(product // modulus, -1, modulus) for modulus in moduli]
    return [
        sum(int(row[slot]) * weight for row, weight in zip(rows, weights, strict=True)) % product for slot in range(64)
    ]


def test_flooding_adds_noise_of_the_stated_size_to_the_first_polynomial() -> None:
    for bits in (20, 100, 128):
        flooded = flood_noise(np.zeros((8, SLOTS), dtype=np.uint64), bits, Randomness.seeded(1))
        noise = combine_residues(flooded[:4])
        assert max(noise) < 1 << bits
        assert max(noise) > 1 << (bits - 4)  # of 64 uniform numbers, but with probability 2^-256
        assert len(set(noise)) > 60
        assert not flooded[4:].any()


def test_noise_drowns_what_factors_can_make_and_leaves_room_to_decrypt() -> None:
    parameters = choose_parameters(13, 500_000)
    largest_factor_noise = 13 * SLOTS * (parameters.modulus // 2) * (1 << 19)
    assert 1 << parameters.flood_bits >= largest_factor_noise * SLOTS << 40
    product = int(np.prod(np.array(get_moduli(), dtype=object)))
    assert (1 << parameters.flood_bits) + largest_factor_noise < product // (2 * parameters.modulus)


def test_a_key_for_other_parameters_and_garbage_are_refused(holder: KeyHolder) -> None:
    key = holder.write_public_key()
    with pytest.raises(PartyError, match="other parameters"):
        Multiplier(choose_parameters(2, 10_000_000), key)
    with pytest.raises(PartyError, match=r"cannot be read|does not hold"):
        Multiplier(choose_parameters(2, 50_000), key[: key.size // 2])
    block = np.full((8, SLOTS), get_moduli()[0], dtype=np.uint64)
    with pytest.raises(PartyError, match="outside the agreed range"):
        check_block(block)


def test_too_large_numbers_are_refused_with_a_cure() -> None:
    with pytest.raises(PartyError, match="round min_confidence"):
        choose_parameters(13, 1 << 45)
    assert isinstance(choose_parameters(13, 1 << 36), PackedParameters)


@pytest.mark.parametrize("bits", range(1, 35))
def test_every_size_of_number_fits_its_modulus(bits: int) -> None:
    """There is no usable prime of 19 bits, for one."""
    for largest in ((1 << bits) - 1, 1 << bits):
        assert choose_parameters(2, largest).modulus > 2 * largest + 1
