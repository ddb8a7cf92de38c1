# SPDX-License-Identifier: MIT
"""Publish a classifier only: the rules of a decision tree that predict a column, and no row of the table.

Against an adversary who derives supports of few people from the rules. The left sides of the rules are the leaves of a
tree: no two overlap, and together they cover all rows. So what is published is a table of counts, leaf by class; each
count is 0 or at least k, and every sum of such counts is too. Nothing finer follows from them. What leaks: these
counts, and that no better split was allowed where the tree ends. Trees: Breiman, Friedman, Olshen, Stone (1984); what
rules give away: Atzori, Bonchi, Giannotti, Pedreschi (2005).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field, field_validator

from sfumato.arrays import Flags, Ints
from sfumato.bound_words import format_limit
from sfumato.data.cells.cell_types import count_words
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.data.items.rule_set_files import RuleCount
from sfumato.details import PatternDetails
from sfumato.errors import DataError, ImpossibleRelease, PolicyError, ask_meant, quote_names
from sfumato.mine.patterns.rule_classifier import reads_as_condition
from sfumato.protect.claims import spell_few
from sfumato.protect.method import Method
from sfumato.protect.patterns.publish_patterns import claim_least_support
from sfumato.public.thresholds import CrowdThresholds
from sfumato.randomness import Randomness
from sfumato.release import Claim, Release
from sfumato.rules import Rules
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

MOST_VALUES = 100
"""More different values of a column are not tried as splits."""

NO_PEOPLE, FEW, CERTAIN = "nobody is in one of the parts", "a class has fewer than k people", "a class is too certain"
"""Why a split may not be published."""


class PublishClassifier(Method):
    """Publish the rules of a decision tree that predicts a column: per leaf how many people it describes, by class.

    Guarantee: every number of people that follows from the rules is 0 or at least k: the leaves do not overlap and
    cover all rows, and no class of a leaf is left out, so that nothing can be subtracted. No class has a larger share
    of a leaf than `max_confidence`. Against: anyone who derives how many people have some properties from the rules.
    Limits: that most people of a leaf have a certain class is what a classifier says, and is not hidden: with
    `max_confidence` 1, the class of everybody in a leaf may be certain; which splits were chosen or not follows from
    the data and is not examined; columns of numbers are split at given `cuts` only. Papers: Breiman, Friedman, Olshen,
    Stone 1984; Atzori, Bonchi, Giannotti, Pedreschi 2005.
    """

    gives: ClassVar[str] = "patterns"
    holds: ClassVar[tuple[str, str]] = ("condition or class", "conditions and classes")
    utility = "baskets"
    section = "classifier"
    iso_20889: ClassVar[str] = "aggregation"
    loss_meaning: ClassVar[str] = "Of the people whose class is known, the share that the rules get wrong."
    kept_meaning: ClassVar[tuple[str, str]] = ("of people classified right", "those whom the tree was grown from")
    threshold_fields: ClassVar[Mapping[str, str]] = {"least_support": "k", "top_confidence": "max_confidence"}
    file_claims: ClassVar[frozenset[str]] = frozenset(
        {"least_support", "small_remainders", "overlapping_rules", "top_confidence"}
    )
    public_fields: ClassVar[tuple[str, ...]] = (
        "target",
        "classes",
        "columns",
        "cuts",
        "k",
        "max_confidence",
        "max_depth",
    )
    column_fields: ClassVar[tuple[str, ...]] = ("target", "columns", "cuts")

    method: Literal["publish_classifier"] = "publish_classifier"
    target: str
    """The column that is predicted."""
    classes: tuple[str, ...] | None = None
    """The classes to distinguish, as values of the target; all others are one. By default every value is a class."""
    columns: tuple[str, ...] | None = None
    """The columns that predict it; by default all others that identify nobody."""
    cuts: Mapping[str, tuple[float, ...]] = Field(default_factory=dict)
    """Where columns of numbers may be split; cuts are published, so choose them without looking at the data."""
    k: int = Field(ge=2, strict=True)
    """The smallest number of people in a leaf that may have a class, if any has it; at least 2."""
    max_confidence: float = Field(default=0.95, gt=0, le=1)
    """The largest share that a class may have of a leaf; below 1, nobody's class is certain."""
    max_depth: int = Field(default=5, ge=1, le=30, strict=True)
    """The most conditions on the left side of a rule."""

    @field_validator("cuts")
    @classmethod
    def _check_cuts(cls, cuts: Mapping[str, tuple[float, ...]]) -> Mapping[str, tuple[float, ...]]:
        if any(not np.isfinite(cut) for numbers in cuts.values() for cut in numbers):
            raise ValueError("cuts are finite numbers")
        return cuts

    @classmethod
    def find_crowd_thresholds(cls, parameters: Mapping[str, Any]) -> CrowdThresholds | None:
        """Every published support is at least k."""
        return CrowdThresholds(parameters["k"], parameters["k"])

    def protect(self, data: Table, randomness: Randomness | None = None) -> Release:
        """Grow a tree whose counts are large, and publish its leaves as rules."""
        classes = self._code_classes(data)
        splits = list(self._list_splits(data))
        root = TreeLeaf((), np.flatnonzero(classes.codes >= 0))
        withheld: list[WithheldSplit] = []
        leaves = list(self._grow(root, classes, splits, withheld))
        rules = [rule for leaf in leaves for rule in classes.count_rules(leaf)]
        published_rules = Rules.of_counts(rules, len(root.rows))
        return Release(
            data=published_rules,
            method=self,
            claims=self._list_claims(),
            losses={"loss": _count_errors(rules) / len(root.rows), "leaves": len({rule.left for rule in rules})},
            details=PatternDetails(min_support=self.k, withheld_splits=list_withheld_splits(withheld)),
        )

    def _grow(
        self, leaf: TreeLeaf, classes: ClassCodes, splits: list[TreeSplit], withheld: list[WithheldSplit]
    ) -> Iterator[TreeLeaf]:
        """The leaves below a node: it is split where that lowers impurity most and every count stays large.

        Where a split that may not be published would be better, the best such one is added to `withheld`.
        """
        report_progress("growing a tree", len(leaf.path), self.max_depth)
        best: LeafHalves | None = None
        refused_split: WithheldSplit | None = None
        least = refused_least = classes.measure_impurity(leaf.rows) - 1e-9
        for split in splits if len(leaf.path) < self.max_depth else ():
            parts = leaf.divide(split)
            impurity = sum(classes.measure_impurity(part.rows) for part in parts)
            reason = next((reason for part in parts if (reason := self._find_disclosure(classes.count(part.rows)))), "")
            if not reason and impurity < least:
                best, least = parts, impurity
            elif reason and impurity < refused_least:
                refused_split, refused_least = (
                    WithheldSplit(leaf.path, len(leaf.rows), split.condition, reason),
                    impurity,
                )
        if refused_split is not None and refused_least < least:
            withheld.append(refused_split)
        if best is None:
            yield leaf
            return
        for part in best:
            yield from self._grow(part, classes, splits, withheld)

    def _find_disclosure(self, counts: Ints) -> str:
        """Why the counts of a leaf may not be published; empty if they may."""
        positive_counts = counts[counts > 0]
        if not len(positive_counts):
            return NO_PEOPLE
        if int(positive_counts.min()) < self.k:
            return FEW
        certain = Fraction(int(positive_counts.max()), int(positive_counts.sum())) > Fraction(repr(self.max_confidence))
        return CERTAIN if certain else ""

    def _code_classes(self, data: Table) -> ClassCodes:
        if self.target not in data.frame.columns:
            suggestion = ask_meant([self.target], data.frame.columns)
            raise PolicyError(f'{data.source}: the target "{self.target}" is not a column of the table{suggestion}')
        if self.target in data.identifying:
            raise PolicyError(f'{data.source}: the target "{self.target}" names people; predict another column')
        cell_texts = spell_cells(data.frame[self.target])
        values = _list_values(cell_texts, self.target, data.source)
        class_values = values if self.classes is None else [value for value in values if value in self.classes]
        if not values:
            raise DataError(f'{data.source}: no row has a value of "{self.target}", so there is nothing to learn')
        absent = len(set(self.classes or ())) - len(class_values)
        if self.classes is not None and absent:
            raise DataError(f'{data.source}: "{self.target}" does not have {absent} of the classes; correct classes')
        number = dict.fromkeys(values, len(class_values)) | {value: code for code, value in enumerate(class_values)}
        codes = np.array([number.get(value, -1) for value in cell_texts.to_list()], dtype=np.int64)
        names = [(f"{self.target} = {value}",) for value in class_values]
        rest = tuple(f"not {self.target} = {value}" for value in class_values)
        classes = ClassCodes((*names, rest) if len(class_values) < len(values) else tuple(names), codes)
        counts = classes.count(np.flatnonzero(codes >= 0))
        if self._find_disclosure(counts):
            raise ImpossibleRelease(f"{data.source}: {self._explain_disclosure(counts)}")
        return classes

    def _explain_disclosure(self, counts: Ints) -> str:
        """Why not even one leaf of everybody may be published, and what would help."""
        if few := int((counts < self.k).sum()):
            rare = "1 class has" if few == 1 else f"{few} classes have"
            cure = "name the common ones in classes, or lower k"
            return f'of "{self.target}", {rare} fewer than k = {self.k} rows; {cure}'
        share = counts.max() / counts.sum()
        return (
            f'a class has {100 * share:.1f} % of the rows of "{self.target}", more than max_confidence = '
            f"{self.max_confidence}; raise max_confidence"
        )

    def _list_splits(self, data: Table) -> Iterator[TreeSplit]:
        """Conditions that a node may ask, in a fixed order."""
        for name in self._choose_columns(data):
            column = data.frame[name]
            if column.dtype.is_numeric():
                numbers = column.cast(float).to_numpy()
                for cut in sorted(set(self.cuts.get(name, ()))):
                    yield TreeSplit(f"{name} < {cut:.15g}", numbers < float(f"{cut:.15g}"))
                continue
            cell_texts = spell_cells(column)
            values = _list_values(cell_texts, name, data.source)
            for value in values if len(values) <= MOST_VALUES else ():
                yield TreeSplit(f"{name} = {value}", (cell_texts == value).fill_null(False).to_numpy())

    def _choose_columns(self, data: Table) -> list[str]:
        candidates = [name for name in data.frame.columns if name not in data.identifying and name != self.target]
        chosen_names = candidates if self.columns is None else list(self.columns)
        strange = [name for name in (*chosen_names, *self.cuts) if name not in candidates]
        if strange:
            suggestion = ask_meant(strange, candidates)
            raise PolicyError(
                f"{data.source}: {quote_names(strange)} cannot predict: no such column, the target, or one that names "
                f"people{suggestion}"
            )
        unclear = [name for name in (*chosen_names, self.target) if reads_as_condition(name)]
        if unclear:
            raise PolicyError(f'{data.source}: rename {quote_names(unclear)}: " = ", " < " and "not " mark conditions')
        texts = [name for name in self.cuts if not data.frame[name].dtype.is_numeric()]
        if texts:
            words = count_words(data.frame[texts[0]])
            raise PolicyError(
                f'{data.source}: {quote_names(texts)} holds no numbers ("{texts[0]}": {words}), so it has no cuts; '
                "remove them, or correct these cells"
            )
        return chosen_names

    def _list_claims(self) -> tuple[Claim, ...]:
        remainders = Claim(
            property="small_remainders",
            threshold=0,
            bound="exactly",
            measure="small_remainders",
            arguments={"k": self.k},
            meaning=f"No leaf leaves {spell_few(self.k)} without a rule: none can be found by subtracting.",
        )
        disjoint_claim = Claim(
            property="overlapping_rules",
            threshold=0,
            bound="exactly",
            measure="overlapping_rules",
            meaning="Every person with a known class is in exactly one leaf, and in no other: counts of leaves "
            "cannot be subtracted.",
        )
        unsure = Claim(
            property="top_confidence",
            threshold=self.max_confidence,
            bound="at_most",
            measure="top_confidence",
            meaning=f"No class has a larger share of a leaf than {format_limit(self.max_confidence)}.",
        )
        true = Claim(
            property="untrue_rules",
            threshold=0,
            bound="exactly",
            measure="untrue_rules",
            needs_original=True,
            meaning="Every published support and confidence is the true one.",
        )
        many = claim_least_support(self.k, "Every leaf, and every class of a leaf, has at least {} people.")
        return many, remainders, disjoint_claim, unsure, true


