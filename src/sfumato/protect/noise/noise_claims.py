# SPDX-License-Identifier: MIT
"""What is promised of noise. Chance is in it, so every threshold leaves room for what happens once in a million."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.protect.claims import claim_with_originals
from sfumato.protect.noise.noise_columns import NumberColumn
from sfumato.protect.noise.noise_scales import (
    ALARM,
    bound_unchanged,
    compute_achieved_level,
    compute_least_level,
    compute_noise_deviation,
)
from sfumato.public.noise_law import Noise
from sfumato.release import Claim

Size = dict[str, Any]
"""How large noise is, as a check is told it: its scale, or how many times the covariance of columns together."""
_BY_CHANCE = "chance exceeds that less than once in a million releases"
_BY_CHANCE_CLAIMS = 5
"""Claims of a column that chance can break."""


def list_noise_claims(
    noisy: Sequence[tuple[NumberColumn, Noise]], kind: str, privacy: float, confidence: float, times: float | None
) -> tuple[Claim, ...]:
    """Per column its level, and that noise is noise; then that nothing else was changed.

    Of noise shaped like the data it is claimed how many `times` their covariance it has, and the check takes the
    deviations from the originals: no claim holds a number that was computed from them with all its digits.
    """
    claims: list[Claim] = []
    names = tuple(column.name for column, _ in noisy)
    rare = ALARM / (_BY_CHANCE_CLAIMS * len(noisy) + 1)
    for column, noise in noisy:
        level = compute_achieved_level(column, noise, privacy, confidence)
        if kind == "discretize":
            claims += _make_interval_claims(column, noise, privacy, level, confidence)
            continue
        others = tuple(name for name in names if name != column.name)
        size: Size = {"scale": noise.scale} if times is None else {"times": times, "together": names}
        claims += [
            _make_level_claim(column, noise, level, confidence, rare),
            *_make_law_claims(column, noise, size, rare),
            _make_dependence_claim(column, noise, size, others, rare),
        ]
    if times is not None:
        claims.append(_make_shape_claim(noisy, times, rare))
    return (
        *claims,
        claim_with_originals(
            "changed_beside_noise",
            0,
            "exactly",
            {"columns": names},
            "No cell was changed but known ones of the noisy columns, and what was missing is missing.",
        ),
    )


def _make_level_claim(column: NumberColumn, noise: Noise, level: float, confidence: float, rare: float) -> Claim:
    count = len(column.numbers)
    least = level * compute_least_level(noise.kind, confidence, count, rare)
    return claim_with_originals(
        "noise_privacy",
        least,
        "at_least",
        {"column": column.name, "low": column.low, "high": column.high, "confidence": confidence},
        f'With {confidence:.4g} confidence, "{column.name}" is told to within {level:.4g} of {_span(column)}; of '
        f"{count} differences that is measured as {least:.4g} or more, and {_BY_CHANCE}.",
    )


def _span(column: NumberColumn) -> str:
    return "its range" if column.given else "its range, given that the range, which was taken from the data, is public"


def _make_law_claims(column: NumberColumn, noise: Noise, size: Size, rare: float) -> list[Claim]:
    """That the noise is the noise told: no other, not off 0, and none left out."""
    from scipy.special import ndtri

    name, unchanged = column.name, bound_unchanged(column, noise, rare)
    errors, stray = round(-float(ndtri(rare / 2)), 6), _bound_standard_errors(1, rare)
    large = f"of scale {size['scale']:.6g}" if "scale" in size else f"of {size['times']:g} times the data's variance"
    noise_text = f"{noise.kind} noise {large}" + (
        " rounded to whole numbers" if noise.step else f" in steps of {noise.grid:g}"
    )
    return [
        claim_with_originals(
            "noise_law",
            errors,
            "at_most",
            {"column": name, "kind": noise.kind, **size, "step": noise.step, "grid": noise.grid},
            f'What was added to "{name}" is {noise_text}, within what {errors:.4g} standard errors are; {_BY_CHANCE}.',
        ),
        claim_with_originals(
            "unchanged_cells",
            unchanged,
            "at_most",
            {"column": name},
            f'Of the {len(column.numbers)} known values of "{name}", {unchanged} at the most are published as they '
            f"were; {_BY_CHANCE}.",
        ),
        claim_with_originals(
            "noise_centre",
            stray,
            "at_most",
            {"column": name, **({"deviation": compute_noise_deviation(noise)} if "scale" in size else size)},
            f'What was added to "{name}" is 0 in the mean, within {stray:.4g} standard errors; {_BY_CHANCE}.',
        ),
    ]


def _make_dependence_claim(
    column: NumberColumn, noise: Noise, size: Size, others: tuple[str, ...], rare: float
) -> Claim:
    apart = "scale" in size
    tests = 2 * (2 + len(others) * (4 if apart else 2))
    errors, name = _bound_standard_errors(tests, rare), column.name
    also = ", nor with the values" + (" or the noise" if apart else "") + " of other noisy columns" if others else ""
    return claim_with_originals(
        "noise_dependence",
        errors,
        "at_most",
        {
            "column": name,
            "kind": noise.kind,
            **size,
            "step": noise.step,
            "others": others,
            "apart": int(apart),
        },
        f'What was added to "{name}", and how much, does not go with its values{also}, within {errors:.4g} standard '
        f"errors in each of {tests} comparisons; {_BY_CHANCE}.",
    )


def _bound_standard_errors(tests: int, rare: float) -> float:
    """How many standard errors a sum of noise may be off in any of some tests: uniform and Gaussian noise, with any
    weights and for any number of values, strays further than x with probability 2 exp(−x² / 2) at the most."""
    return round(float(np.sqrt(2 * np.log(2 * tests / rare))), 6)


def _make_interval_claims(
    column: NumberColumn, noise: Noise, privacy: float, level: float, confidence: float
) -> list[Claim]:
    of = {"column": column.name, "width": noise.scale}
    less = (
        f" The {privacy:.4g} that was asked for cannot be had: the range is known, and with that confidence the whole "
        f"of it leaves {level:.4g} open."
    )
    return [
        claim_with_originals(
            "interval_privacy",
            level * (1 - 1e-9),  # middles are rounded
            "at_least",
            {**of, "low": column.low, "high": column.high, "confidence": confidence},
            f'With {confidence:.4g} confidence, "{column.name}" is told to within {level:.4g} of {_span(column)}.'
            + (less if level < privacy else ""),
        ),
        claim_with_originals(
            "outside_interval",
            0,
            "exactly",
            {**of, "origin": noise.origin, "step": noise.step},
            f'Every published "{column.name}" is the middle of the interval that the value lies in.',
        ),
    ]


def _make_shape_claim(noisy: Sequence[tuple[NumberColumn, Noise]], times: float, chance: float) -> Claim:
    """Products of two Gaussians stray by √(2x) + √2 x / √n standard errors with probability 2 e⁻ˣ at the most."""
    whole = np.logical_and.reduce([column.known for column, _ in noisy])
    count, pairs = int(whole.sum()), len(noisy) * (len(noisy) + 1) / 2
    rare = np.log(2 * pairs / chance)
    return claim_with_originals(
        "noise_shape",
        round(float(np.sqrt(2 * rare) + np.sqrt(2) * rare / np.sqrt(count)), 6),
        "at_most",
        {"columns": tuple(column.name for column, _ in noisy), "times": times},
        f"What was added has {times:g} times the covariance of the data, within so many standard errors; {_BY_CHANCE}.",
    )
