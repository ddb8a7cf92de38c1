# SPDX-License-Identifier: MIT
"""Association rules over baskets that are split by rows between sites, each with its own people.

As in Kantarcioglu and Clifton (2002), level by level: a set of items that is frequent in all baskets together is
frequent at some site at least, by its share of the rows there. So sites unite their locally frequent candidates without
telling whose they are, and test each against the threshold over all sites, without telling a count:
the sum over sites of (count - min_support * baskets) is at least zero or not. The next level's candidates have only
frequent parts. Rules are tested in the same way: the sum of (count of both sides - min_confidence * count of the left
side). Thresholds are exact fractions, so the result is that of mining the pooled baskets, exactly.

Every site learns the frequent itemsets and rules, which candidates were locally frequent somewhere but not frequent
overall, and the length of the longest list up to a factor of two. The last site also learns how many candidates are at
how many sites. No site learns a count, a number of baskets, or who contributed what, unless the numbers leave only one
way. See `threshold` for the protocols and whom they protect against.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Flags, Ints
from sfumato.baskets import Baskets, Item
from sfumato.errors import DataError, PartyError, PolicyError, count_noun
from sfumato.parties.arithmetic.group import get_group
from sfumato.parties.local_counts import LocalCounts, generate_candidates, generate_consequents
from sfumato.parties.protocols.agreement import agree_on_item_kind, agree_on_parameters, confirm_result
from sfumato.parties.protocols.threshold import (
    MOST_BITS,
    Protocol,
    check_protocol,
    compare_sums,
    describe_threshold_adversary,
    unite,
)
from sfumato.parties.result import (
    Itemset,
    JointResult,
    JointRule,
    SiteResult,
    build_itemset_frame,
    build_joint_rule_frame,
    join_results,
)
from sfumato.parties.transport.network import Network, Tap, compute, run_sites
from sfumato.public.thresholds import Confidence, Support, compute_least_count, parse_exact_confidence
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

ROW_BITS = 32
"""All sites together have fewer than 2^32 baskets."""
INDEX_BYTES = 4
FROM_RESULT = (
    "which itemsets and rules hold in all baskets together",
    "for an itemset that is rare here: that it is frequent at the other sites together",
    "for a candidate that is frequent here and not in the result: that it is rare at the other sites together",
)


@dataclass(frozen=True, slots=True)
class JointQuestion:
    """What the sites ask together; every site has the same."""

    min_support: Support
    """The support from which an itemset is frequent: an int counts baskets of all sites, a float is a share of them."""
    min_confidence: Confidence | None = None
    """The confidence from which a rule counts; None for itemsets only."""
    protocol: Protocol = "shamir"
    """How counts are kept secret."""
    max_length: int | None = None
    """The most items of an itemset."""
    name_bytes: int = 64
    """The most bytes of an item's name; all names are sent at this length."""
    floor: int = 1
    """From how many of its own baskets a site lets the others know an item's name; each site may have its own."""

    def __post_init__(self) -> None:
        """Check the parameters."""
        compute_least_count(self.min_support, 0)
        if isinstance(self.min_support, int) and self.min_support >= 1 << ROW_BITS:
            raise PolicyError(f"min_support as a count must be below {1 << ROW_BITS:,}")
        check_protocol(self.protocol)
        if self.max_length is not None and (type(self.max_length) is not int or self.max_length < 1):
            raise PolicyError("max_length must be a whole number of items, at least 1, or None")
        if type(self.name_bytes) is not int or not 1 <= self.name_bytes <= 1024:
            raise PolicyError("name_bytes must be a whole number from 1 to 1024")
        if type(self.floor) is not int or self.floor < 1:
            raise PolicyError("floor must be a whole number of baskets, at least 1")
        for name, threshold in (("min_support", self.share), ("min_confidence", self.confidence)):
            if threshold is not None and count_bits(threshold) > MOST_BITS:
                raise PolicyError(f"{name} has too many digits; round it to eight or fewer")

    @property
    def share(self) -> Fraction | None:
        """The support as a share of all baskets; None if it is a count."""
        return None if isinstance(self.min_support, int) else Fraction(repr(self.min_support))

    @property
    def confidence(self) -> Fraction | None:
        """The confidence as an exact fraction."""
        return None if self.min_confidence is None else parse_exact_confidence(self.min_confidence, "min_confidence")

    def as_parameters(self) -> dict[str, str]:
        """What the sites must agree on."""
        return {
            "min_support": str(self.min_support if self.share is None else f"share {self.share}"),
            "min_confidence": str(self.confidence),
            "protocol": self.protocol,
            "max_length": str(self.max_length),
            "name_bytes": str(self.name_bytes),
            "group": get_group().name,
        }