@dataclass(frozen=True)
class TreeSplit:
    """A condition, and the rows of the table that fulfil it."""

    condition: str
    fits: Flags


@dataclass(frozen=True)
class WithheldSplit:
    """A split that would predict better, and discloses too much."""

    path: tuple[str, ...]
    people: int
    """How many are at the node."""
    condition: str
    reason: str


def list_withheld_splits(splits: list[WithheldSplit]) -> pl.DataFrame:
    """Withheld splits as a frame."""
    rows = [(list(split.path), split.people, split.condition, split.reason) for split in splits]
    kinds: dict[str, Any] = {"node": pl.List(pl.String), "people": pl.Int64, "condition": pl.String, "why": pl.String}
    return pl.DataFrame(rows, schema=kinds, orient="row")


class LeafHalves(NamedTuple):
    """The rows of a leaf, divided by a condition."""

    left: TreeLeaf
    """The rows that fulfil it."""
    right: TreeLeaf


@dataclass(frozen=True)
class TreeLeaf:
    """The conditions on the way to a node, and the rows that are there."""

    path: tuple[str, ...]
    rows: Ints

    def divide(self, split: TreeSplit) -> LeafHalves:
        """The rows that fulfil a condition, and the others."""
        fits = split.fits[self.rows]
        return LeafHalves(
            TreeLeaf((*self.path, split.condition), self.rows[fits]),
            TreeLeaf((*self.path, f"not {split.condition}"), self.rows[~fits]),
        )


