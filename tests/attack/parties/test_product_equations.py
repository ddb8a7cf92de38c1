# SPDX-License-Identifier: MIT
"""The algebraic product gives both vectors away; the private one gives the attack nothing to work on."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato.arrays import Flags, Ints
from sfumato.attack.parties.product_equations import recover_disguised_vector, recover_vector
from sfumato.errors import DataError
from sfumato.parties.arithmetic.packed_cipher import SLOTS, KeyHolder, Multiplier, choose_parameters
from sfumato.parties.protocols.algebraic_product import disguise, draw_coefficients, reply, resolve
from sfumato.parties.transport.message import Message, decode_frame
from sfumato.parties.vertical import VerticalProtocol
from sfumato.randomness import Randomness

ROWS = 400


def draw(seed: int, density: float, rows: int = ROWS) -> Ints:
    return (np.random.default_rng(seed).random(rows) < density).astype(np.int64)


@pytest.mark.parametrize("density", [0.05, 0.1, 0.95])
def test_half_as_many_equations_give_the_vector(density: float) -> None:
    """n = 400: 200 equations in 400 unknowns, each of which is recovered."""
    coefficients, truth = draw_coefficients(1, ROWS), draw(2, density)
    recovered = recover_vector(coefficients, truth @ coefficients)
    assert recovered.is_proven
    assert recovered.equations == 200
    assert np.array_equal(recovered.vector, truth > 0)
    outcome = recovered.score(truth > 0)
    assert (outcome.attempts, outcome.successes) == (400, 400)
    assert outcome.baseline < 400


def test_both_sites_lose_their_vectors_and_the_product_is_right() -> None:
    coefficients, left, right = draw_coefficients(3, 101), draw(4, 0.1, 102), draw(5, 0.1, 102)
    randoms = np.random.default_rng(6).integers(0, 1 << 24, 51)
    disguised = disguise(left, coefficients, randoms)
    answer = reply(right, coefficients, disguised)
    assert resolve(answer, randoms) == int(left @ right)
    assert np.array_equal(recover_disguised_vector(coefficients, disguised).vector, left > 0)
    assert np.array_equal(recover_vector(coefficients, answer.values).vector, right > 0)


def test_noise_is_not_mistaken_for_a_vector() -> None:
    coefficients = draw_coefficients(1, 60)
    noise = np.random.default_rng(7).integers(0, 1 << 14, 30)
    assert not recover_vector(coefficients, noise).is_proven
    assert not recover_disguised_vector(coefficients, np.random.default_rng(8).integers(0, 1 << 14, 60)).is_proven
    with pytest.raises(DataError, match="a column for each value"):
        recover_vector(coefficients, noise[:-1])


def mine(protocol: VerticalProtocol, left: Flags, right: Flags) -> list[Message]:
    """All messages of a run about one item at each site."""
    frames: list[bytes] = []
    sites = [
        sf.Baskets.of([[name] if flag else [] for flag in column]) for name, column in (("A1", left), ("B1", right))
    ]
    sf.parties.mine_vertical(sites, 2, floor=2, protocol=protocol, tap=frames.append)
    return [decode_frame(frame)[1] for frame in frames]


def test_a_site_recovers_the_other_from_the_messages_of_a_textbook_run() -> None:
    left, right = draw(9, 0.15, 120) > 0, draw(10, 0.15, 120) > 0
    messages = {message.kind: message for message in mine("textbook", left, right)}
    coefficients = draw_coefficients(messages["products/matrix"].get_fact("seed", int), 120)
    values = messages["level 2/products/reply"].get_array("values", np.int64, 60)
    disguised = messages["level 2/products/disguised"].get_array("values", np.int64, 120)
    assert np.array_equal(recover_vector(coefficients, values).vector, right)
    assert np.array_equal(recover_disguised_vector(coefficients, disguised).vector, left)


def test_the_default_run_has_no_equations() -> None:
    left, right = draw(9, 0.15, 120) > 0, draw(10, 0.15, 120) > 0
    kinds = {message.kind: message for message in mine("packed", left, right)}
    products = {kind for kind in kinds if kind.startswith("level 2/")}
    assert products == {
        "level 2/products/block",
        "level 2/products/answer",
        "level 2/support/bits",
        "level 2/support/tests",
        "level 2/support/half",
    }


def test_what_the_key_opens_in_the_default_mode_gives_the_attack_nothing() -> None:
    """The slots that the key opens, taken as the sums of equations: more than 78 of 120 are right with p < 0.001."""
    right, parameters = draw(10, 0.5, 120), choose_parameters(1, 120)
    holder = KeyHolder(parameters)
    numbers = np.zeros(SLOTS, dtype=np.int64)
    numbers[:120] = 1
    factors = np.zeros(SLOTS, dtype=np.int64)
    factors[:120] = right
    multiplier = Multiplier(parameters, holder.write_public_key())
    opened = holder.open(multiplier.multiply([holder.encrypt(numbers)], [factors], Randomness.secure()).block)
    recovered = recover_vector(draw_coefficients(1, 120), opened[:60])
    assert not recovered.is_proven
    assert recovered.score(right > 0).successes <= 78
