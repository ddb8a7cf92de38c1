# SPDX-License-Identifier: MIT
"""No attack is weaker than a naive version of itself, on random data."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato.attack import ATTACKS
from tests.contract.naive_attackers import NAIVE

parametrize_kinds = pytest.mark.parametrize("kind", NAIVE, ids=lambda kind: kind.__name__)


def list_weaker(kind: type[sf.Attack], seeds: range) -> list[str]:
    """The tables on which a naive version finds more."""
    weaker = []
    for seed in seeds:
        trial = NAIVE[kind](np.random.default_rng(seed))
        outcome = trial.attack.run(trial.release, trial.truth)
        assert type(trial.attack) is kind and 0 <= trial.naive <= outcome.attempts
        if outcome.successes < trial.naive:
            weaker.append(f"seed {seed}: {outcome.successes} of {outcome.attempts}, naive {trial.naive}")
    return weaker


def test_every_attack_has_a_naive_version() -> None:
    missing = sorted(kind.__name__ for kind in set(ATTACKS) - set(NAIVE))
    assert not missing, f"write a naive version of {missing} in tests/contract/naive_attackers.py"
    assert set(NAIVE) == set(ATTACKS)


@parametrize_kinds
def test_no_attack_is_weaker(kind: type[sf.Attack]) -> None:
    assert list_weaker(kind, range(4)) == []


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        (sf.attack.BloomDictionary, 19),
        (sf.attack.BloomDictionary, 45),
        (sf.attack.ItemFrequency, 19),
        (sf.attack.ItemFrequency, 33),
        (sf.attack.Sorting, 2),
        (sf.attack.QuantileMatching, 8),
    ],
    ids=str,
)
def test_no_attack_is_weaker_where_it_once_was(kind: type[sf.Attack], seed: int) -> None:
    """Shared bits, every matching of few items, codes stretched to the known ends, people by rank."""
    assert list_weaker(kind, range(seed, seed + 1)) == []


@parametrize_kinds
def test_naive_versions_find_something(kind: type[sf.Attack]) -> None:
    """A naive attacker who never finds anything would show nothing."""
    assert any(NAIVE[kind](np.random.default_rng(seed)).naive > 0 for seed in range(4))


@pytest.mark.slow
@parametrize_kinds
def test_no_attack_is_weaker_on_a_thousand_tables(kind: type[sf.Attack]) -> None:
    assert list_weaker(kind, range(1000)) == []
