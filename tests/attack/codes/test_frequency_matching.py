# SPDX-License-Identifier: MIT
"""Frequency matching: how often a value occurs survives any bijection."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.attack.codes.frequency_matching import FrequencyMatching
from sfumato.attack.codes.quantile_matching import QuantileMatching
from sfumato.public.codes.coded_columns import CodedColumn
from sfumato.public.codes.crack_functions import guess_by_frequency, number_runs


def release(codes: Any, classes: Any = None) -> sf.Release:
    columns = {"x": codes} | ({} if classes is None else {"y": classes})
    return sf.Release(sf.Table.of(columns), None, (), {})


def test_frequencies_by_hand() -> None:
    """Values 1, 2, 3 with 1, 3, 2 rows got the codes 7, 9, 8: each is told by its count."""
    truth = pl.Series([1.0, 2, 2, 2, 3, 3])
    coded_column = CodedColumn.of("x", truth.replace_strict({1.0: 7.0, 2.0: 9.0, 3.0: 8.0}), truth)
    assert coded_column.codes.tolist() == [7, 8, 9]
    assert guess_by_frequency(coded_column, np.array([1, 3, 2]), np.zeros(3, dtype=np.int64)).tolist() == [1, 3, 2]
    rank_guess = guess_by_frequency(
        coded_column, np.array([1, 3, 2]), np.arange(3)
    )  # each a run of its own: ranks alone, and a miss
    assert rank_guess.tolist() != [1, 3, 2]


def test_runs_are_of_one_class() -> None:
    classes, mixed = np.array([0, 0, 1, 1, 0, 1]), np.array([False, False, False, True, False, False])
    assert number_runs(classes, mixed).tolist() == [0, 0, 1, 2, 3, 4]


def test_shuffled_pure_pieces_are_cracked_by_frequency_and_not_by_quantile() -> None:
    """Two pure pieces of 40 values each; value v occurs 1 + (7 v mod 41) times, so counts tell values apart."""
    values = np.repeat(np.arange(80.0), [1 + 7 * v % 41 for v in range(80)])
    truth = sf.Table.of({"x": values, "y": np.where(values < 40, "a", "b").tolist()})
    lot = np.random.default_rng(0)
    code = np.concatenate([lot.permutation(40), 40 + lot.permutation(40)])
    encoded = release(code[values.astype(int)].astype(float) * 3, truth.frame["y"])
    attack = FrequencyMatching(share=1.0, target="y", radius=0.01)
    assert attack.run(encoded, truth).risk > 0.9
    assert QuantileMatching(share=1.0, radius=0.01).run(encoded, truth).risk < 0.2
    weak = FrequencyMatching(share=0.3, target="y", radius=0.01, trials=30).run(encoded, truth)
    assert 0.02 < weak.risk < 0.9


@pytest.mark.parametrize("target", [None, "y"])
def test_codes_that_fall_are_matched_as_well_as_codes_that_rise(target: str | None) -> None:
    """Many values occur equally often, so that ties and runs alike must be read in falling order."""
    chance = np.random.default_rng(3)
    ages = chance.integers(18, 81, 100).astype(float)
    classes = chance.choice(["a", "b"], 100)
    truth = sf.Table.of({"x": ages, "y": classes.tolist()})
    attack = FrequencyMatching(share=1.0, target=target)
    rising, falling = (attack.run(release(sign * ages * 7 + 900, classes.tolist()), truth) for sign in (1, -1))
    assert rising.successes == falling.successes == 100 and falling.baseline < 20


def test_shuffled_pure_pieces_of_falling_codes_are_cracked_by_frequency() -> None:
    """Value v occurs 1 + (7 v mod 41) times in its piece: the same counts in both, so the pieces must be located."""
    values = np.repeat(np.arange(80.0), [1 + 7 * (v % 40) % 41 for v in range(80)])
    truth = sf.Table.of({"x": values, "y": np.where(values < 40, "a", "b").tolist()})
    lot = np.random.default_rng(0)
    code = -np.concatenate([lot.permutation(40), 40 + lot.permutation(40)])
    encoded = release(code[values.astype(int)].astype(float) * 3, truth.frame["y"])
    assert FrequencyMatching(share=1.0, target="y", radius=0.01).run(encoded, truth).risk > 0.9


def test_controls() -> None:
    values = np.arange(800.0)
    classes = np.random.default_rng(1).choice(["a", "b"], 800)
    truth = sf.Table.of({"x": values, "y": classes.tolist()})
    attack = FrequencyMatching(share=1.0, target="y", radius=0.002)
    turned = sf.Table.of({"x": values[::-1].copy(), "y": classes.tolist()})
    outcome = attack.run(release(values, classes.tolist()), truth, control=turned)
    assert outcome.risk == 1.0 and outcome.control is not None and outcome.control < 20
    lot = np.random.default_rng(0)
    noise = release(lot.choice(values, 800), lot.choice(classes, 800).tolist())
    assert attack.run(noise, truth).risk < 0.02


def test_bad_input() -> None:
    with pytest.raises(sf.PolicyError, match='target "z"'):
        FrequencyMatching(target="z").run(release([1.0]), sf.Table.of({"x": [1.0]}))
