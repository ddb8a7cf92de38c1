# SPDX-License-Identifier: MIT
"""No attack is right less often than blind guessing about the same people, except by chance."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.attack import ATTACKS
from tests.contract.naive_attackers import NAIVE, draw_people

KINDS = {"airways": ("flu", "cold"), "joints": ("gout",)}
OF_SECRETS: tuple[Callable[[sf.Table], sf.Attack], ...] = (
    lambda _: sf.attack.Homogeneity(column="ill"),
    lambda _: sf.attack.Homogeneity(column="ill", share=0.6),
    lambda _: sf.attack.Similarity(column="ill", groups=KINDS),
    lambda _: sf.attack.Similarity(column="pay", width=0.2),
    lambda _: sf.attack.BackgroundKnowledge(column="ill", excluded=0),
    lambda _: sf.attack.BackgroundKnowledge(column="ill"),
    lambda _: sf.attack.Inference(column="ill", neighbours=3),
    lambda _: sf.attack.CopiedRecords(columns="ill"),
    lambda _: sf.attack.SwapLinkage(column="ill"),
    lambda table: sf.attack.Composition(column="ill").add_releases(table),
)
"""Attacks on a sensitive column."""


def draw_paid_people(seed: int) -> sf.Table:
    """Most have the flu; ages have intervals."""
    chance = np.random.default_rng(seed)
    people = draw_people(chance, 60)
    ill = pl.Series("ill", np.where(chance.random(60) < 0.5, "flu", people.frame["ill"].to_numpy()))
    frame = people.frame.with_columns(ill, pay=pl.Series(chance.integers(1, 9, 60)))
    return sf.Table.of(frame, {**people.roles, "pay": "sensitive"}, {"age": {"kind": "intervals", "widths": [2, 4]}})


def list_true_releases(table: sf.Table) -> list[sf.Release]:
    """Releases whose cells are all true, with and without suppressed rows."""
    models = (sf.KAnonymity(k=2),)
    return [
        sf.Release(table, None, (), {}),
        *(
            sf.Generalize(models=models, suppression_limit=0.3, suppressed_rows=rows).protect(table)
            for rows in ("star", "blank", "drop")
        ),
        sf.Generalize(models=models, recoding="local").protect(table),
        sf.Partition(models=models).protect(table),
    ]


def may_be_below(outcome: sf.Outcome) -> float:
    """Five deviations of a count of independent guesses."""
    share = outcome.baseline / max(outcome.attempts, 1)
    return 5 * sqrt(outcome.attempts * share * (1 - share))


@pytest.mark.parametrize("kind", ATTACKS, ids=lambda kind: kind.__name__)
def test_no_attack_is_below_blind_guessing(kind: type[sf.Attack]) -> None:
    for seed in range(2):
        trial = NAIVE[kind](np.random.default_rng(seed))
        outcome = trial.attack.run(trial.release, trial.truth)
        assert outcome.successes >= outcome.baseline - may_be_below(outcome)


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))])
@pytest.mark.parametrize("build", OF_SECRETS, ids=lambda build: type(build(draw_paid_people(0))).__name__)
def test_what_true_rows_tell_is_right_at_least_as_often_as_a_blind_guess(
    build: Callable[[sf.Table], Any], seed: int
) -> None:
    table = draw_paid_people(seed)
    attack = build(table)
    for release in list_true_releases(table):
        outcome = attack.run(release, table)
        is_drawn = isinstance(attack, sf.attack.CopiedRecords)
        assert outcome.successes >= outcome.baseline - (may_be_below(outcome) if is_drawn else 0)


@pytest.mark.parametrize("seed", range(3))
def test_who_guesses_about_everybody_is_never_below(seed: int) -> None:
    """Rows whose cells do not belong together: an attack that may guess does not believe them."""
    table = draw_paid_people(seed)
    mixed = table.replace_frame(table.frame.with_columns(table.frame["ill"].shuffle(seed=seed)))
    for attack in (
        sf.attack.BackgroundKnowledge(column="ill", excluded=0),
        sf.attack.BackgroundKnowledge(column="ill"),
        sf.attack.Inference(column="ill"),
    ):
        outcome = attack.run(sf.Release(mixed, None, (), {}), table)
        assert outcome.successes >= outcome.baseline > 0
