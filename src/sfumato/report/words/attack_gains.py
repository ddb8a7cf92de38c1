# SPDX-License-Identifier: MIT
"""Attacks in words: how each compares with blind guessing, and which of them gains most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sfumato.attack.attack_gain import ALARM_GAIN, is_alarming, is_clear_gain, measure_gain
from sfumato.report.words.wording import spell_percent

_NO_TARGET = "had no target"
_NO_BETTER = "no better than guessing"
_UNSURE = "not clearly better than guessing"


@dataclass(frozen=True)
class AttackInWords:
    """How an attack compares with blind guessing."""

    attack: str
    risk: float
    blind_share: float
    words: str
    is_alarming: bool
    strangers: str
    """How often the same guesses are right about people who are not in the data: "80 % of people not in the
    data"; empty if that was not counted."""


def describe_attack(attack: Mapping[str, Any]) -> AttackInWords:
    """An attack's outcome in words, against blind guessing."""
    tries = attack["attempts"]
    blind_share = attack["baseline"] / tries if tries else 0.0
    gain, alarms = measure_gain(attack), is_alarming(attack)
    if not tries:
        words = _NO_TARGET
    elif is_clear_gain(attack):
        words = f"{'alarming: ' if alarms else ''}{_count_points(gain)} above guessing"
    else:
        words = _UNSURE if gain > 0 else _NO_BETTER
    return AttackInWords(attack["attack"], attack["risk"], blind_share, words, alarms, _count_right_strangers(attack))


def compare_with_strangers(attack: Mapping[str, Any]) -> str:
    """Whether an attack is right about people in the data more often than about the control; empty without one."""
    strangers = _count_right_strangers(attack)
    if not strangers:
        return ""
    clearly = "" if attack["risk_over_control_interval"][0] > 0 else "not clearly "
    return f"{clearly}above the {strangers} guessed right"


def _count_right_strangers(attack: Mapping[str, Any]) -> str:
    """Only attacks that state the risk over control count how often they are right about the control."""
    if "risk_over_control" not in attack or not attack["control_attempts"]:
        return ""
    group = attack.get("control_group", "people not in the data")
    return f"{spell_percent(attack['control'] / attack['control_attempts'])} of {group}"


def _count_points(gain: Fraction) -> str:
    """The gain in percentage points; with decimals where whole ones would say that a smaller gain is alarming."""
    digits = 0
    while Fraction(points := f"{float(100 * gain):.{digits}f}") >= 100 * ALARM_GAIN > 100 * gain:
        digits += 1
    return f"{'less than 1' if points == '0' else points} percentage point{'' if points in ('0', '1') else 's'}"


def find_strongest_attack(attacks: Iterable[Mapping[str, Any]]) -> AttackInWords | None:
    """The attack that gains most over blind guessing; one that had no target only if none had any."""
    attack_records = list(attacks)
    descriptions = [
        describe_attack(attack)
        for attack in [record for record in attack_records if record["attempts"]] or attack_records
    ]
    return max(descriptions, key=lambda words: (words.risk - words.blind_share, words.risk), default=None)


def compare_with_guessing(strongest: AttackInWords) -> str:
    """The attack that gains most over guessing, as one sentence."""
    name = strongest.attack.replace("_", " ")
    if strongest.words == _NO_TARGET:
        return f"The attack {name} had no target."
    risk, blind_text = spell_percent(strongest.risk), spell_percent(strongest.blind_share)
    sentence = f"The attack that gains most over guessing, {name}, is right for {risk} of those it tried"
    if strongest.words == _UNSURE:
        return f"{sentence}; guessing is right for {blind_text}. These are too few attempts to tell from chance."
    if strongest.words == _NO_BETTER:
        return f"{sentence}, which is no better than guessing ({blind_text})."
    strangers = f"; the same guesses are right for {strongest.strangers}" if strongest.strangers else ""
    return f"{sentence}; guessing is right for {blind_text}{strangers}."
