# SPDX-License-Identifier: MIT
"""How much more often than blind guessing an attack is right, and from where on that is alarming.

A verdict warns by this and a headline counts by it; the words for it are in `report/words/attack_gains.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

ALARM_GAIN = Fraction(1, 5)
"""An attack that is right more often than blind guessing by this share of its tries is alarming."""


def measure_gain(attack: Mapping[str, Any]) -> Fraction:
    """The gain over guessing, exactly: 21 of 100 exceed 1 of 100 by a fifth, 0.21 exceeds 0.01 by less."""
    successes, baseline = (
        Fraction(count).limit_denominator(10**6) for count in (attack["successes"], attack["baseline"])
    )
    return (successes - baseline) / (attack["attempts"] or 1)


def is_clear_gain(attack: Mapping[str, Any]) -> bool:
    """Whether the whole interval of the risk lies above guessing."""
    return bool(attack["attempts"] and attack["low"] > attack["baseline"] / attack["attempts"])


def is_alarming(attack: Mapping[str, Any]) -> bool:
    """Whether the counts of an attack are clearly and far above guessing.

    The control does not lessen an alarm: people who resemble someone in the data are guessed too, and the release
    discloses both.
    """
    return is_clear_gain(attack) and measure_gain(attack) >= ALARM_GAIN


def is_alarming_gain(risk: float, blind_share: float) -> bool:
    """Whether two published shares are that far apart, compared as the decimals that are published."""
    return Fraction(repr(risk)) - Fraction(repr(blind_share)) >= ALARM_GAIN
