# SPDX-License-Identifier: MIT
"""Every option of every method that the contract's examples leave at its default, each on data small enough to try.

`tests/contract/test_modes.py` fails if a method has an option (a choice by name, or yes and no) that no example uses.
"""

from __future__ import annotations

from typing import Any

import polars as pl

import sfumato as sf
from tests.contract.examples import Example, few_columns, few_people, market, numbers, people, twelve, walks


def some_silent() -> sf.Table:
    """Some people did not say what they suffer from."""
    table = people()
    silent = pl.when(pl.int_range(pl.len()) % 7 > 0).then(pl.col("disease")).alias("disease")
    return table.replace_frame(table.frame.with_columns(silent))


def _suppress(**options: Any) -> sf.SuppressEntries:
    private = {"columns": ["disease"], "where": {"sex": "female"}}
    return sf.SuppressEntries(private=private, confidence=0.7, min_support=3, **options)


def _hide_rules(strategy: Any) -> sf.HideRules:
    return sf.HideRules(rules=("bread ==> butter",), min_support=0.1, min_confidence=0.6, strategy=strategy, seconds=5)


def _hide_items(strategy: Any) -> sf.HideItems:
    return sf.HideItems(items=("nuts",), min_support=0.1, min_confidence=0.6, strategy=strategy)


_AGE = {"age": (0, 120)}
_K3 = (sf.KAnonymity(k=3),)
_CLINIC = (("station", "clinic"), ("school", "park"))
MODE_EXAMPLES = (
    Example("generalize, minimal", sf.Generalize(models=_K3, search="minimal", suppression_limit=0.1), few_columns),
    Example(
        "generalize, heuristic",
        sf.Generalize(models=_K3, search="heuristic", suppression_limit=0.1, seconds=0.5),
        few_columns,
    ),
    Example(
        "generalize, geometric loss",
        sf.Generalize(models=_K3, metric="loss_geometric", suppression_limit=0.1),
        few_columns,
    ),
    Example(
        "generalize, blank rows",
        sf.Generalize(models=_K3, suppressed_rows="blank", suppression_limit=0.2),
        few_columns,
    ),
    Example("partition, labels", sf.Partition(models=_K3, publish="hierarchy"), people),
    Example("partition, not refined", sf.Partition(models=_K3, refine=False), people),
    Example("k-optimize, no stars", sf.KOptimize(k=3, suppress=False), few_people),
    Example(
        "k-optimize, for a classifier",
        sf.KOptimize(k=3, metric="classification", target="disease"),
        lambda: few_columns(30),  # of more, this search takes long
    ),
    Example("microaggregate, medians", sf.Microaggregate(k=4, centre="median"), numbers),
    Example("microaggregate, mdav", sf.Microaggregate(k=4, search="mdav"), numbers),
    Example("microaggregate, fast", sf.Microaggregate(k=4, search="fast"), numbers),
    Example("top code, bottom", sf.TopCode(columns="age", k=5, ends="bottom"), people),
    Example("suppress entries, intervals", _suppress(discretize={"age": 4}), few_columns),
    Example("suppress entries, grades", _suppress(search="grades"), few_columns),
    Example("suppress entries, exact", _suppress(search="exact", seconds=5), few_columns),
    Example("suppress entries, prior", _suppress(prior=True), few_columns),
    Example("swap nothing", sf.SwapConfidential(column="disease", share=0.0), people),
    Example("swap as printed", sf.SwapConfidential(column="disease", share=0.5, search="paper"), people),
    Example("swap at random", sf.SwapConfidential(column="disease", share=0.5, search="random"), people),
    Example("add noise, gaussian", sf.AddNoise(columns="age", kind="gaussian", ranges=_AGE), people),
    Example("add noise, uniform", sf.AddNoise(columns="age", kind="uniform", ranges=_AGE), people),
    Example("add noise, exact range", sf.AddNoise(columns="age", ranges="from_data", exact_range=True), people),
    Example(
        "add noise, correlated as the data need",
        sf.AddNoise(columns=("age", "weight"), kind="correlated", ranges="from_data", times="from_data"),
        numbers,
    ),
    Example(
        "randomize response, Warner",
        sf.RandomizeResponse(column="sex", p=0.8, kind="warner", categories="from_data"),
        people,
    ),
    Example(
        "randomize response, silent people",
        sf.RandomizeResponse(column="disease", p=0.7, kind="k_ary", missing="answer", categories="from_data"),
        some_silent,
    ),
    Example("synthesize, not smooth", sf.Synthesize(min_leaf=5, smooth=False, copies="redraw"), people),
    Example("synthesize, copies and rare words", sf.Synthesize(min_leaf=5, copies="allow", rare="keep"), people),
    Example("encode bloom, without a secret", sf.EncodeBloom(keyed=False), market),
    Example(
        "encode for trees, random",
        sf.EncodeForTrees(target="disease", breakpoints="random", direction="random", permute=False),
        people,
    ),
    *(Example(f"hide items, {strategy}", _hide_items(strategy), market) for strategy in ("islf", "dsrf", "exact")),
    *(
        Example(f"hide rules, {strategy}", _hide_rules(strategy), market)
        for strategy in ("1a", "1b", "2a", "2b", "2c", "cyclic", "greedy", "exact")
    ),
    Example("hide rules, itemsets", sf.HideRules(itemsets=(("beer", "nuts"),), min_support=0.1), market),
    *(
        Example(
            f"hide sequences, {strategy}",
            sf.HideSequences(patterns=_CLINIC, threshold=10, strategy=strategy),
            walks,
        )
        for strategy in ("HR", "RH", "RR")
    ),
    Example("publish patterns, as mined", sf.PublishPatterns(k=3, min_support=8, repair="none"), twelve),
    Example("publish rules, as mined", sf.PublishRules(k=3, min_support=6, min_confidence=0.4, repair="none"), twelve),
)
