# SPDX-License-Identifier: MIT
"""Every method and attack, with data small enough to try it on. A new one must be added here to pass."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import sfumato as sf
from sfumato.change_kinds import ChangeKind
from sfumato.data.generators.population import build_population_hierarchies, generate_population, list_population_roles

if TYPE_CHECKING:
    from tests.contract.column_pairs import Pair


def people(size: int = 400, seed: int = 7) -> sf.Table:
    """Some of the built-in population, with their hierarchies."""
    return sf.Table.of(generate_population(size, seed), list_population_roles(), build_population_hierarchies())


def some_people() -> sf.Table:
    """So few that an integer program is solved at once."""
    return people(250)


def few_people() -> sf.Table:
    """So few that a search over all cuts ends at once, whatever else the machine does."""
    return few_columns(80)


def few_columns(count: int = 200) -> sf.Table:
    """The same people, known by three columns only."""
    table = people(count)
    known_columns = {"age", "sex", "marital_status"}
    roles = {
        n: "insensitive" if r == "quasi_identifying" and n not in known_columns else r for n, r in table.roles.items()
    }
    return sf.Table.of(table.frame, roles, dict(table.hierarchies))


def numbers() -> sf.Table:
    """The same people with numbers alone as quasi-identifying columns."""
    table = people(300)
    frame = table.frame.with_columns((pl.col("age") * 3 % 41 + pl.col("zip").cast(pl.Int64) % 7).alias("weight"))
    roles = {n: "insensitive" if r == "quasi_identifying" else r for n, r in table.roles.items()}
    return sf.Table.of(frame, roles | {"age": "quasi_identifying", "weight": "quasi_identifying"})


def shuffled(data: sf.Table) -> sf.Table:
    """Every column on its own in another order: no tree is left of it."""
    chance = np.random.default_rng(2)
    columns = [column.gather(chance.permutation(len(data))) for column in data.frame.get_columns()]
    return data.replace_frame(pl.DataFrame(columns))


def codes() -> sf.Table:
    """1,200 numbers, each once, and a class by lot."""
    chance = np.random.default_rng(8)
    frame = pl.DataFrame({"number": chance.permutation(1200) + 7, "kind": chance.choice(["a", "b"], 1200)})
    return sf.Table.of(frame, dict.fromkeys(frame.columns, "insensitive"))


def measurements() -> sf.Table:
    """Five measurements of everybody that two hidden causes explain, and a name."""
    chance = np.random.default_rng(3)
    values = 50 + 10 * (chance.normal(size=(400, 2)) @ chance.normal(size=(2, 5)) + chance.normal(0, 0.1, (400, 5)))
    names = [f"m{n}" for n in range(5)]
    frame = pl.DataFrame(values, schema=names).with_columns(name=pl.Series([f"p{n}" for n in range(400)]))
    return sf.Table.of(frame, dict.fromkeys(names, "sensitive") | {"name": "identifying"})


def market() -> sf.Baskets:
    """What 240 invented people bought; bread goes with butter, beer with nuts."""
    chance = np.random.default_rng(3)
    names = ["bread", "butter", "beer", "nuts", "whole milk", "eggs"]
    purchases = chance.random((240, len(names))) < [0.5, 0.3, 0.4, 0.2, 0.5, 0.3]
    purchases[:, 1] |= purchases[:, 0] & (chance.random(240) < 0.8)
    purchases[:, 3] |= purchases[:, 2] & (chance.random(240) < 0.7)
    return sf.Baskets.of([[names[code] for code in np.flatnonzero(row)] for row in purchases])


def twelve() -> sf.Baskets:
    """Twelve transactions whose frequent itemsets give single people away (Giannotti et al. 2009)."""
    return sf.Baskets.of([list(basket) for basket in TWELVE])


def walks() -> sf.Sequences:
    """Where 200 invented people walked: mostly from home to work or to school, and some elsewhere."""
    chance = np.random.default_rng(4)
    ways = [["home", "station", "work", "gym"], ["home", "school", "park"], ["home", "station", "clinic", "home"]]
    walked = [list(ways[way]) for way in chance.choice(3, 200, p=[0.5, 0.3, 0.2])]
    for walk in walked[::3]:
        walk.insert(int(chance.integers(1, 3)), f"shop {chance.integers(9)}")
    return sf.Sequences.of(walked)


def tours() -> sf.Sequences:
    """Where 60 invented people went, each wherever they liked."""
    chance = np.random.default_rng(6)
    return sf.Sequences.of([[f"place {number}" for number in chance.integers(0, 25, 12)] for _ in range(60)])


_WAYS = tuple(combinations(("home", "station", "work", "gym"), 2))
TWELVE = ["abcdefgh", "abcdeg", "abcde", "abcdefg", "abcde", "abcde", "abde", "aefg", "cdefg", "cde", "cdefgh", "abfg"]


def as_mined(baskets: sf.Baskets) -> sf.Patterns:
    """Patterns as they are, with what they give away."""
    patterns: sf.Patterns = sf.PublishPatterns(k=3, min_support=8, repair="none").protect(baskets).data
    return patterns


def paid_people() -> sf.Table:
    """People who are paid well or badly."""
    table = people()
    levels = table.frame["salary_level"].cast(pl.String)
    low = sorted(levels.unique().to_list())[: levels.n_unique() // 2]
    pay_column = pl.Series("salary_level", np.where(levels.is_in(low).to_numpy(), "badly", "well").tolist())
    return sf.Table.of(table.frame.with_columns(pay_column), table.roles, dict(table.hierarchies))


def as_starred(table: sf.Table) -> sf.Table:
    """Every eighth row suppressed, its sensitive cells still there."""
    stars = [
        pl.when(pl.int_range(pl.len()) % 8 == 0).then(pl.lit("*")).otherwise(pl.col(name).cast(pl.String)).alias(name)
        for name in table.quasi_identifying
    ]
    return table.replace_frame(table.frame.with_columns(stars))


def as_grown(table: sf.Table) -> sf.Rules:
    """A classifier with small leaves."""
    rules: sf.Rules = sf.PublishClassifier(target="salary_level", columns=("occupation",), k=2).protect(table).data
    return rules


def as_ruled(baskets: sf.Baskets) -> sf.Rules:
    """Rules as they are, with what they give away."""
    rules: sf.Rules = sf.PublishRules(k=3, min_support=6, min_confidence=0.4, repair="none").protect(baskets).data
    return rules


@dataclass(frozen=True)
class Example:
    """Something to try, and what to try it on."""

    name: str
    subject: Any
    data: Callable[[], Any]
    forged: Callable[[Any], Any] = lambda data: data
    """A release that keeps not all of the method's claims: mostly the originals themselves."""
    secrets: tuple[str, ...] = ()
    """Words that a certificate must not hold."""
    limits: Mapping[str, float] = field(default_factory=dict)
    """Property → what its claim must promise, computed by hand, where that is no number of the method's fields."""
    shows: Mapping[ChangeKind, Callable[[Pair], bool]] = field(default_factory=dict)
    """Kind of change → whether its words are true of a column, in plain Python: for a kind without `read_rule`."""
    by_hand: Mapping[str, tuple[list[Any], list[Any]]] = field(default_factory=dict)
    """A small table worked out by hand: column → its cells, and what the method publishes of them.

    Its columns are published ones; rows that are left out are missing among the published cells.
    """


