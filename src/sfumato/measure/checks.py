# SPDX-License-Identifier: MIT
"""The measures that claims name: each takes the published data, and the originals where it cannot do without."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import polars as pl

from sfumato.arrays import Ints
from sfumato.errors import PolicyError
from sfumato.measure.anonymity.diversity import DIVERSITY_CHECKS
from sfumato.measure.anonymity.presence import delta_presence, k_map
from sfumato.measure.anonymity.privacy import k_anonymity, suppressed_share
from sfumato.measure.truth import changed_cells, untrue_cells
from sfumato.release import Claim, Finding, Number
from sfumato.table import Missing, Table


@dataclass(frozen=True)
class Evidence:
    """What a check may look at."""

    published: Any
    original: Any = None
    rows: Ints | None = None
    """Which original row each published row was made from; None without the originals."""
    population: Table | None = None
    """The population that a model compares with."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What the custodian alone knows of the release: which entries or rules are private; empty for an auditor."""

    def knows(self, claim: Claim) -> bool:
        """Whether what the claim's measure compares with is at hand."""
        private = FROM_DETAILS.get(claim.measure)
        return not claim.needs_original or (self.original is not None if private is None else private in self.details)

    def without(self, columns: Any) -> Evidence:
        """The same, as if some columns had been published as they were: their changes are another's."""
        if not columns:
            return self
        rows = np.arange(len(self.published)) if self.rows is None else np.asarray(self.rows, dtype=np.int64)
        untouched = [self.original.frame[name].gather(rows) for name in columns if name in self.original.frame.columns]
        return replace(self, published=self.published.with_frame(self.published.frame.with_columns(untouched)))


Check = Callable[[Evidence, Mapping[str, Any]], Number]


def measured(claim: Claim, evidence: Evidence) -> Finding:
    """Measure a claim again; without the originals, a claim that needs them is left open."""
    if claim.measure not in CHECKS:
        raise PolicyError(f"the claim «{claim.property}» names the measure «{claim.measure}», which does not exist")
    if not evidence.knows(claim):
        return Finding.of(claim, None)
    arguments = dict(claim.arguments)
    seen = evidence.without(arguments.pop("besides", ())) if claim.measure in NOTHING_ELSE else evidence
    try:
        return Finding.of(claim, CHECKS[claim.measure](seen, arguments))
    except (KeyError, TypeError, ValueError):
        raise PolicyError(f"the claim «{claim.property}» does not say what its measure needs to know") from None


def _k_anonymity(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    return k_anonymity(evidence.published, None, arguments.get("starred_rows", "class"))


def _suppressed_share(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    return suppressed_share(evidence.published) if arguments.get("starred_rows") == "suppressed" else 0.0


def _left_out_share(evidence: Evidence, _: Mapping[str, Any]) -> Number:
    original: Table = evidence.original
    usable = original.frame
    if original.missing is Missing.DROP:
        usable = usable.drop_nulls(list(original.quasi_identifying))
    # One division: it is rounded once, so a share within the limit is never measured above it.
    return (usable.height - len(evidence.published)) / usable.height


def _named_columns(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    columns: list[str] = evidence.published.frame.columns
    return sum(name in columns for name in arguments["names"])


def _untrue_cells(evidence: Evidence, _: Mapping[str, Any]) -> Number:
    rows = evidence.rows
    if rows is None:
        rows = pl.arange(0, len(evidence.published), eager=True, dtype=pl.Int64).to_numpy()
    return untrue_cells(evidence.published, evidence.original, rows)


def _changed_cells(evidence: Evidence, _: Mapping[str, Any]) -> Number:
    rows = np.arange(len(evidence.published)) if evidence.rows is None else np.asarray(evidence.rows, dtype=np.int64)
    return changed_cells(evidence.published, evidence.original, rows)


def _search_ended(evidence: Evidence, _: Mapping[str, Any]) -> Number:
    return int(bool(evidence.details["complete"]))


def _k_map(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    return k_map(evidence.published, _population(evidence), starred_rows=arguments.get("starred_rows", "class"))


def _delta_presence(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    starred = arguments.get("starred_rows", "class")
    return delta_presence(evidence.published, _population(evidence), starred_rows=starred).high


def _population(evidence: Evidence) -> Table:
    if evidence.population is None:
        raise PolicyError("a claim compares with a population, which is not at hand")
    return evidence.population


NOTHING_ELSE = frozenset(
    {
        "changed_beside_answers",
        "changed_beside_noise",
        "changed_cells",
        "changed_elsewhere",
        "kept_cells_changed",
        "untrue_cells",
    }
)
"""Measures of what was changed besides; columns that another method of the policy changed are told as `besides`."""

FROM_DETAILS: Mapping[str, str] = {
    "exposed_rules": "sensitive",
    "leftover_rules": "hidden",
    "search_ended": "complete",
    "visible_private_entries": "hidden",
}
"""Measures that compare with something private other than the originals, and where it stands in a release's details."""


def _on_the_table(check: Callable[[Table, Mapping[str, Any]], float]) -> Check:
    return lambda evidence, arguments: check(evidence.published, arguments)


def _in_module(module: str, *names: str) -> dict[str, Check]:
    """Checks of a module that is loaded when one of them is needed."""

    def later(name: str, evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
        found: Number = import_module(f"sfumato.measure.{module}").evidence_checks()[name](evidence, arguments)
        return found

    return {name: partial(later, name) for name in names}


CHECKS: Mapping[str, Check] = {
    **_in_module("codes.encoded_items", "named_items", "shared_support", "strange_bits"),
    **_in_module("codes.encoded_items", "unfiltered_items", "unrecoverable_items"),
    **_in_module("answers.answers", "answer_epsilon", "answers_off_channel", "answers_that_differ"),
    **_in_module("answers.answers", "changed_beside_answers", "strange_answers"),
    **_in_module("noise.noise", "changed_beside_noise", "interval_privacy", "noise_centre", "noise_dependence"),
    **_in_module("noise.noise", "noise_law", "noise_privacy", "noise_shape", "outside_interval", "unchanged_cells"),
    **_in_module("synthesis.synthetic", "copied_uniques", "foreign_values", "kept_cells_changed", "nearer_training"),
    **_in_module("synthesis.synthetic", "people_at_extremes", "rare_words"),
    **_in_module("swapping.swapping", "changed_elsewhere", "groups_unbroken", "marginal_shift", "uniques_off_share"),
    **_in_module("codes.tree_equality", "trees_that_differ", "rows"),
    **_in_module("entries.rules_left", "leftover_rules", "visible_private_entries"),
    **_in_module("baskets.basket_checks", "basket_count", "exposed_rules", "foreign_items", "inferable_patterns"),
    **_in_module("baskets.basket_checks", "least_support", "lost_itemsets", "untrue_supports"),
    **{name: _on_the_table(check) for name, check in DIVERSITY_CHECKS.items()},
    "changed_cells": _changed_cells,
    "delta_presence": _delta_presence,
    "k_map": _k_map,
    "k_anonymity": _k_anonymity,
    "left_out_share": _left_out_share,
    "named_columns": _named_columns,
    "search_ended": _search_ended,
    "suppressed_share": _suppressed_share,
    "untrue_cells": _untrue_cells,
}
