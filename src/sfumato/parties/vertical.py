# SPDX-License-Identifier: MIT
"""Association rules over people whose attributes are split between sites: one site has some items, another the rest.

As in Vaidya and Clifton (2002), level by level: rows are aligned, every site announces its own frequent items, and the
support of an itemset with items at several sites is the scalar product of the sites' 0/1 vectors. Unlike there, nobody
learns a support: products are computed as shares (`support_shares`), and only whether one reaches the threshold is
opened. What a site can compute alone, it announces. Thresholds are exact, so the result is that of mining the joined
rows, exactly.

Each site learns the frequent itemsets and rules, and nothing else about another site's rows. The result itself can tell
much: if a rule from one site's items to another's is certain, the first knows the second's values for all its rows with
the left side. So supports have a floor below which nothing is asked, and the number of questions has a limit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from sfumato.arrays import Bytes, Flags
from sfumato.baskets import Baskets, Item
from sfumato.errors import PartyError, PolicyError
from sfumato.parties.arithmetic.group import get_group
from sfumato.parties.arithmetic.shamir import count_colluders
from sfumato.parties.local_counts import generate_candidates, generate_consequents
from sfumato.parties.protocols.agreement import agree_on_item_kind, agree_on_parameters, confirm_result
from sfumato.parties.protocols.algebraic_product import open_algebraic_products
from sfumato.parties.protocols.common_names import COMMON, refuse_common_names
from sfumato.parties.protocols.row_matching import align_by_key, align_by_number
from sfumato.parties.protocols.scalar_product import FLOOR, check_floor, open_products
from sfumato.parties.protocols.support_shares import PackedShares, Parts, ShamirShares, SupportShares
from sfumato.parties.result import (
    Itemset,
    JointResult,
    JointRule,
    SiteResult,
    build_itemset_frame,
    build_joint_rule_frame,
    join_results,
)
from sfumato.parties.site_columns import SiteColumns, list_cells, list_keys
from sfumato.parties.transport.network import Network, Tap, compute, run_sites
from sfumato.public.thresholds import Confidence, Support, compute_least_count, parse_exact_confidence
from sfumato.runtime.progress import report_progress

if TYPE_CHECKING:
    from sfumato.table import Table

VerticalProtocol = Literal["packed", "shamir", "textbook"]
MAX_QUESTIONS = 20_000
FROM_RESULT = (
    "which itemsets are frequent and which rules hold among the aligned rows, and that all other candidates are not",
    "if a rule from this site's items to another's is certain: the right side of all its own rows with the left side",
    "of the rows with this site's part of a frequent itemset, that at least min_support have the other part",
)


@dataclass(frozen=True, slots=True)
class VerticalQuestion:
    """What sites with different attributes of the same people ask together; every site has the same."""

    min_support: Support
    """The support from which an itemset is frequent: an int counts aligned rows, a float is a share of them."""
    min_confidence: Confidence | None = None
    """The confidence from which a rule counts; None for itemsets only."""
    protocol: VerticalProtocol | None = None
    """How supports are kept secret; None for "packed" with two sites and "shamir" with more."""
    key: str | None = None
    """The column that names a person (baskets use their ids); None if row 1 is the same person at every site."""
    max_length: int | None = None
    """The most items of an itemset."""
    floor: int = FLOOR
    """The smallest support that may be asked about; rarer itemsets are about too few people."""
    max_questions: int = MAX_QUESTIONS
    """The most itemsets with items at several sites that may be tested in a run."""

    def __post_init__(self) -> None:
        """Check the parameters."""
        compute_least_count(self.min_support, 0)
        if self.protocol is not None and self.protocol not in get_args(VerticalProtocol):
            raise PolicyError('protocol must be "packed", "shamir" or "textbook", or left out')
        for name, value in (
            ("max_length", self.max_length),
            ("max_questions", self.max_questions),
        ):
            if value is not None and (type(value) is not int or value < 1):
                raise PolicyError(f"{name} must be a whole number, at least 1")
        check_floor(self.floor)
        if self.confidence is not None and self.confidence.denominator > 1 << 20:
            raise PolicyError("min_confidence has too many digits; round it to six or fewer")

    @property
    def confidence(self) -> Fraction | None:
        """The confidence as an exact fraction."""
        return None if self.min_confidence is None else parse_exact_confidence(self.min_confidence, "min_confidence")

    def as_parameters(self) -> dict[str, str]:
        """What the sites must agree on."""
        support = self.min_support if isinstance(self.min_support, int) else f"share {Fraction(repr(self.min_support))}"
        return {
            "min_support": str(support),
            "min_confidence": str(self.confidence),
            "protocol": str(self.protocol),
            "alignment": "row number" if self.key is None else "key",
            "max_length": str(self.max_length),
            "floor": str(self.floor),
            "max_questions": str(self.max_questions),
            "group": get_group().name,
        }

    def choose_protocol(self, sites: int) -> VerticalProtocol:
        """The protocol for this many sites; an error if it is not sound for them."""
        protocol = self.protocol or ("packed" if sites == 2 else "shamir")
        if protocol == "shamir" and sites < 3:
            raise PartyError('protocol "shamir" needs three or more sites: with two, each holds half; use "packed"')
        if protocol != "shamir" and sites != 2:
            raise PartyError(
                f'protocol "{protocol}" multiplies the vectors of two sites; {sites} sites would have to show each '
                'other products of pairs: use "shamir"'
            )
        return protocol


def mine_vertical(
    sites: Sequence[Baskets | Table],
    min_support: Support,
    min_confidence: Confidence | None = None,
    *,
    key: str | None = None,
    protocol: VerticalProtocol | None = None,
    names: Sequence[str] | None = None,
    tap: Tap | None = None,
    **limits: Any,
) -> JointResult:
    """Mine what several sites know about the same people as if joined, with all sites in this process.

    Each site gives baskets, or a table whose cells are items "column=value". `key` names the column of the tables by
    which rows are aligned, and baskets then use their ids; without it, rows are aligned by number. Further limits are
    `max_length`, `floor` and `max_questions` of `VerticalQuestion`. `tap` is called with every frame.
    """
    question = VerticalQuestion(min_support, min_confidence, protocol, key, **limits)

    async def mine(network: Network, site_data: Baskets | Table) -> SiteResult:
        return await mine_vertical_site(network, site_data, question)

    return join_results(run_sites(mine, list(sites), names, tap))


async def mine_vertical_site(network: Network, data: Baskets | Table, question: VerticalQuestion) -> SiteResult:
    """One site's part; the result is the same at every site."""
    protocol = question.choose_protocol(len(network.sites))
    await agree_on_parameters(network, {"task": "vertical", **question.as_parameters()})
    baskets = await compute(list_cells, data, question.key)
    is_text = await agree_on_item_kind(network, baskets)
    if question.key is None:
        order = await align_by_number(network, len(baskets))
    else:
        order = await align_by_key(network, list_keys(baskets))
    least = _require_floor(question, order.size)
    shares = await _open_shares(network, protocol, order.size, question.confidence)
    columns = SiteColumns(baskets, order)
    await refuse_common_names(network, [str(item).encode("utf-8") for item in columns.list_items(1)])
    mining = _VerticalMining(network, columns, question, shares, least)
    supports = await mining.find_itemsets(is_text)
    rules = await mining.find_rules(supports)
    itemset_frame, rule_frame = build_itemset_frame(supports, is_text), build_joint_rule_frame(rules, is_text)
    await confirm_result(network, f"{itemset_frame.rows()} {rule_frame.rows()}")
    statement = network.state(protocol, describe_vertical_adversary(protocol, len(network.sites)), FROM_RESULT)
    return SiteResult(itemset_frame, rule_frame, statement, network.transcript)