METHOD_EXAMPLES = (
    Example("generalize", sf.Generalize(models=(sf.KAnonymity(k=3),), suppression_limit=0.1), people),
    Example(
        "generalize, rows left out",
        sf.Generalize(
            models=(sf.KAnonymity(k=2),), suppression_limit=0.2, metric="discernibility", suppressed_rows="drop"
        ),
        people,
    ),
    Example("generalize, Incognito", sf.Generalize(models=(sf.KAnonymity(k=3),), search="incognito"), people),
    Example("generalize, local", sf.Generalize(models=(sf.KAnonymity(k=3),), recoding="local"), people),
    Example(
        "generalize, diverse and close",
        sf.Generalize(
            models=(
                sf.LDiversity(l=2, column="disease"),
                sf.TCloseness(t=0.4, column="salary_level", distance="ordered"),
            ),
            suppression_limit=0.2,
        ),
        people,
        forged=as_starred,
    ),
    Example("partition", sf.Partition(models=(sf.KAnonymity(k=3),)), people),
    Example("partition, diverse", sf.Partition(models=(sf.LDiversity(l=3, column="disease"),), relaxed=True), people),
    Example("k-optimize", sf.KOptimize(k=3), few_people),
    Example(
        "microaggregate",
        sf.Microaggregate(k=4),
        numbers,
        by_hand={
            "age": ([20, 22, 24, 26, 80, 82, 84, 86], [23.0] * 4 + [83.0] * 4),
            "weight": ([5, 5, 7, 7, 31, 31, 33, 33], [6.0] * 4 + [32.0] * 4),
        },
    ),
    Example(
        "group rare values",
        sf.GroupRareValues(columns=("occupation", "disease"), min_count=20),
        people,
        by_hand={
            "occupation": (
                ["cook"] * 19 + ["judge"] + ["nurse"] * 20 + ["", " nurse", "nur\nse", "Ärztin", "007", "x" * 21, None],
                ["other"] * 20 + ["nurse"] * 20 + ["other"] * 7,  # that few are missing tells something, too
            ),
            "disease": (["flu"] * 20 + ["cold"] * 27, ["flu"] * 20 + ["cold"] * 27),
        },
    ),
    Example(
        "top code",
        sf.TopCode(columns="age", k=5),
        people,
        by_hand={
            "age": (
                [20, 25, 30, 35, 40, 59, 61, 65, 66, 70, 99, None],
                [20, 25, 30, 35, 40, 59, 60, 60, 60, 60, 60, None],
            )
        },
    ),
    Example(
        "top code, both ends",
        sf.TopCode(columns=("age", "weight"), k=5, ends="both", caps={"age": 70}, floors={"weight": 10}),
        numbers,
    ),
    Example(
        "round numbers",
        sf.RoundNumbers(columns="age", step=5),
        people,
        limits={"largest_rounding": 2.5},
        by_hand={"age": ([-3, 0, 2, 3, 41, None], [-5, 0, 0, 5, 40, None])},
    ),
    Example(
        "round numbers, by decimals",
        sf.RoundNumbers(columns=("age", "weight"), step=2.5),
        numbers,
        limits={"largest_rounding": 1.25},
    ),
    Example(
        "suppress entries",
        sf.SuppressEntries(private={"columns": ["disease"], "where": {"sex": "female"}}, confidence=0.7, min_support=3),
        few_columns,
        secrets=("female",),
    ),
    Example(
        "suppress entries, as printed",
        sf.SuppressEntries(
            private={"columns": ["disease"], "where": {"sex": "female"}},
            confidence=0.7,
            min_support=3,
            search="grades_once",
        ),
        few_columns,
        secrets=("female",),
    ),
    Example("swap confidential", sf.SwapConfidential(column="disease", share=0.5), some_people),
    Example(
        "swap confidential, proportional",
        sf.SwapConfidential(column="disease", share=0.5, search="proportional"),
        people,
    ),
    Example("add noise", sf.AddNoise(columns="age", ranges={"age": (0, 120)}), people),
    Example(
        "add noise, correlated", sf.AddNoise(columns=("age", "weight"), kind="correlated", ranges="from_data"), numbers
    ),
    Example(
        "add noise, intervals",
        sf.AddNoise(columns="age", kind="discretize", privacy=0.25, ranges={"age": (0, 120)}),
        people,
    ),
    Example(
        "add noise, cuts",
        sf.AddNoise(columns="age", kind="discretize", discretize={"age": (30, 45, 70)}, ranges={"age": (0, 120)}),
        people,
    ),
    Example(
        "add noise, equal frequency",
        sf.AddNoise(columns="age", kind="discretize", discretize={"age": 5}, ranges={"age": (0, 120)}),
        people,
    ),
    Example(
        "randomize response", sf.RandomizeResponse(column=("disease", "sex"), p=0.7, categories="from_data"), people
    ),
    Example(
        "randomize response, bits",
        sf.RandomizeResponse(column="occupation", epsilon=1.0, kind="unary", categories="from_data", person=("name",)),
        people,
    ),
    Example("randomize baskets", sf.RandomizeBaskets(keep=0.8, add=0.1, items="from_data"), market),
    Example(
        "randomize baskets, cut and paste",
        sf.RandomizeBaskets(operator="cut_and_paste", cutoff=2, level=0.3, items="from_data"),
        market,
    ),
    Example(
        "randomize baskets, by item",
        sf.RandomizeBaskets(keep={"nuts": 0.6, "*": 0.8}, add={"nuts": 0.2, "*": 0.1}, items="from_data"),
        market,
    ),
    Example("synthesize", sf.Synthesize(min_leaf=5), people),
    Example("synthesize, nearer", sf.Synthesize(most_nearer=0.8, rows=300, min_leaf=5), people),
    Example("synthesize, partial", sf.Synthesize(kind="partial", min_leaf=5), people),
    Example("encode items", sf.EncodeItems(k=3), market),
    Example("encode items, one to n", sf.EncodeItems(kind="one_to_n"), market),
    Example("encode bloom", sf.EncodeBloom(), market),
    Example("encode for trees", sf.EncodeForTrees(target="disease"), people, forged=shuffled),
    Example(
        "encode for trees, some columns",
        sf.EncodeForTrees(target="disease", columns=("age", "weight")),
        numbers,
        forged=shuffled,
    ),
    Example(
        "hide items",
        sf.HideItems(items=("nuts",), min_support=0.1, min_confidence=0.6),
        market,
        secrets=("nuts",),
    ),
    Example(
        "hide rules",
        sf.HideRules(rules=(("bread ==> butter"), ("beer ==> nuts")), min_support=0.1, min_confidence=0.6),
        market,
        secrets=("nuts", "butter"),
    ),
    Example(
        "hide rules, blocked",
        sf.HideRules(rules=("bread ==> butter",), min_support=0.1, min_confidence=0.6, strategy="block"),
        market,
        secrets=("butter",),
    ),
    Example(
        "hide rules, isolated",
        sf.HideRules(rules=("bread ==> butter",), min_support=0.1, min_confidence=0.6, strategy="isolated"),
        market,
        secrets=("butter",),
    ),
    Example("anonymize sequences", sf.AnonymizeSequences(k=5), walks),
    Example("anonymize sequences, literal", sf.AnonymizeSequences(k=5, literal=True), walks),
    Example(
        "hide sequences",
        sf.HideSequences(patterns=(("station", "clinic"), ("school", "park")), threshold=10),
        walks,
        secrets=("clinic", "park"),
    ),
    Example(
        "hide sequences, marked",
        sf.HideSequences(
            patterns=(("home", "clinic"),), threshold=0.05, strategy="exact", mark="Δ", max_gap=1, seconds=20
        ),
        walks,
        secrets=("clinic",),
    ),
    Example(
        "hide sequences, replaced",
        sf.HideSequences(patterns=(("home", "clinic"),), threshold=10, mark="replace", min_support=8),
        walks,
        forged=lambda data: data.take(np.arange(len(data) - 1)),
        secrets=("clinic",),
    ),
    Example("publish patterns", sf.PublishPatterns(k=3, min_support=8), twelve, forged=as_mined),
    Example(
        "publish patterns, withheld",
        sf.PublishPatterns(k=3, min_support=8, repair="suppressive"),
        twelve,
        forged=as_mined,
    ),
    Example("publish rules", sf.PublishRules(k=3, min_support=8, min_confidence=0.8), twelve, forged=as_ruled),
    Example(
        "publish rules, withheld",
        sf.PublishRules(k=3, min_support=6, min_confidence=0.6, repair="suppressive"),
        twelve,
        forged=as_ruled,
    ),
    Example(
        "publish classifier",
        sf.PublishClassifier(target="salary_level", columns=("age", "sex", "education"), cuts={"age": (30, 50)}, k=6),
        paid_people,
        forged=as_grown,
    ),
    Example("generalize, no suppression", sf.Generalize(models=(sf.KAnonymity(k=5),), metric="height"), people),
)


