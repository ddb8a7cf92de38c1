# SPDX-License-Identifier: MIT
"""Association rules: people who buy the left side also buy the right side, with a support and a confidence.

A rule is a frequent itemset split in two. Its support counts the baskets that hold both sides; its confidence is
the share of them among the baskets with the left side, compared with the threshold as an exact fraction. Lift,
leverage and conviction measure how far that is from chance (Brin, Motwani, Ullman and Tsur; Piatetsky-Shapiro).

- :func:`association_rules` gives a polars frame.
- :func:`find_association_rules` gives :class:`AssociationRules`: for each rule the numbers of three sets among
:class:`Itemsets`, the whole, the left side and the right side (all three are frequent).

Rules come in the order of their itemsets. A rule of high confidence and its support reveal the number of exceptions,
down to a single person: the inference that pattern publishing closes.
"""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Unpack

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.baskets import Baskets
from sfumato.engine.engine_names import EngineName
from sfumato.errors import PolicyError
from sfumato.mine.baskets.itemsets import Itemsets, find_itemsets, list_itemsets, refuse_file_options, refuse_large
from sfumato.public.thresholds import Confidence, Support, parse_exact_confidence
from sfumato.runtime import progress

if TYPE_CHECKING:
    import polars as pl

    from sfumato.kernels.baskets.itemsets_rules import IndexedSets
    from sfumato.mine.baskets.stored_itemsets import ReadingOptions

STEP = "Splitting itemsets into rules"
BUFFER = 1 << 16
WORK = 1 << 20
BATCH = 1 << 14
BYTES_A_RULE = 150


@dataclass(frozen=True, slots=True, eq=False)
class AssociationRules:
    """Rules as numbers of itemsets."""

    itemsets: Itemsets
    """All frequent itemsets."""
    wholes: Ints
    """For each rule, the set of both sides."""
    antecedents: Ints
    """The left side."""
    consequents: Ints
    """The right side."""

    def __len__(self) -> int:
        """The number of rules."""
        return self.wholes.size

    @property
    def confidences(self) -> Floats:
        """The confidence of each rule, as the nearest float."""
        supports = self.itemsets.supports
        confidences: Floats = supports[self.wholes] / supports[self.antecedents]
        return confidences


def association_rules(
    baskets: Baskets | str | os.PathLike[str],
    min_support: Support,
    min_confidence: Confidence,
    *,
    consequent_length: int | None = None,
    max_length: int | None = None,
    at_most: int | None = None,
    engine: EngineName = "auto",
    **reading: Unpack[ReadingOptions],
) -> pl.DataFrame:
    """The rules with a minimum support and confidence: both sides as sorted lists, and lift, leverage and conviction.

    All splits of each frequent itemset are tried; `consequent_length=1` restricts the right side to one item,
    `max_length` bounds the items of both sides together. The conviction of a certain rule is infinite. An error is
    raised for more than `at_most` rules, or more than fit in half the machine's memory. Instead of baskets you may give
    the path of a file, as to `frequent_itemsets`.
    """
    if isinstance(baskets, str | os.PathLike):
        from sfumato.mine.baskets.stored_itemsets import find_stored_itemsets, open_baskets

        with open_baskets(baskets, engine, reading) as opened_baskets:
            itemsets = (
                find_itemsets(opened_baskets, min_support, max_length=max_length)
                if isinstance(opened_baskets, Baskets)
                else find_stored_itemsets(opened_baskets, min_support, max_length)
            )
    else:
        refuse_file_options(engine, reading)
        itemsets = find_itemsets(baskets, min_support, max_length=max_length)
    return derive_rule_frame(itemsets, min_confidence, consequent_length=consequent_length, at_most=at_most)


def derive_rule_frame(
    itemsets: Itemsets,
    min_confidence: Confidence,
    *,
    consequent_length: int | None = None,
    at_most: int | None = None,
) -> pl.DataFrame:
    """The rules among all frequent itemsets, as a frame."""
    import polars as pl

    rules = find_association_rules(itemsets, min_confidence, consequent_length=consequent_length, at_most=at_most)
    lists = list_itemsets(itemsets)
    rows = max(itemsets.rows, 1)
    whole_supports = itemsets.supports[rules.wholes]
    left, right = itemsets.supports[rules.antecedents], itemsets.supports[rules.consequents]
    confidence = rules.confidences
    with np.errstate(divide="ignore", invalid="ignore"):
        # Certain rules about items in every basket would be 0/0.
        conviction = np.where(
            whole_supports == left, np.inf, (rows - right) * left / (rows * (left - whole_supports).astype(np.float64))
        )
    return pl.DataFrame(
        {
            "antecedent": lists.gather(rules.antecedents),
            "consequent": lists.gather(rules.consequents),
            "support": whole_supports,
            "confidence": confidence,
            "lift": confidence / (right / rows),
            "leverage": whole_supports / rows - (left / rows) * (right / rows),
            "conviction": conviction,
        }
    )


