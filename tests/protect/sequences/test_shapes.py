# SPDX-License-Identifier: MIT
"""Sequences and baskets are not taken for each other, in Python and in a policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from tests.contract.examples import METHOD_EXAMPLES

SEQUENCES, BASKETS = sf.Sequences.of([["a", "b"], ["b", "a"]]), sf.Baskets.of([["a", "b"], ["b"]])
NESTED = sf.Sequences.of([[["a", "b"], ["c"]], [["c"], ["a"]]])
shape_cases = pytest.mark.parametrize("sequences", [SEQUENCES, NESTED], ids=["flat", "nested"])
BASKET_METHODS = [example.subject for example in METHOD_EXAMPLES if example.subject.shape == "baskets"]


@shape_cases
@pytest.mark.parametrize("method", BASKET_METHODS, ids=lambda method: method.method)
def test_methods_for_baskets_refuse_sequences(method: Any, sequences: sf.Sequences) -> None:
    start = method.new_key if hasattr(method, "new_key") else method.protect
    with pytest.raises(sf.DataError, match=r"takes Baskets, not sfumato\.Sequences"):
        start(sequences)
    with pytest.raises(sf.DataError, match=f"{method.method} takes Baskets, not Sequences"):
        sf.run(sequences, method)


@shape_cases
@pytest.mark.parametrize(
    "mine",
    [
        lambda data: sf.mine.frequent_itemsets(data, 1),
        lambda data: sf.mine.association_rules(data, 1, 0.5),
        lambda data: sf.mine.inference_channels(data, 1, 2),
    ],
    ids=["itemsets", "rules", "channels"],
)
def test_itemsets_of_sequences_are_refused(mine: Any, sequences: sf.Sequences) -> None:
    """Their order would be lost without a word."""
    with pytest.raises(sf.DataError, match=r"found in Baskets, not Sequences.*frequent_subsequences"):
        mine(sequences)


@pytest.mark.parametrize("method", [sf.AnonymizeSequences(k=2), sf.HideSequences(patterns=[["a"]], threshold=0)])
def test_methods_for_sequences_refuse_baskets(method: Any) -> None:
    with pytest.raises(sf.DataError, match=r"takes Sequences, not sfumato\.Baskets"):
        method.protect(BASKETS)


@shape_cases
def test_a_policy_for_baskets_refuses_a_file_of_sequences(sequences: sf.Sequences, tmp_path: Path) -> None:
    sequences.write(tmp_path / "data.txt", "spmf")
    policy = sf.Policy(
        data={"path": str(tmp_path / "data.txt")},
        protect=[{"method": "hide_items", "items": ["a"], "min_support": 1, "min_confidence": 0.5}],
    )
    with pytest.raises(sf.DataError, match="not baskets but sequences"):
        policy.read_original()


def test_only_tables_have_roles(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="takes sequences, which have no columns"):
        sf.Policy(
            data={"path": "x.txt"},
            roles={"insensitive": ["a"]},
            protect=[{"method": "anonymize_sequences", "k": 2}],
        )
