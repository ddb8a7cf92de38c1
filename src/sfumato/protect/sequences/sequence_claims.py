# SPDX-License-Identifier: MIT
"""Claims about published sequences. The names of what is hidden stay with the custodian."""

from __future__ import annotations

from sfumato.protect.claims import claim_count
from sfumato.release import Claim
from sfumato.sequences import Sequences


def claim_crowds(k: int) -> Claim:
    """Everything that occurs in a published sequence occurs in at least k."""
    return Claim(
        property="sequence_anonymity",
        threshold=k,
        bound="at_least",
        measure="sequence_anonymity",
        meaning=(
            f"Every sequence of items that occurs in a published sequence occurs in at least {k} of them: each "
            f"published sequence as a whole is contained in at least {k}."
        ),
    )


def claim_original_support(k: int) -> Claim:
    """Everything that occurs in a published sequence occurs in at least k originals."""
    return Claim(
        property="original_support",
        threshold=k,
        bound="at_least",
        measure="original_support",
        needs_original=True,
        meaning=(
            f"Every sequence of items that occurs in a published sequence occurs in at least {k} originals: nothing "
            "is published that fewer of them held."
        ),
    )


def claim_all_sequences(data: Sequences) -> Claim:
    """The same number of sequences is published."""
    return claim_count("sequences", "sequence_count", len(data), "sequence")


def claim_patterns_hidden(max_gap: int | None, window: int | None) -> Claim:
    """No secret pattern is in more sequences than its threshold; the limits of its matches are arguments."""
    limits, closeness = {"max_gap": max_gap, "window": window}, _describe_closeness(max_gap, window)
    return Claim(
        property="hidden_sequences",
        threshold=0,
        bound="exactly",
        measure="exposed_sequences",
        arguments={name: limit for name, limit in limits.items() if limit is not None},
        needs_original=True,
        meaning=(
            f"No pattern that was to be hidden is contained{closeness and f', {closeness},'} in more published "
            f"sequences than its threshold{closeness and '; other matches do not count'}."
        ),
    )


def _describe_closeness(max_gap: int | None, window: int | None) -> str:
    """How close together the elements of a match are, if only such matches count."""
    gap_text = "" if max_gap is None else f"with at most {_count_elements(max_gap)} between two neighbours"
    window_text = "" if window is None else f"within {_count_elements(window)}"
    return " and ".join(filter(None, (gap_text, window_text)))


def _count_elements(count: int) -> str:
    return f"{count} element{'' if count == 1 else 's'}"


def claim_nothing_added(mark: str = "") -> Claim:
    """Each published sequence is a part of its original."""
    return Claim(
        property="added_elements",
        threshold=0,
        bound="exactly",
        measure="added_elements",
        arguments={"mark": mark} if mark else {},
        needs_original=True,
        meaning=(
            f"Every published sequence is contained in its original, apart from the marks {mark} that stand for items: "
            "nothing else was added, moved or replaced."
            if mark
            else "Every published sequence is contained in its original: nothing was added, moved or replaced."
        ),
    )


def claim_no_ghosts(least: int) -> Claim:
    """No pattern is frequent that was not."""
    return Claim(
        property="ghost_patterns",
        threshold=0,
        bound="exactly",
        measure="ghost_patterns",
        arguments={"min_support": least},
        needs_original=True,
        meaning=f"Every pattern in {least} or more published sequences is in {least} or more originals, too.",
    )