def find_association_rules(
    itemsets: Itemsets,
    min_confidence: Confidence,
    *,
    consequent_length: int | None = None,
    at_most: int | None = None,
) -> AssociationRules:
    """The rules among all frequent itemsets (not only closed or maximal ones), as numbers of sets."""
    least = parse_exact_confidence(min_confidence, "min_confidence")
    if consequent_length is not None and (
        isinstance(consequent_length, bool) or not isinstance(consequent_length, int) or consequent_length < 1
    ):
        raise PolicyError("consequent_length must be a whole number of items, at least 1, or None")
    sizes = np.diff(itemsets.offsets)
    longest = int(sizes.max(initial=1))
    sets = _index(itemsets, compute_needed_supports(itemsets.supports, least))
    splitter = _RuleSplitter(sets, min(consequent_length or longest, longest), longest, at_most)
    triples = np.concatenate([*splitter.run(len(itemsets)), np.empty((0, 3), dtype=np.int64)])
    return AssociationRules(itemsets, *(np.ascontiguousarray(triples[:, side]) for side in range(3)))


def compute_needed_supports(supports: Ints, confidence: Fraction) -> Ints:
    """For each left side, the smallest support of the whole that reaches the confidence, in exact integers."""
    values, places = np.unique(supports, return_inverse=True)
    top, bottom = confidence.numerator, confidence.denominator
    needed_supports = np.array([-(-value * top // bottom) for value in values.tolist()], dtype=np.int64)
    least_supports: Ints = needed_supports[places]
    return least_supports


def _index(itemsets: Itemsets, needed_supports: Ints) -> IndexedSets:
    """A mark for each item such that no two sets have the same sum of marks, the sums, and an index of them."""
    from sfumato.kernels.baskets.itemsets_rules import IndexedSets, fill_table

    keys = np.empty(len(itemsets), dtype=np.uint64)
    slots = np.empty(1 << max(4, (2 * len(itemsets)).bit_length()), dtype=np.int64)
    seed = 0
    while True:
        # Marks need not be secret, only spread out: a fixed seed gives the same table each time.
        marks = np.random.Generator(np.random.PCG64(seed)).integers(0, 2**64, len(itemsets.items), dtype=np.uint64)
        if fill_table(itemsets.offsets, itemsets.codes, marks, keys, slots):
            return IndexedSets(itemsets.offsets, itemsets.codes, itemsets.supports, needed_supports, marks, keys, slots)
        seed += 1


@dataclass(slots=True)
class _RuleSplitter:
    """Splits batches of itemsets in two threads, and counts the rules found so far."""

    sets: IndexedSets
    longest: int
    room: int
    at_most: int | None
    rules: int = 0
    is_stopped: bool = False

    def run(self, count: int) -> list[Ints]:
        parts: list[Ints] = []
        with ThreadPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as pool:
            try:
                futures: list[Future[list[Ints]]] = [
                    pool.submit(self.split, first, min(first + BATCH, count)) for first in range(0, count, BATCH)
                ]
                for number, future in enumerate(futures):
                    parts += future.result()
                    progress.report_progress(STEP, min((number + 1) * BATCH, count), count)
            except BaseException:
                self.is_stopped = True
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        return parts

    def split(self, first: int, stop: int) -> list[Ints]:
        from sfumato.kernels.baskets import itemsets_rules

        state = np.zeros(itemsets_rules.WALK_FIELDS, dtype=np.int64)
        state[itemsets_rules.WALK_SET], state[itemsets_rules.WALK_STOP] = first, stop
        places, keys = np.zeros(self.room + 2, dtype=np.int64), np.zeros(self.room + 2, dtype=np.uint64)
        buffer = np.empty((BUFFER, 3), dtype=np.int64)
        parts: list[Ints] = []
        status = itemsets_rules.SEARCH_PAUSED
        while status != itemsets_rules.SEARCH_DONE and not self.is_stopped:
            state[itemsets_rules.WALK_WORK_LEFT] = WORK
            status = itemsets_rules.split_sets(state, self.sets, self.longest, places, keys, buffer)
            if status == itemsets_rules.ABSENT_SIDE:
                raise PolicyError('rules need all frequent itemsets, but some are missing: use kind "all"')
            if status != itemsets_rules.SEARCH_PAUSED:
                filled_count = int(state[itemsets_rules.WALK_FILLED])
                self.rules += filled_count
                refuse_large("rules", self.rules, self.rules * BYTES_A_RULE, self.at_most)
                parts.append(buffer[:filled_count].copy())
                state[itemsets_rules.WALK_FILLED] = 0
        return parts