def describe_vertical_adversary(protocol: VerticalProtocol, sites: int) -> str:
    """Against whom the statement holds."""
    if protocol == "textbook":
        return "Nobody is protected: linear programming recovers either site's vectors of 0 and 1. For study only."
    if protocol == "packed":
        return "The other site, semi-honest: it follows the protocol and keeps what it sees."
    return (
        f"Semi-honest sites (they follow the protocol and keep what they see), of which up to {count_colluders(sites)} "
        f"of {sites} collude."
    )


def _require_floor(question: VerticalQuestion, rows: int) -> int:
    least = compute_least_count(question.min_support, rows)
    if least < question.floor:
        raise PartyError(
            f"min_support is {least} of {rows:,} aligned rows, below the floor of {question.floor}: too few "
            "people; raise min_support, or agree on a lower floor at every site"
        )
    return least


async def _open_shares(
    network: Network, protocol: VerticalProtocol, rows: int, confidence: Fraction | None
) -> SupportShares:
    if protocol == "textbook":
        return await open_algebraic_products(network, rows)
    if protocol == "shamir":
        return ShamirShares(network, rows)
    largest = max(rows, 1) * (1 if confidence is None else confidence.denominator)
    return PackedShares(network, await open_products(network, rows, largest))


@dataclass(frozen=True, slots=True)
class SharedSupport:
    """What one site has of an itemset's support."""

    owner: int | None
    """The site that has all of its items and knows its support; None if they are split."""
    share: int
    """This site's share of the support."""
    own_count: int = 0
    """The support itself, at its owner."""


