# SPDX-License-Identifier: MIT
"""Claims about noise. Noise is random, so every threshold allows for what happens once in a million."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.bound_words import spell_at_least, spell_at_most
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
"""The size of noise as passed to a check: its scale, or its ratio to the covariance of the columns."""
_BY_CHANCE = "chance exceeds that less than once in a million releases"
_BY_CHANCE_CLAIMS = 5
"""Claims about a column that chance can break."""


def list_noise_claims(
    noisy: Sequence[tuple[NumberColumn, Noise]],
    kind: str,
    privacy: float,
    confidence: float,
    times: float | None,
    also_changed: tuple[str, ...] = (),
) -> tuple[Claim, ...]:
    """For each column its level and that the noise is noise; then that nothing else was changed, but for some columns.

    For noise shaped like the data the claim states how many `times` their covariance it has, and the check takes the
    deviations from the originals: no claim holds an exact number computed from them.
    """
    claims: list[Claim] = []
    names = tuple(column.name for column, _ in noisy)
    rare = ALARM / (_BY_CHANCE_CLAIMS * len(noisy) + 1)
    for column, noise in noisy:
        level = compute_achieved_level(column, noise, privacy, confidence)
        if kind == "discretize":
            claims += _make_interval_claims(column, noise, privacy, level, confidence)
            continue
        other_names = tuple(name for name in names if name != column.name)
        size: Size = {"scale": noise.scale} if times is None else {"times": times, "joint_columns": names}
        claims += [
            _make_level_claim(column, noise, level, confidence, rare),
            *_make_law_claims(column, noise, size, rare),
            _make_dependence_claim(column, noise, size, other_names, rare),
        ]
    if times is not None:
        claims.append(_make_shape_claim(noisy, times, rare))
    return (
        *claims,
        claim_with_originals(
            "changed_without_noise",
            0,
            "exactly",
            {"columns": (*names, *also_changed)},
            "No cell was changed except known cells of the noisy columns, and missing values are still missing.",
        ),
    )


def _make_level_claim(column: NumberColumn, noise: Noise, level: float, confidence: float, rare: float) -> Claim:
    count = column.count
    least = level * compute_least_level(noise.kind, confidence, count, rare)
    return claim_with_originals(
        "noise_privacy",
        least,
        "at_least",
        {"column": column.name, "low": column.low, "high": column.high, "confidence": confidence},
        f'With {confidence:g} confidence, "{column.name}" is known only to within {spell_at_least(level)} times '
        f"{_name_span(column)}. Measured on {count} differences, this must be at least {spell_at_least(least)}; an "
        "honest release fails that less than once in a million times.",
    )


def _name_span(column: NumberColumn) -> str:
    return (
        "its range"
        if column.has_given_range
        else "its range, given that the range, which was taken from the data, is public"
    )


def _make_law_claims(column: NumberColumn, noise: Noise, size: Size, rare: float) -> list[Claim]:
    """The noise is as stated: of the stated kind, centred at 0, and added everywhere."""
    from scipy.special import ndtri

    name, unchanged_limit = column.name, bound_unchanged(column, noise, rare)
    errors, stray = round(-float(ndtri(rare / 2)), 6), _bound_standard_errors(1, rare)
    large = f"of scale {size['scale']:.6g}" if "scale" in size else f"of {size['times']:g} times the data's variance"
    unit = "numbers" if column.column.dtype.is_numeric() else "days"
    noise_text = f"{noise.kind} noise {large}" + (
        f" rounded to whole {unit}" if noise.step else f" in steps of {noise.grid:g}"
    )
    return [
        claim_with_originals(
            "noise_law",
            errors,
            "at_most",
            {"column": name, "kind": noise.kind, **size, "step": noise.step, "grid": noise.grid},
            f'What was added to "{name}" is {noise_text}, within {spell_at_most(errors)} standard errors; '
            f"{_BY_CHANCE}.",
        ),
        claim_with_originals(
            "unchanged_cells",
            unchanged_limit,
            "at_most",
            {"column": name},
            f'Of the {column.count} known values of "{name}", at most {unchanged_limit} '
            f"{'is' if unchanged_limit == 1 else 'are'} published unchanged; {_BY_CHANCE}.",
        ),
        claim_with_originals(
            "noise_centre",
            stray,
            "at_most",
            {"column": name, **({"deviation": compute_noise_deviation(noise)} if "scale" in size else size)},
            f'What was added to "{name}" has mean 0, within {spell_at_most(stray)} standard errors; {_BY_CHANCE}.',
        ),
    ]


def _make_dependence_claim(
    column: NumberColumn, noise: Noise, size: Size, other_names: tuple[str, ...], rare: float
) -> Claim:
    is_independent = "scale" in size
    tests = 2 * (2 + len(other_names) * (4 if is_independent else 2))
    errors, name = _bound_standard_errors(tests, rare), column.name
    others_text = (
        ", nor with the values" + (" or the noise" if is_independent else "") + " of other noisy columns"
        if other_names
        else ""
    )
    return claim_with_originals(
        "noise_dependence",
        errors,
        "at_most",
        {
            "column": name,
            "kind": noise.kind,
            **size,
            "step": noise.step,
            "other_columns": other_names,
            "independent": int(is_independent),
        },
        f'What was added to "{name}", and its size, is not correlated with its values{others_text}, within '
        f"{spell_at_most(errors)} standard errors in each of {tests} comparisons; {_BY_CHANCE}.",
    )


def _bound_standard_errors(tests: int, rare: float) -> float:
    """How many standard errors a sum of noise may be off in any of several tests: uniform and Gaussian noise, with any
    weights and for any number of values, deviates by more than x with probability at most 2 exp(−x² / 2)."""
    return round(float(np.sqrt(2 * np.log(2 * tests / rare))), 6)


def _make_interval_claims(
    column: NumberColumn, noise: Noise, privacy: float, level: float, confidence: float
) -> list[Claim]:
    interval_arguments = {"column": column.name, "width": noise.scale}
    less = (
        f" The requested {privacy:g} is impossible: the range is known, and with that confidence the whole "
        f"range gives only {spell_at_least(level)}."
    )
    return [
        claim_with_originals(
            "interval_privacy",
            level * (1 - 1e-9),  # midpoints are rounded
            "at_least",
            {**interval_arguments, "low": column.low, "high": column.high, "confidence": confidence},
            f'With {confidence:g} confidence, "{column.name}" is known only to within {spell_at_least(level)} times '
            f"{_name_span(column)}." + (less if level < privacy else ""),
        ),
        claim_with_originals(
            "outside_interval",
            0,
            "exactly",
            {**interval_arguments, "origin": noise.origin, "step": noise.step},
            f'Every published "{column.name}" is the midpoint of the interval that contains the value.',
        ),
    ]


def _make_shape_claim(noisy: Sequence[tuple[NumberColumn, Noise]], times: float, chance: float) -> Claim:
    """Products of two Gaussians deviate by more than √(2x) + √2 x / √n standard errors with probability ≤ 2 e⁻ˣ."""
    whole = np.logical_and.reduce([column.known_mask for column, _ in noisy])
    count, pairs = int(whole.sum()), len(noisy) * (len(noisy) + 1) / 2
    rare = np.log(2 * pairs / chance)
    most = round(float(np.sqrt(2 * rare) + np.sqrt(2) * rare / np.sqrt(count)), 6)
    return claim_with_originals(
        "noise_shape",
        most,
        "at_most",
        {"columns": tuple(column.name for column, _ in noisy), "times": times},
        f"The noise has {times:g} times the covariance of the data, within {spell_at_most(most)} standard "
        f"errors; {_BY_CHANCE}.",
    )
