# SPDX-License-Identifier: MIT
"""Attacks that take little time, for tests that compare two outcomes of one attack."""

from __future__ import annotations

from typing import Any

FEW_TRIALS = 10


def make_quick_attack(kind: type[Any]) -> Any:
    """An attack as it is if nothing is given, but for its trials: what it draws many times, it draws a few times."""
    return kind(**({"trials": FEW_TRIALS} if "trials" in kind.model_fields else {}))


def shorten_attack(attack: Any) -> Any:
    """The same attack, with a few trials."""
    return attack.model_copy(update={"trials": FEW_TRIALS} if hasattr(attack, "trials") else {})
