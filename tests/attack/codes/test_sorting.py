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
    shares = []
    for index in range(9):
        rank = int((codes < codes[index]).sum())
        possible = range(1 + rank, 44 - (8 - rank) + 1)
        shares.append(sum(abs(values[index] - candidate) <= 2 for candidate in possible) / len(possible))
    assert shares[5] == pytest.approx(5 / 36)
    outcome = Sorting(radius=2 / 43).run(release(codes), truth(values))
    assert outcome.facts["columns"]["x"]["median"] == pytest.approx(sum(shares) / 9)
    # Spread evenly, sorted codes stand for 1, 6.4, 11.8, 17.1, 22.5, 27.9 …: three true values are within 2.
    assert outcome.successes == 3 and outcome.facts["evenly_spread"]["x"] == pytest.approx(3 / 9)


def test_without_gaps_every_rank_is_the_value() -> None:
    values = np.random.default_rng(0).permutation(400) + 20.0
    outcome = Sorting(radius=0.001).run(release(np.sqrt(values)), truth(values))
    assert outcome.risk == 1.0 and outcome.facts["evenly_spread"]["x"] == 1.0
    falling = Sorting(radius=0.001).run(release(-values), truth(values))
    assert falling.risk == 1.0 and falling.facts["columns"]["x"]["best_guess"].endswith("falling")
    blind = Sorting(radius=0.001, knows_range=False).run(release(values * 3), truth(values))
    assert blind.risk < 0.05


def test_gaps_and_values_that_changed_places_shelter() -> None:
    lot = np.random.default_rng(1)
    even = np.sort(lot.choice(4000, 400, replace=False)).astype(float)
    even_outcome = Sorting().run(release(even * 2), truth(even))
    assert even_outcome.facts["columns"]["x"]["median"] < 0.1 < even_outcome.risk  # even gaps shelter from draws alone
    uneven = np.round(np.linspace(0, 200, 400) ** 2) + np.arange(400)
    outcome = Sorting().run(release(np.log1p(uneven)), truth(uneven))
    assert outcome.successes == outcome.baseline < 100
    stretched = Sorting().run(release(uneven * 2), truth(uneven))
    assert stretched.risk == 1.0  # a line is no shelter if its ends are known
    assert stretched.facts["columns"]["x"]["best_guess"] == "stretched to the range"
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


def test_a_column_that_is_read_is_not_hidden_by_one_with_many_codes() -> None:
    """Every age is read, while salaries have a hundred times as many codes: the risk is that of the ages."""
    lot = np.random.default_rng(3)
    frame = {"age": lot.integers(20, 66, 3000), "salary": lot.uniform(0, 1e6, 3000)}
    shuffled = np.unique(frame["salary"], return_inverse=True)[1]
    codes = {"age": frame["age"] * 3 + 1, "salary": lot.permutation(3000)[shuffled] * 7.0}
    outcome = Sorting().run(sf.Release(sf.Table.of(codes), None, (), {}), sf.Table.of(frame))
    assert outcome.facts["column"] == "age" and outcome.attempts == outcome.successes == 3000
    assert outcome.facts["columns"]["salary"]["people_read"] < 0.1 * 3000
    salary_outcome = Sorting(column="salary").run(sf.Release(sf.Table.of(codes), None, (), {}), sf.Table.of(frame))
    assert salary_outcome.successes == outcome.facts["columns"]["salary"]["people_read"]


def test_people_count_not_codes() -> None:
    """Nine of ten people have one of 20 common values that are read; 20 rare values far off are not."""
    values = np.concatenate([np.tile(np.arange(20.0), 45), 1000.0 * np.arange(1, 101)])
    outcome = Sorting(radius=0.001, column="x").run(release(values * 2), truth(values))
    assert outcome.attempts == 1000 and outcome.successes >= 900
    assert outcome.facts["columns"]["x"]["median"] < 0.3
