# SPDX-License-Identifier: MIT
"""The forms that claims have: which measure checks a property, on which side, and from what.

Against a signer who names one property and lets another be measured: "20-anonymous" checked by counting rows, a k "at
most" 20, or marked as if only the originals could tell. A certificate whose claims have other forms is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class Form(NamedTuple):
    """How a property is claimed."""

    measure: str
    bound: str
    needs_original: bool


def _checked(bound: str, **measures: str) -> Iterator[tuple[str, Form]]:
    """Properties that anybody can check on the released file."""
    for claimed, measure in measures.items():
        yield claimed, Form(measure, bound, False)


def _kept(bound: str, *names: str, **measures: str) -> Iterator[tuple[str, Form]]:
    """Properties that only somebody with the originals can check; most are measured under their own name."""
    for claimed, measure in {**dict(zip(names, names, strict=True)), **measures}.items():
        yield claimed, Form(measure, bound, True)


FORMS: tuple[tuple[str, Form], ...] = (
    *_checked(
        "at_least", k_anonymity="k_anonymity", distinct_l_diversity="distinct_l", entropy_l_diversity="entropy_l"
    ),
    *_checked("at_least", least_support="least_support", shared_support="shared_support"),
    *_checked("at_most", alpha="alpha", beta_likeness="beta", enhanced_beta_likeness="enhanced_beta"),
    *_checked(
        "at_most", epsilon="answer_epsilon", epsilon_in_all="answer_epsilon", suppressed_share="suppressed_share"
    ),
    *_checked("at_most", t_closeness="t_equal"),
    *_checked("at_most", t_closeness="t_ordered"),
    *_checked("at_most", t_closeness="t_hierarchical"),
    *_checked("below", delta_disclosure="delta_disclosure", recursive_l_diversity="recursive_c"),
    *_checked("exactly", baskets="basket_count", identifying_columns="named_columns", rows_kept="rows"),
    *_checked("exactly", inferable_patterns="inferable_patterns", suppressed_share="suppressed_share"),
    *_checked("exactly", strange_answers="strange_answers", strange_bits="strange_bits"),
    *_kept("at_least", "interval_privacy", "k_map", "noise_privacy", "people_at_extremes"),
    *_kept("at_most", "answers_off_channel", "delta_presence", "nearer_training", suppressed_share="left_out_share"),
    *_kept("at_most", "noise_centre", "noise_dependence", "noise_law", "noise_shape", "unchanged_cells"),
    *_kept("exactly", "answers_that_differ", "changed_beside_answers", "changed_beside_noise", "changed_cells"),
    *_kept("exactly", "changed_elsewhere", "copied_uniques", "foreign_items", "groups_unbroken", "kept_cells_changed"),
    *_kept("exactly", "lost_itemsets", "marginal_shift", "named_items", "outside_interval", "rare_words"),
    *_kept("exactly", "search_ended", "trees_that_differ", "unfiltered_items", "uniques_off_share"),
    *_kept("exactly", "unrecoverable_items", "untrue_cells", "untrue_supports"),
    *_kept("exactly", adversarial_rules="leftover_rules", hidden_rules="exposed_rules"),
    *_kept("exactly", private_entries_blanked="visible_private_entries"),
)

ARGUMENTS: Mapping[str, frozenset[str]] = {
    "answer_epsilon": frozenset({"kind", "p", "q"}),
    "inferable_patterns": frozenset({"complete_from", "k"}),
    "named_columns": frozenset({"names"}),
    "recursive_c": frozenset({"column", "l", "starred_rows"}),
    "strange_answers": frozenset({"categories", "column", "kind", "missing"}),
    "strange_bits": frozenset({"bits"}),
    "t_hierarchical": frozenset({"column", "parents", "starred_rows"}),
    "t_ordered": frozenset({"column", "order", "parents", "starred_rows"}),
    **dict.fromkeys(("k_anonymity", "suppressed_share"), frozenset({"starred_rows"})),
    **dict.fromkeys(
        ("alpha", "beta", "delta_disclosure", "distinct_l", "enhanced_beta", "entropy_l", "t_equal"),
        frozenset({"column", "starred_rows"}),
    ),
}
"""What a measure that anybody can repeat may be told; those not named take nothing."""


def has_known_form(claim: Mapping[str, Any]) -> bool:
    """Whether a claim of a certificate is one that a method makes, told to its measure in the measure's own words."""
    form = Form(claim["measure"], claim["bound"], claim["needs_original"])
    if (claim["property"], form) not in FORMS:
        return False
    arguments = claim.get("arguments", {})
    if form.needs_original:
        return not arguments
    starred = arguments.get("starred_rows", "class")
    return set(arguments) <= ARGUMENTS.get(form.measure, frozenset()) and starred in ("class", "suppressed")
