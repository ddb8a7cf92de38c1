# SPDX-License-Identifier: MIT
"""Sorting: ranks are values where the domain has no gap, and gaps shelter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.attack.codes.sorting import Sorting


def release(codes: Any) -> sf.Release:
    return sf.Release(sf.Table.of({"x": codes}), None, (), {})


def truth(values: Any) -> sf.Table:
    return sf.Table.of({"x": values})


def test_the_seeds_example() -> None:
    """Section 5.4: nine values in [1, 44], the code 27 stands for 29: 5 of the 36 places are within 2."""
    values = np.array([1.0, 2, 15, 27, 28, 29, 42, 43, 44])
    codes = np.array([6.0, 10, 8, 19, 18, 27, 35, 31, 33])
    found = []
    for at in range(9):
        rank = int((codes < codes[at]).sum())
        possible = range(1 + rank, 44 - (8 - rank) + 1)
        found.append(sum(abs(values[at] - one) <= 2 for one in possible) / len(possible))
    assert found[5] == pytest.approx(5 / 36)
    outcome = Sorting(radius=2 / 43).run(release(codes), truth(values))
    assert outcome.facts["columns"]["x"]["median"] == pytest.approx(sum(found) / 9)
    assert outcome.successes == int(sum(found))


def test_without_gaps_every_rank_is_the_value() -> None:
    values = np.random.default_rng(0).permutation(400) + 20.0
    outcome = Sorting(radius=0.001).run(release(np.sqrt(values)), truth(values))
    assert outcome.risk == 1.0 and outcome.facts["evenly_spread"]["x"] == 1.0
    falling = Sorting(radius=0.001).run(release(-values), truth(values))
    assert falling.risk < 0.05
    blind = Sorting(radius=0.001, knows_range=False).run(release(values * 3), truth(values))
    assert blind.risk < 0.05


def test_gaps_and_values_that_changed_places_shelter() -> None:
    lot = np.random.default_rng(1)
    values = np.sort(lot.choice(4000, 400, replace=False)).astype(float)
    assert Sorting().run(release(values * 2), truth(values)).risk < 0.1
    full = np.arange(400.0)
    assert Sorting(radius=0.01).run(release(lot.permutation(full)), truth(full)).risk < 0.1


def test_it_fails_on_noise_and_counts_control() -> None:
    values = np.arange(800.0)
    noise = np.random.default_rng(0).choice(values, 800)
    assert Sorting(radius=0.002).run(release(noise), truth(values)).risk < 0.02
    outcome = Sorting(radius=0.002).run(release(values), truth(values), control=truth(values[::-1].copy()))
    assert outcome.successes == outcome.attempts == 800
    assert outcome.control is not None and outcome.control < 20
    assert outcome.baseline == pytest.approx(3.2, abs=1)