def mine_horizontal(
    sites: Sequence[Baskets | Sequence[Sequence[Item]]],
    min_support: Support,
    min_confidence: Confidence | None = None,
    *,
    protocol: Protocol = "shamir",
    max_length: int | None = None,
    name_bytes: int = 64,
    floor: int = 1,
    names: Sequence[str] | None = None,
    tap: Tap | None = None,
) -> JointResult:
    """Mine baskets of several sites as if pooled, with all sites in this process; for tests and study.

    Between organizations, each runs its own site: `sfumato party`. The protocol is "shamir" (three or more sites),
    "textbook" (the ring sum, for study) or "counts" (no protection, for comparison). A site that would tell the name of
    an item in fewer than `floor` of its own baskets ends the run. `tap` is called with every frame.
    """
    question = JointQuestion(min_support, min_confidence, protocol, max_length, name_bytes, floor)

    async def mine(network: Network, site_baskets: Baskets) -> SiteResult:
        return await mine_site(network, site_baskets, question)

    if isinstance(sites, Mapping):
        raise PolicyError("give the sites as a list, and their names apart: mine_horizontal(list(sites.values()), …)")
    if any(isinstance(site, Table) for site in sites):
        raise DataError("sites that mine together have Baskets, and these have a Table; make them with sf.Baskets.of")
    baskets = [site if isinstance(site, Baskets) else Baskets.of(site) for site in sites]
    return join_results(run_sites(mine, baskets, names, tap))


async def mine_site(network: Network, baskets: Baskets, question: JointQuestion) -> SiteResult:
    """One site's part; the result is the same at every site."""
    if question.protocol != "counts" and len(network.sites) < 3:
        raise PartyError(
            f'protocol "{question.protocol}" needs at least three sites: with two, each could subtract its own '
            "counts and learn the other's"
        )
    await agree_on_parameters(network, {"task": "horizontal", **question.as_parameters()})
    is_text = await agree_on_item_kind(network, baskets)
    mining = _SiteMining(network, LocalCounts(baskets, is_text), question)
    supports = await mining.find_itemsets(is_text)
    rules = await mining.find_rules(supports)
    itemset_frame, rule_frame = build_itemset_frame(supports, is_text), build_joint_rule_frame(rules, is_text)
    await confirm_result(network, f"{itemset_frame.rows()} {rule_frame.rows()}")
    adversary = describe_threshold_adversary(question.protocol, len(network.sites))
    statement = network.state(question.protocol, adversary, FROM_RESULT)
    return SiteResult(itemset_frame, rule_frame, statement, network.transcript)


def read_integer(name: bytes) -> int:
    """An integer that is written in the one way that this program writes it; else a ValueError."""
    number = int(name)
    if str(number).encode("utf-8") != name:
        raise ValueError("an integer is written in another way")
    return number


def count_bits(threshold: Fraction) -> int:
    """How many bits hold the sum of a whole number of rows times the denominator, with its sign."""
    return ROW_BITS + threshold.denominator.bit_length() + 1