def _write_people() -> str:
    """The same people once more, as a file: what a second release would be at its worst."""
    path = Path(tempfile.gettempdir()) / "sfumato-contract-people.csv"
    partial = path.with_suffix(f".{os.getpid()}")
    people().frame.drop("name").write_csv(partial)
    partial.replace(path)
    return str(path)


_OTHER = _write_people()
_STOMACH = ("gastritis", "gastric ulcer", "stomach cancer")
_HALVES = (("age", "zip", "sex", "marital_status"), ("education", "occupation", "salary_level", "disease"))
ATTACK_EXAMPLES = (
    Example("homogeneity", sf.attack.Homogeneity(), people),
    Example("similarity", sf.attack.Similarity(column="disease", groups={"stomach": _STOMACH}), people),
    Example("background knowledge", sf.attack.BackgroundKnowledge(), people),
    Example("minimality", sf.attack.Minimality(column="disease", l=2), people),
    Example("composition", sf.attack.Composition(other=_OTHER), people),
    Example("singling out", sf.attack.SinglingOut(columns_per_guess=7), people),
    Example("linkability", sf.attack.Linkability(known=_HALVES), people),
    Example("inference", sf.attack.Inference(column="name"), people),
    Example("rule inference", sf.attack.RuleInference(columns=("name",)), people),
    Example("learned inference", sf.attack.LearnedInference(columns=("name",), learners=("bayes",)), people),
    Example("curve fitting", sf.attack.CurveFitting(radius=0.002), codes),
    Example("curve combination", sf.attack.CurveCombination(radius=0.002), codes),
    Example("sorting", sf.attack.Sorting(radius=0.002), codes),
    Example("quantile matching", sf.attack.QuantileMatching(share=1.0, radius=0.002), codes),
    Example("family matching", sf.attack.FamilyMatching(family="uniform", radius=0.002), codes),
    Example("frequency matching", sf.attack.FrequencyMatching(share=1.0, target="kind", radius=0.002), codes),
    Example("item frequency", sf.attack.ItemFrequency(), market),
    Example("bloom dictionary", sf.attack.BloomDictionary(), market),
    Example("swap linkage", sf.attack.SwapLinkage(), people),
    Example("spectral filter", sf.attack.SpectralFilter(tolerance=0.01), measurements),
    Example("bayes estimate", sf.attack.BayesEstimate(tolerance=0.01), measurements),
    Example("likeliest value", sf.attack.LikeliestValue(tolerance=0.01), measurements),
    Example("range reveal", sf.attack.RangeReveal(), measurements),
    Example("repeated answers", sf.attack.RepeatedAnswers(column="name", times=3), people),
    Example("likeliest answer", sf.attack.LikeliestAnswer(column="name"), people),
    Example("copied records", sf.attack.CopiedRecords(), people),
    Example("remining", sf.attack.Remining(items=("nuts",), min_support=0.1, min_confidence=0.6), market),
    Example("item breach", sf.attack.ItemBreach(prior=0.8, posterior=0.9), market),
    Example("fill unknowns", sf.attack.FillUnknowns(items=("nuts",)), market),
    Example("support inference", sf.attack.SupportInference(k=3, min_support=8), twelve),
    Example("sequence linking", sf.attack.SequenceLinking(points=(1, 3, 6)), tours),
    Example("sequence linking, in any order", sf.attack.SequenceLinking(points=(9,), order="set"), tours),
    Example("sequence remining", sf.attack.SequenceRemining(patterns=_WAYS, threshold=20), walks),
    Example("mark guessing", sf.attack.MarkGuessing(items=("station", "work")), walks),
    Example("linking", sf.attack.Linking(), people),
    Example("linking, knows less", sf.attack.Linking(knowledge=("age", "sex", "zip", "occupation")), people),
)
