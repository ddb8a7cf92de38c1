# SPDX-License-Identifier: MIT
"""What mining together gives: frames as `sfumato.mine` gives them, without counts, and what each site learned."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sfumato.baskets import Item
from sfumato.parties.statement import Statement, Transcript

if TYPE_CHECKING:
    import polars as pl

Itemset = tuple[Item, ...]


@dataclass(frozen=True, slots=True, order=True)
class JointRule:
    """A rule that holds in the data of all sites together; nobody knows its support or confidence."""

    antecedent: Itemset
    consequent: Itemset


class SiteAnswer(ABC):
    """What one site has at the end of a run, whatever was asked."""

    __slots__ = ()
    statement: Statement
    """What this site learned."""
    transcript: Transcript
    """Hashes of all frames."""

    @abstractmethod
    def list_tables(self) -> dict[str, pl.DataFrame]:
        """What was found, by name."""

    def list_contents(self) -> dict[str, Any]:
        """What was found as plain values, by name."""
        return {name: table.to_dicts() for name, table in self.list_tables().items()}

    def as_json(self) -> dict[str, Any]:
        """The result as plain values."""
        return {**self.list_contents(), "statement": self.statement.as_json()}


@dataclass(frozen=True, slots=True)
class SiteResult(SiteAnswer):
    """What one site has at the end of mining."""

    itemsets: pl.DataFrame
    """The frequent itemsets of all data together: `items`."""
    rules: pl.DataFrame
    """The rules of all data together: `antecedent`, `consequent`."""
    statement: Statement
    """What this site learned."""
    transcript: Transcript
    """Hashes of all frames."""

    def list_tables(self) -> dict[str, pl.DataFrame]:
        """Itemsets and rules."""
        return {"itemsets": self.itemsets, "rules": self.rules}

    def list_contents(self) -> dict[str, Any]:
        """Itemsets as lists, and rules."""
        return {"itemsets": self.itemsets["items"].to_list(), "rules": self.rules.to_dicts()}


@dataclass(frozen=True, slots=True)
class JointResult:
    """What all sites of one process have at the end of a run; every site found the same itemsets and rules."""

    itemsets: pl.DataFrame
    """The frequent itemsets of all data together: `items`."""
    rules: pl.DataFrame
    """The rules of all data together: `antecedent`, `consequent`."""
    statements: tuple[Statement, ...]
    """What each site learned."""
    transcripts: tuple[Transcript, ...]
    """Hashes of all frames, as each site saw them."""


def join_results(results: Iterable[SiteResult]) -> JointResult:
    """One result of sites in one process."""
    sites = list(results)
    statements, transcripts = tuple(site.statement for site in sites), tuple(site.transcript for site in sites)
    return JointResult(sites[0].itemsets, sites[0].rules, statements, transcripts)


def build_itemset_frame(itemsets: Iterable[Itemset], is_text: bool) -> pl.DataFrame:
    """Itemsets as a frame, shorter ones first, then by their items."""
    import polars as pl

    kind = pl.List(pl.String if is_text else pl.Int64)
    rows = sorted(itemsets, key=lambda items: (len(items), items))
    return pl.DataFrame({"items": [list(items) for items in rows]}, schema={"items": kind})


def build_joint_rule_frame(rules: Iterable[JointRule], is_text: bool) -> pl.DataFrame:
    """Rules as a frame, in order of both sides."""
    import polars as pl

    kind = pl.List(pl.String if is_text else pl.Int64)
    rows = sorted(rules, key=lambda rule: (len(rule.antecedent) + len(rule.consequent), rule))
    columns = {
        "antecedent": [list(rule.antecedent) for rule in rows],
        "consequent": [list(rule.consequent) for rule in rows],
    }
    return pl.DataFrame(columns, schema={"antecedent": kind, "consequent": kind})