class _SiteMining:
    """One site's search, level by level."""

    def __init__(self, network: Network, counts: LocalCounts, question: JointQuestion) -> None:
        self.network, self.counts, self.question = network, counts, question
        if counts.rows * len(network.sites) >= 1 << ROW_BITS:
            raise PartyError(f"this site has {counts.rows:,} baskets, too many for {len(network.sites)} sites together")

    @property
    def least(self) -> int:
        """From how many baskets an itemset is locally frequent: some site has its share of the threshold."""
        share = self.question.share
        if share is None:
            return max(1, ceil(Fraction(self.question.min_support) / len(self.network.sites)))
        return max(1, ceil(share * self.counts.rows))

    async def find_itemsets(self, is_text: bool) -> dict[Itemset, int]:
        """The frequent itemsets, with this site's own counts."""
        supports: dict[Itemset, int] = {}
        candidates: list[Itemset] = [(item,) for item in await self._unite_items(is_text)]
        level = 1
        while candidates:
            step = f"level {level}"
            report_progress(f"{step}: testing {len(candidates):,} candidates")
            counts = await compute(self.counts.count, candidates)
            is_frequent = await self._test_supports(counts, f"{step}/support")
            frequent = [itemset for itemset, keep in zip(candidates, is_frequent.tolist(), strict=True) if keep]
            self.network.learn(
                f"{step}: which {count_noun(len(candidates), 'candidate is', 'candidates are')} frequent at some site, "
                f"and that all others are at none; {len(frequent)} are overall"
            )
            supports |= dict(zip(frequent, counts[is_frequent].tolist(), strict=True))
            level += 1
            if self.question.max_length is not None and level > self.question.max_length:
                break
            candidates = await self._unite_itemsets(generate_candidates(frequent), f"level {level}")
        return supports

    async def _unite_items(self, is_text: bool) -> list[Item]:
        """Items that are frequent at some site."""
        report_progress("level 1: uniting items")
        own_items = self.counts.list_items(self.least)
        rare = len(own_items) - len(self.counts.list_items(max(self.least, self.question.floor)))
        if rare:
            raise PartyError(
                f"the names of {count_noun(rare, 'item')} in fewer than {self.question.floor} of this site's baskets "
                "would be revealed to the other sites; raise min_support everywhere, or lower floor here if they may "
                "know them"
            )
        names = [str(item).encode("utf-8") for item in own_items]
        long = sum(len(name) > self.question.name_bytes for name in names)
        if long:
            raise PartyError(
                f"{count_noun(long, 'item has a name', 'items have names')} of more than {self.question.name_bytes} "
                "bytes; shorten them, or raise name_bytes at every site"
            )
        union = await unite(self.network, self.question.protocol, names, self.question.name_bytes, "level 1/union")
        try:
            items: list[Item] = [name.decode("utf-8") if is_text else read_integer(name) for name in union]
        except ValueError:
            raise PartyError("the union holds a name that is not an item; a site did not follow the protocol") from None
        return sorted(items)

    async def _unite_itemsets(self, candidates: Sequence[Itemset], step: str) -> list[Itemset]:
        """Candidates that are frequent at some site; all sites have generated the same, so numbers name them."""
        if not candidates:
            return []
        report_progress(f"{step}: uniting candidates")
        counts = await compute(self.counts.count, candidates)
        large = np.flatnonzero(counts >= self.least).tolist()
        entries = [number.to_bytes(INDEX_BYTES, "big") for number in large]
        union = await unite(self.network, self.question.protocol, entries, INDEX_BYTES, f"{step}/union")
        numbers = [int.from_bytes(entry, "big") for entry in union]
        if any(number >= len(candidates) for number in numbers):
            raise PartyError("the union holds an unknown candidate; a site did not follow the protocol")
        return [candidates[number] for number in sorted(numbers)]

    async def _test_supports(self, counts: Ints, step: str) -> Flags:
        share = self.question.share
        if share is None:
            terms = counts - (int(self.question.min_support) if self.network.index == 0 else 0)
            return await self._compare(terms, ROW_BITS + 1, step)
        terms = counts * share.denominator - share.numerator * self.counts.rows
        return await self._compare(terms, count_bits(share), step)

    async def find_rules(self, supports: Mapping[Itemset, int]) -> list[JointRule]:
        """The rules among frequent itemsets, by the length of the right side."""
        confidence = self.question.confidence
        rules: list[JointRule] = []
        if confidence is None:
            return rules
        wholes = [itemset for itemset in supports if len(itemset) > 1]
        consequents: dict[Itemset, list[Itemset]] = {whole: [(item,) for item in whole] for whole in wholes}
        length = 1
        while consequents:
            splits = [_Split(whole, side) for whole, sides in consequents.items() for side in sides]
            report_progress(f"rules: testing {len(splits):,} right sides of {length} items")
            pairs = [(supports[split.whole], supports[split.antecedent]) for split in splits]
            terms = [confidence.denominator * support - confidence.numerator * base for support, base in pairs]
            step = f"rules {length}/confidence"
            holds = await self._compare(np.array(terms, dtype=np.int64), count_bits(confidence), step)
            kept_consequents: dict[Itemset, list[Itemset]] = {}
            for split in (split for split, keep in zip(splits, holds.tolist(), strict=True) if keep):
                rules.append(JointRule(split.antecedent, split.consequent))
                kept_consequents.setdefault(split.whole, []).append(split.consequent)
            longer = {whole: generate_consequents(sides, len(whole)) for whole, sides in kept_consequents.items()}
            consequents = {whole: sides for whole, sides in longer.items() if sides}
            length += 1
        return rules

    async def _compare(self, terms: Ints, bits: int, step: str) -> Flags:
        return await compare_sums(self.network, self.question.protocol, terms, bits, step)


class _Split(NamedTuple):
    """A frequent itemset and its right side."""

    whole: Itemset
    consequent: Itemset

    @property
    def antecedent(self) -> Itemset:
        """The left side."""
        return tuple(item for item in self.whole if item not in self.consequent)
