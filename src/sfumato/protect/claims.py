# SPDX-License-Identifier: MIT
"""Claims that several methods make about a table, each checked by its own measure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from sfumato.release import Claim, Number
from sfumato.table import Table


def claim_nobody_named(table: Table) -> Claim:
    """No column that names a person is in the release."""
    return Claim(
        property="identifying_columns",
        threshold=0,
        bound="exactly",
        measure="named_columns",
        arguments={"names": table.identifying},
        meaning="No column that names a person is in the release.",
    )


def claim_with_originals(
    measure: str,
    threshold: Number,
    bound: Literal["at_least", "at_most", "exactly"],
    arguments: Mapping[str, Any],
    meaning: str,
) -> Claim:
    """A claim that can only be checked with the originals, named like its measure."""
    return Claim(
        property=measure,
        threshold=threshold,
        bound=bound,
        measure=measure,
        arguments=arguments,
        needs_original=True,
        meaning=meaning,
    )


def claim_nothing_untrue() -> Claim:
    """Every published cell covers its original; only checkable with the originals."""
    return Claim(
        property="untrue_cells",
        threshold=0,
        bound="exactly",
        measure="untrue_cells",
        needs_original=True,
        meaning="Every published cell is the original value, a generalization of it, or suppressed.",
    )


def claim_suppression_within(limit: float, starred_rows: str, left_out: bool = False) -> Claim:
    """The share of suppressed rows is within the limit; omitted rows can only be counted with the originals."""
    return Claim(
        property="suppressed_share",
        threshold=limit,
        bound="at_most",
        measure="left_out_share" if left_out else "suppressed_share",
        arguments={"starred_rows": starred_rows},
        needs_original=left_out,
        meaning="The share of rows that were suppressed is within the limit.",
    )