class _VerticalMining:
    """One site's search, level by level."""

    def __init__(
        self, network: Network, columns: SiteColumns, question: VerticalQuestion, shares: SupportShares, least: int
    ) -> None:
        self.network, self.columns, self.question, self.shares, self.least = network, columns, question, shares, least
        self.owners: dict[Item, int] = {}
        self.questions = 0

    async def find_itemsets(self, is_text: bool) -> dict[Itemset, SharedSupport]:
        """The frequent itemsets, with this site's shares of their supports."""
        candidates: list[Itemset] = [(item,) for item in await self._gather_items(is_text)]
        supports: dict[Itemset, SharedSupport] = {}
        level = 1
        while candidates:
            report_progress(f"level {level}: testing {len(candidates):,} candidates")
            frequent = await self._test_level(candidates, f"level {level}")
            supports |= frequent
            level += 1
            if self.question.max_length is not None and level > self.question.max_length:
                break
            candidates = generate_candidates(frequent)
        return supports

    async def _gather_items(self, is_text: bool) -> list[Item]:
        """All sites' frequent items; who has an item is learned, as it is in the result who it is about."""
        names = self.columns.list_items(self.least)
        messages = await self.network.exchange("level 1/items", {"names": _write_names(names)})
        for site, message in enumerate(messages.values()):
            for item in _read_names(message.get_array("names", np.uint8, None), is_text):
                if item in self.owners:
                    raise PartyError(COMMON)
                self.owners[item] = site
        self.network.learn("which of the frequent items each site has")
        return sorted(self.owners)

    def _find_owner(self, itemset: Itemset) -> int | None:
        owners = {self.owners[item] for item in itemset}
        return owners.pop() if len(owners) == 1 else None

    def _split(self, itemset: Itemset) -> Parts:
        sites = range(len(self.network.sites))
        return tuple(tuple(item for item in itemset if self.owners[item] == site) for site in sites)

    async def _test_level(self, candidates: Sequence[Itemset], step: str) -> dict[Itemset, SharedSupport]:
        """The frequent ones among candidates: owners test their own, the others are tested on shares."""
        owners = {itemset: owner for itemset in candidates if (owner := self._find_owner(itemset)) is not None}
        counts = {
            itemset: self.columns.count(itemset) for itemset, owner in owners.items() if owner == self.network.index
        }
        is_large = await self._announce(
            owners, {itemset: count >= self.least for itemset, count in counts.items()}, step
        )
        known_itemsets = [itemset for itemset in owners if is_large[itemset]]
        known_counts = [counts.get(itemset, 0) for itemset in known_itemsets]
        known_shares = await self.shares.share_known(known_counts, f"{step}/known") if known_itemsets else []
        supports = {
            itemset: SharedSupport(owners[itemset], share, count)
            for itemset, share, count in zip(known_itemsets, known_shares, known_counts, strict=True)
        }
        split = [itemset for itemset in candidates if itemset not in owners]
        return supports | await self._test_split(split, step)

    async def _test_split(self, itemsets: Sequence[Itemset], step: str) -> dict[Itemset, SharedSupport]:
        if not itemsets:
            return {}
        self.questions += len(itemsets)
        if self.questions > self.question.max_questions:
            raise PartyError(
                f"{self.questions:,} itemsets would be tested between sites, above the limit of "
                f"{self.question.max_questions:,}; raise min_support, or max_questions at every site"
            )
        parts = [self._split(itemset) for itemset in itemsets]
        shares = await self.shares.share_products(parts, self.columns.get_vector, f"{step}/products")
        least = self.shares.share_constant(self.least)
        terms = [(share - least) % self.shares.modulus for share in shares]
        is_large = (await self.shares.are_positive(terms, f"{step}/support")).tolist()
        self.network.learn(f"{step}: of {len(itemsets)} itemsets between sites, which {sum(is_large)} are frequent")
        return {
            itemset: SharedSupport(None, share)
            for itemset, share, keep in zip(itemsets, shares, is_large, strict=True)
            if keep
        }

    async def find_rules(self, supports: Mapping[Itemset, SharedSupport]) -> list[JointRule]:
        """The rules among frequent itemsets, by the length of the right side."""
        rules: list[JointRule] = []
        if self.question.confidence is None:
            return rules
        consequents: dict[Itemset, list[Itemset]] = {
            whole: [(item,) for item in whole] for whole in supports if len(whole) > 1
        }
        length = 1
        while consequents:
            candidates = [
                JointRule(tuple(item for item in whole if item not in side), side)
                for whole, sides in consequents.items()
                for side in sides
            ]
            report_progress(f"rules: testing {len(candidates):,} right sides of {length} items")
            holds = await self._test_rules(candidates, supports, f"rules {length}")
            kept_consequents: dict[Itemset, list[Itemset]] = {}
            for rule in (rule for rule in candidates if holds[rule]):
                rules.append(rule)
                kept_consequents.setdefault(_unite_sides(rule), []).append(rule.consequent)
            longer = {whole: generate_consequents(sides, len(whole)) for whole, sides in kept_consequents.items()}
            consequents = {whole: sides for whole, sides in longer.items() if sides}
            length += 1
        return rules

    async def _test_rules(
        self, rules: Sequence[JointRule], supports: Mapping[Itemset, SharedSupport], step: str
    ) -> dict[JointRule, bool]:
        """Whether the confidence is reached: denominator * support of both sides >= numerator * support of the left."""
        confidence = self.question.confidence or Fraction(1)
        top, bottom = confidence.numerator, confidence.denominator
        owners: dict[JointRule, int] = {}
        own_answers: dict[JointRule, bool] = {}
        split: dict[JointRule, int] = {}
        for rule in rules:
            whole_support, left_support = supports[_unite_sides(rule)], supports[rule.antecedent]
            if whole_support.owner is None:
                split[rule] = (bottom * whole_support.share - top * left_support.share) % self.shares.modulus
                continue
            owners[rule] = whole_support.owner
            if whole_support.owner == self.network.index:
                own_answers[rule] = bottom * whole_support.own_count >= top * left_support.own_count
        holds = await self._announce(owners, own_answers, step)
        if split:
            flags = await self.shares.are_positive(list(split.values()), f"{step}/confidence")
            holds |= dict(zip(split, flags.tolist(), strict=True))
            self.network.learn(f"{step}: of {len(split)} rules between sites, which {int(flags.sum())} hold")
        return holds

    async def _announce(self, owners: Mapping[Any, int], answers: Mapping[Any, bool], step: str) -> dict[Any, bool]:
        """Every site tells its answers about what it owns."""
        if not owners:
            return {}
        own_answers = np.array(
            [answers[name] for name, owner in owners.items() if owner == self.network.index], dtype=np.uint8
        )
        messages = list((await self.network.exchange(f"{step}/own", {"answers": own_answers})).values())
        all_answers: dict[Any, bool] = {}
        for site, message in enumerate(messages):
            names = [name for name, owner in owners.items() if owner == site]
            flags: Flags = message.get_array("answers", np.uint8, len(names)).astype(np.bool_)
            all_answers |= dict(zip(names, flags.tolist(), strict=True))
        return all_answers


def _unite_sides(rule: JointRule) -> Itemset:
    items: list[Any] = [*rule.antecedent, *rule.consequent]
    return tuple(sorted(items))


def _write_names(names: Sequence[Item]) -> Bytes:
    return np.frombuffer(json.dumps(list(names)).encode("utf-8"), dtype=np.uint8)


def _read_names(content: Bytes, is_text: bool) -> list[Item]:
    kind = str if is_text else int
    try:
        names = json.loads(content.tobytes().decode("utf-8"))
    except (ValueError, RecursionError):
        raise PartyError("the items of a site cannot be read") from None
    if not isinstance(names, list) or not all(type(name) is kind for name in names) or len(set(names)) != len(names):
        raise PartyError("the items of a site are not a list of names")
    return names
