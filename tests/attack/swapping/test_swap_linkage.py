# SPDX-License-Identifier: MIT
"""Linkage of swapped records: counted by hand, with its controls, and what knowing the method adds."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.attack.swapping.swap_linkage import SwapLinkage
from sfumato.protect.swapping.swap_confidential import SwapConfidential
from sfumato.randomness import Randomness


def census(rows: int = 3000, seed: int = 3, foretell: float = 1.6) -> sf.Table:
    """Ten columns that each foretell a yes or no a little; most people are alone with theirs."""
    chance = np.random.default_rng(seed)
    rich = chance.random(rows) < 0.45
    columns = {
        f"c{n}": chance.binomial(6, np.where(rich, 0.5 + 0.05 * foretell, 0.5 - 0.05 * foretell)) for n in range(8)
    }
    frame = pl.DataFrame(columns | {"rich": np.where(rich, "yes", "no")})
    return sf.Table.of(frame, dict.fromkeys(columns, "quasi_identifying") | {"rich": "sensitive"})


TABLE = census()


def swapped(search: str, share: float = 0.5) -> sf.Release:
    return SwapConfidential(column="rich", share=share, search=search).protect(TABLE, Randomness.seeded(1))


def test_by_hand() -> None:
    original = sf.Table.of(
        {"k": [1, 2, 3, 3, 3, 4, 4], "s": ["a", "b", "c", "c", "c", "a", "b"]},
        {"k": "quasi_identifying", "s": "sensitive"},
    )
    published = original.replace_frame(original.frame.with_columns(pl.Series("s", ["b", "b", "c", "a", "c", "a", "b"])))
    outcome = SwapLinkage().run(sf.Release(published, None, (), {}), original)
    # 1 reads b, 2 reads b rightly, the three read c; 4 has a and b: b is commoner in the release, right for one.
    assert (outcome.attempts, outcome.successes) == (7, 1 + 3 + 1)
    assert outcome.baseline == 2  # b of everybody
    assert (outcome.facts["alone"], outcome.facts["alone_right"]) == (2, 1)


def test_it_succeeds_on_the_original_and_reads_the_share_that_stayed() -> None:
    as_is = SwapLinkage().run(sf.Release(TABLE, None, (), {}), TABLE)
    unique_count = as_is.facts["alone"]
    assert unique_count > 0.8 * len(TABLE) and as_is.facts["alone_right"] == unique_count and as_is.low > 0.9
    for share in (0.2, 0.5):
        outcome = SwapLinkage().run(swapped("optimal", share), TABLE)
        assert outcome.facts["alone_right"] == unique_count - round(share * unique_count)


def test_it_fails_on_noise() -> None:
    chance = np.random.default_rng(1)
    columns = [TABLE.frame[name].shuffle(seed=int(chance.integers(1 << 30))) for name in TABLE.frame.columns]
    noise = sf.Release(TABLE.replace_frame(pl.DataFrame(columns)), None, (), {})
    for attack in (SwapLinkage(), SwapLinkage(knows="method", share=0.5)):
        assert attack.run(noise, TABLE).risk < 0.05


def test_who_knows_the_method_undoes_swaps_that_were_chosen_and_not_those_by_lot() -> None:
    """Much goes beyond the estimate alone for `optimal`; for `random`, hardly anything beyond it or mere reading."""
    attack = SwapLinkage(knows="method")
    optimal_facts, random_facts = (attack.run(swapped(search), TABLE).facts for search in ("optimal", "random"))
    unique_count = optimal_facts["alone"]
    assert optimal_facts["reverted"] == round(0.5 * unique_count)
    assert optimal_facts["alone_right"] > optimal_facts["unique_predicted"] + 0.08 * unique_count
    assert (
        random_facts["alone_right"]
        <= max(random_facts["unique_predicted"], unique_count - round(0.5 * unique_count)) + 0.02 * unique_count
    )
    assert optimal_facts["alone_right"] > 0.85 * unique_count


def test_who_knows_the_method_is_never_weaker_than_who_reads() -> None:
    """Few swaps by lot, and columns that foretell nothing: what is reverted is mostly true."""
    table = census(600, seed=5, foretell=0.0)
    release = SwapConfidential(column="rich", share=0.1, search="random").protect(table, Randomness.seeded(1))
    reads, reverts = (SwapLinkage(knows=knows).run(release, table).successes for knows in ("release", "method"))
    assert reverts >= reads


def test_a_noisy_known_column_does_not_blind_it() -> None:
    noisy = sf.AddNoise(columns=("c0",), privacy=0.5).protect(TABLE, Randomness.seeded(1))
    other_columns = tuple(name for name in TABLE.quasi_identifying if name != "c0")
    every, untouched = (
        SwapLinkage(knowledge=knowledge).run(noisy, TABLE).successes for knowledge in (None, other_columns)
    )
    assert every >= untouched > 0.5 * len(TABLE)


def test_the_estimate_is_a_frame_like_the_release() -> None:
    release = swapped("optimal")
    assert SwapLinkage().estimate(release).equals(release.data.frame)
    guessed = SwapLinkage(knows="method").estimate(release)
    assert guessed.schema == release.data.frame.schema
    assert guessed.drop("rich").equals(release.data.frame.drop("rich"))
    right = (guessed["rich"] == TABLE.frame["rich"]).sum()
    assert right > (release.data.frame["rich"] == TABLE.frame["rich"]).sum()


def test_control_and_knowledge() -> None:
    release = swapped("optimal")
    outcome = SwapLinkage(column="rich", knowledge=("c0", "c1")).run(release, TABLE, control=census(500, seed=8))
    assert outcome.facts["alone"] < 5 and outcome.control is not None and 0 < outcome.control < 500
    full_outcome = SwapLinkage().run(release, TABLE, control=census(500, seed=8))
    assert full_outcome.control is not None and full_outcome.control < 100  # hardly anybody else fits a row


def test_missing_values_and_a_column_of_one_value() -> None:
    table = sf.Table.of(
        {"k": [1, 2, 3, None], "s": ["a", None, "a", "a"]}, {"k": "quasi_identifying", "s": "sensitive"}
    )
    release = sf.Release(table, None, (), {})
    outcome = SwapLinkage(knows="method", share=0.5).run(release, table)
    assert outcome.successes == 3 and outcome.facts["reverted"] == 0  # a missing value is never learned


def test_what_it_cannot_do_without() -> None:
    with pytest.raises(sf.PolicyError, match="give `share`"):
        SwapLinkage(knows="method").run(sf.Release(TABLE, None, (), {}), TABLE)
    with pytest.raises(sf.DataError, match="no column is known"):
        SwapLinkage(knowledge=("rich",)).run(swapped("optimal"), TABLE)


def test_blind_guessing_is_by_the_release_whatever_is_undone() -> None:
    """With `knows = "method"` it was by the most common value after undoing, which is not what anybody published."""
    chance = np.random.default_rng(8)
    columns = {
        "age": chance.integers(20, 50, 60),
        "ill": chance.choice(list("fcg"), 60),
        "pay": chance.integers(1, 6, 60),
    }
    table = sf.Table.of(pl.DataFrame(columns), {"age": "quasi_identifying", "ill": "sensitive", "pay": "sensitive"})
    for seed in range(20):
        method = SwapConfidential(column=("ill", "pay"), share=0.4, search="random")
        release = method.protect(table, Randomness.seeded(seed))
        reader, expert = (SwapLinkage(knows=knows).run(release, table) for knows in ("release", "method"))
        assert expert.baseline == reader.baseline
        assert expert.successes >= reader.successes