@dataclass(frozen=True)
class ClassCodes:
    """The class of every row; −1 if it is missing."""

    conditions: tuple[tuple[str, ...], ...]
    """What each class is, as the right side of a rule."""
    codes: Ints

    def count(self, rows: Ints) -> Ints:
        """How many rows have each class."""
        return np.bincount(self.codes[rows], minlength=len(self.conditions))

    def measure_impurity(self, rows: Ints) -> float:
        """Gini impurity times the number of rows."""
        counts = self.count(rows)
        return float(len(rows) - (counts.astype(np.float64) ** 2).sum() / max(1, len(rows)))

    def count_rules(self, leaf: TreeLeaf) -> Iterator[RuleCount]:
        """A rule for every class of a leaf."""
        for condition, count in zip(self.conditions, self.count(leaf.rows).tolist(), strict=True):
            if count:
                yield RuleCount(leaf.path, condition, count, len(leaf.rows))


def _list_values(cell_texts: pl.Series, name: str, source: str) -> list[str]:
    """The values of a column in order; those that a file of rules cannot hold are refused."""
    values: list[str] = sorted(cell_texts.drop_nulls().unique().to_list())
    broken_count = sum("\n" in value or "\r" in value for value in values)
    if broken_count or "\n" in name or "\r" in name:
        many = (
            "a line end in its name"
            if not broken_count
            else f"line ends in {broken_count} {'value' if broken_count == 1 else 'values'}"
        )
        raise DataError(f'{source}: "{name}" has {many}; a file of rules has one rule a line, so replace line ends')
    return values


def _count_errors(rules: list[RuleCount]) -> int:
    """Rows that do not have the most common class of their leaf."""
    best: dict[tuple[int | str, ...], int] = {}
    for rule in rules:
        best[rule.left] = max(best.get(rule.left, 0), rule.support)
    return sum(rule.support for rule in rules) - sum(best.values())
