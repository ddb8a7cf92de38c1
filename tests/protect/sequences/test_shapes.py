# SPDX-License-Identifier: MIT
"""Sequences and baskets are not taken for each other, in Python and in a policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sfumato as sf

SEQUENCES, BASKETS = sf.Sequences.of([["a", "b"], ["b", "a"]]), sf.Baskets.of([["a", "b"], ["b"]])


@pytest.mark.parametrize(
    "method",
    [
        sf.HideItems(items=("a",), min_support=1, min_confidence=0.5),
        sf.HideRules(itemsets=(("a",),), min_support=1),
        sf.PublishPatterns(k=2, min_support=2),
        sf.EncodeItems(k=2),
        sf.EncodeBloom(),
        sf.RandomizeBaskets(keep=0.9),
    ],
    ids=lambda method: method.method,
)
def test_methods_for_baskets_refuse_sequences(method: Any) -> None:
    start = method.new_key if hasattr(method, "new_key") else method.protect
    with pytest.raises(sf.DataError, match=r"takes Baskets, not sfumato\.Sequences"):
        start(SEQUENCES)


@pytest.mark.parametrize("method", [sf.AnonymizeSequences(k=2), sf.HideSequences(patterns=[["a"]], threshold=0)])
def test_methods_for_sequences_refuse_baskets(method: Any) -> None:
    with pytest.raises(sf.DataError, match=r"takes Sequences, not sfumato\.Baskets"):
        method.protect(BASKETS)


def test_a_policy_for_baskets_refuses_a_file_of_sequences(tmp_path: Path) -> None:
    SEQUENCES.write(tmp_path / "data.txt", "spmf")
    policy = sf.Policy(
        data={"path": str(tmp_path / "data.txt")},
        protect=[{"method": "hide_items", "items": ["a"], "min_support": 1, "min_confidence": 0.5}],
    )
    with pytest.raises(sf.DataError, match="read the file with Sequences"):
        policy.original()


def test_only_tables_have_roles(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="takes sequences, which have no columns"):
        sf.Policy(
            data={"path": "x.txt"},
            roles={"insensitive": ["a"]},
            protect=[{"method": "anonymize_sequences", "k": 2}],
        )
