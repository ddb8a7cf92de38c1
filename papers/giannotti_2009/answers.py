# SPDX-License-Identifier: MIT
"""Randomized response: Table 1 of Warner (1965) by formula and by simulation, and what asking again gives away."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from papers.plots import Axis, Curve, StatedPoint, draw_curves
from papers.study import Findings, Grid, Pair, Setting, Statement, Tolerance, compare, frame_of
from sfumato.attack.answers.repeated_answers import RepeatedAnswers
from sfumato.mine.answers.proportions import warner_estimate
from sfumato.protect.answers.randomize_response import RandomizeResponse
from sfumato.randomness import Randomness
from sfumato.table import Table

TRUE_SHARE, SURVEY, SEED = 0.6, 1000, 1965
SPINNERS = (0.6, 0.7, 0.8, 0.9)
TABLE_1: Mapping[tuple[float, float], tuple[float, tuple[float, float, float, float]]] = {
    (0.95, 1.00): (-0.03, (5.45, 1.36, 0.60, 0.33)),
    (0.90, 1.00): (-0.06, (1.62, 0.40, 0.18, 0.10)),
    (0.70, 1.00): (-0.18, (0.19, 0.05, 0.02, 0.01)),
    (0.50, 1.00): (-0.30, (0.07, 0.02, 0.01, 0.00)),
    (1.00, 0.95): (0.02, (9.82, 2.44, 1.08, 0.60)),
    (1.00, 0.90): (0.04, (3.41, 0.85, 0.37, 0.21)),
    (1.00, 0.70): (0.12, (0.43, 0.11, 0.05, 0.03)),
    (1.00, 0.50): (0.20, (0.16, 0.04, 0.02, 0.01)),
    (0.95, 0.95): (-0.01, (18.25, 4.54, 2.00, 1.11)),
    (0.90, 0.90): (-0.02, (9.70, 2.41, 1.06, 0.59)),
    (0.70, 0.70): (-0.06, (1.62, 0.40, 0.18, 0.10)),
    (0.50, 0.50): (-0.10, (0.61, 0.15, 0.07, 0.04)),
}
"""How likely members of A and of B tell the truth when asked openly → bias, and for each spinner the ratio of mean
square errors, randomized over open."""
RIGHT_SHARES: Mapping[int, float] = {1: 0.70, 5: 0.83, 15: 0.95}
"""An independent count: how often the majority of this many answers is the truth, at p = 0.7."""


def open_error(truth_a: float, truth_b: float) -> tuple[float, float]:
    """Bias and mean square error of asking openly."""
    yes_share = TRUE_SHARE * truth_a + (1 - TRUE_SHARE) * (1 - truth_b)
    bias = yes_share - TRUE_SHARE
    return bias, bias**2 + yes_share * (1 - yes_share) / SURVEY


def spinner_error(p: float) -> float:
    """The variance of Warner's estimate, which has no bias."""
    return (1 / (16 * (p - 0.5) ** 2) - (TRUE_SHARE - 0.5) ** 2) / SURVEY


def _simulate_surveys(
    surveys: int, chance: np.random.Generator
) -> tuple[dict[tuple[float, float], tuple[float, float]], dict[float, float]]:
    """Bias and mean square error of open surveys, and mean square error of Warner's, over many surveys."""
    openly = {}
    for truth_a, truth_b in TABLE_1:
        yes_share = TRUE_SHARE * truth_a + (1 - TRUE_SHARE) * (1 - truth_b)
        wrong = chance.binomial(SURVEY, yes_share, surveys) / SURVEY - TRUE_SHARE
        openly[truth_a, truth_b] = float(wrong.mean()), float((wrong**2).mean())
    spun = {}
    for p in SPINNERS:
        yes = chance.binomial(SURVEY, TRUE_SHARE * p + (1 - TRUE_SHARE) * (1 - p), surveys)
        spun[p] = float(((warner_estimate(yes, SURVEY, p) - TRUE_SHARE) ** 2).mean())
    return openly, spun


