# SPDX-License-Identifier: MIT
"""What a drafted policy does with sequences: the method for each purpose, its alternative, attacks and gate."""

from __future__ import annotations

from typing import Any

import polars as pl

from sfumato.errors import DataError, PolicyError, count_noun
from sfumato.sequences import Sequences
from sfumato.workflow.drafts.draft_methods import Purpose, bound_drafted_share, choose_k, round_down
from sfumato.workflow.drafts.toml_text import comment_out, write_comment, write_entry, write_value

MOST_ATTEMPTS = 500
"""How many people the attack looks for."""
SUPPORTS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
"""Shares of the sequences that are tried, until a pattern of two items is as frequent."""


def write_sequence_methods(sequences: Sequences, source: str, purpose: Purpose, k: int | None) -> list[str]:
    """The sections [[protect]], [[attack]] and [gate]."""
    if len(sequences) < 2 or not sequences.items:
        raise DataError(
            f"{source}: only {count_noun(len(sequences), 'sequence')} with "
            f"{count_noun(len(sequences.items), 'item')}; add some"
        )
    if purpose in ("synthetic", "outsource"):
        purpose_text = "for synthetic" if purpose == "synthetic" else f"to {purpose}"
        raise PolicyError(f"{source}: there is no method {purpose_text} sequences; choose publish, share or hide")
    pattern, support = _find_pattern(sequences)
    if purpose != "hide":
        return _write_anonymized(sequences, k or choose_k(len(sequences), source), pattern, support)
    if not pattern:
        raise DataError(
            f"{source}: no pattern of two items is in two sequences or more, so there is nothing to hide; choose --for "
            "publish"
        )
    return _write_hidden(pattern, support)


def _write_anonymized(sequences: Sequences, k: int, pattern: list[Any], support: int) -> list[str]:
    hiding_lines = _write_hiding(pattern, support) if pattern else []
    instead = write_comment("Instead: only certain patterns may not show. Name yours.") if hiding_lines else []
    return [
        "[[protect]]",
        *write_comment("Replaces rare sequences by similar frequent ones: whatever occurs, occurs in k sequences."),
        'method = "anonymize_sequences"',
        write_entry("k", k),
        "",
        *instead,
        *comment_out(hiding_lines),
        "",
        "[[attack]]",
        write_entry("attack", "sequence_linking", "knows some points of a person's sequence and looks for the rest"),
        "",
        "[gate]",
        f"max_risk = {{ sequence_linking = {_bound_linking(k, len(sequences))} }}",
    ]


def _bound_linking(k: int, count: int) -> float:
    """A limit that a good release keeps. It leaves, and must not tell how many sequences were dropped."""
    attempt_count = next((few for few in (MOST_ATTEMPTS, 200, 100, 50, 20, 10) if few <= count), None)
    return 1.0 if attempt_count is None else bound_drafted_share(1 / k, attempt_count)


def _write_hidden(pattern: list[Any], support: int) -> list[str]:
    return [
        *_write_hiding(pattern, support),
        "",
        "[[attack]]",
        write_entry("attack", "sequence_remining", "mines below the threshold, where hidden patterns end up"),
        "",
        "[gate]",
        "#| max_loss = 0.1  # set it once you have seen a first run",
    ]


def _write_hiding(pattern: list[Any], support: int) -> list[str]:
    return [
        "[[protect]]",
        *write_comment("Changes sequences so that certain patterns are in no more of them than the threshold."),
        'method = "hide_sequences"',
        *write_comment(
            "AN EXAMPLE, the most frequent pattern of two items: put those that must not show, each as a list of items."
        ),
        f"patterns = [{write_value(pattern)}]",
        write_entry("threshold", round_down(support // 2), f"it is in {count_noun(support, 'sequence')} now"),
    ]


def _find_pattern(sequences: Sequences) -> tuple[list[Any], int]:
    """The most frequent pattern of two different steps, and how many sequences hold it; empty if there is none."""
    from sfumato.mine.sequences.subsequences import frequent_subsequences

    for count in dict.fromkeys(max(2, round(share * len(sequences))) for share in (*SUPPORTS, 0.0)):
        patterns = frequent_subsequences(sequences, count, max_length=2, mark="")
        pairs = patterns.filter(pl.col("pattern").list.len() == 2).sort("support", descending=True, maintain_order=True)
        for pattern, support in pairs.select("pattern", "support").iter_rows():
            if pattern[0] != pattern[1]:
                return list(pattern), int(support)
    return [], 0