def warner_table_1(setting: Setting) -> Findings:
    """Twelve biases and 48 ratios."""
    del setting  # simulated surveys are quick enough
    surveys = 400_000
    openly, spun = _simulate_surveys(surveys, np.random.default_rng(SEED))
    rows = []
    for (truth_a, truth_b), (bias, ratios) in TABLE_1.items():
        own_result, error = open_error(truth_a, truth_b)
        drawn_bias, drawn_error = openly[truth_a, truth_b]
        row = {"truth_a": truth_a, "truth_b": truth_b, "bias": bias, "bias_ours": round(own_result, 4),
               "bias_simulated": round(drawn_bias, 4)}  # fmt: skip
        for p, ratio in zip(SPINNERS, ratios, strict=True):
            row |= {f"p={p}": ratio, f"p={p}_ours": round(spinner_error(p) / error, 4),
                    f"p={p}_simulated": round(spun[p] / drawn_error, 4)}  # fmt: skip
        rows.append(row)
    names = [f"p={p}" for p in SPINNERS]
    # A hundredth is printed, and 0.135 may be printed either way.
    same_count = sum(abs(row[f"{name}_ours"] - row[name]) <= 0.00501 for row in rows for name in names)
    biases = sum(abs(row["bias_ours"] - row["bias"]) <= 0.00501 for row in rows)
    worst_deviation = max(abs(row[f"{name}_simulated"] / row[f"{name}_ours"] - 1) for row in rows for name in names)
    allowance = 5 * 2 * np.sqrt(2 / surveys)  # five standard errors of a ratio of two mean squares
    return Findings(
        (
            Statement("12 biases to two decimals", f"{biases} of 12 the same by formula", biases == 12),
            Statement("48 ratios to two decimals", f"{same_count} of 48 the same by formula", same_count == 48),
            Statement(
                "The formula gives what surveys give.",
                f"{surveys:,} simulated surveys differ from the formula by at most {worst_deviation:.1%}",
                bool(worst_deviation < allowance),
                source="independent count",
            ),
        ),
        (
            Grid(
                "table_1",
                "Table 1: theirs, ours by formula, ours by simulation; π = 0.6, n = 1,000",
                frame_of(rows),
                "A bias is of asking openly; a ratio above 1 means that asking openly errs less.",
            ),
        ),
    )


def majority(p: float, times: int) -> float:
    """The probability that most of an odd number of answers are the truth."""
    from scipy.special import bdtrc

    return float(bdtrc(times // 2, times, p))


def attack_answers(people: int, times: int, *, memoize: bool) -> float:
    """How often the attack is right, with this many answers of everybody."""
    chance = Randomness.seeded(SEED)
    truth = np.where(chance.generator().random(people) < 0.5, "yes", "no")
    names = [f"person {number}" for number in range(people)]
    table = Table.of({"name": names, "answer": truth.tolist()}, {"name": "identifying", "answer": "sensitive"})
    method = RandomizeResponse(column="answer", p=0.7)
    release = method.protect(table, chance, method.new_key(chance) if memoize else None)
    outcome = RepeatedAnswers(times=times, prior="flat").run(release, table)
    return outcome.successes / outcome.attempts


def _shares(rows: list[dict[str, float]], name: str) -> str:
    return " / ".join(f"{row[name]:.1%}" for row in rows)


def averaging(setting: Setting) -> Findings:
    """What an answer that is drawn anew each time gives away."""
    people = 5_000 if setting.quick else 50_000
    rows = []
    for times, golden in RIGHT_SHARES.items():
        attack_shares = {
            "attacked": attack_answers(people, times, memoize=False),
            "memoized": attack_answers(people, times, memoize=True),
        }
        rows.append({"answers": times, "theirs": golden, "ours": round(majority(0.7, times), 4), **attack_shares})
    tolerance = 5 * np.sqrt(0.25 / people)
    lines = [Curve(f"p = {p}", [(times, majority(p, times)) for times in range(1, 32, 2)]) for p in (0.6, 0.7, 0.8)] + [
        Curve("memoized, p = 0.7", [(1, 0.7), (31, 0.7)])
    ]
    stated_points = [StatedPoint(times, share, f"{share:.0%}") for times, share in RIGHT_SHARES.items()]
    picture = draw_curves(
        "How often the majority of answers is the truth",
        Axis("answers of one person", zero=False),
        Axis("guessed right", percent=True, zero=False),
        lines,
        stated_points,
    )
    return Findings(
        (
            compare(
                f"p = .7 asked {', '.join(map(str, RIGHT_SHARES))} times: guessed right",
                [Pair(100 * row["theirs"], 100 * row["ours"]) for row in rows],
                Tolerance(1, "whole per cent, perhaps cut off"),
                unit=" %",
                source="independent count",
            ),
            Statement(
                "The formula gives what the attack finds.",
                f"the attack is right about {_shares(rows, 'attacked')} of {people:,} people",
                bool(all(abs(row["attacked"] - row["ours"]) < tolerance for row in rows)),
                source="independent count",
            ),
            Statement(
                "Answers must be memoized.",
                f"memoized: {_shares(rows, 'memoized')}",
                bool(all(abs(row["memoized"] - 0.7) < tolerance for row in rows)),
                source="independent count",
            ),
        ),
        (
            Grid(
                "majority",
                f"Guessed right at p = 0.7, by formula and by the attack on {people:,} people",
                frame_of(rows),
            ),
        ),
        (picture,),
        ("The slides do not ask twice.",),
    )
