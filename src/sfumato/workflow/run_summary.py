# SPDX-License-Identifier: MIT
"""Summarize a run: the utility of the release, whether suppressed rows are safe, advice, and the report's content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from math import isfinite
from typing import Any, Literal

import polars as pl

from sfumato import measure
from sfumato.attack.anonymity.linking import link_originals
from sfumato.baskets import Baskets
from sfumato.change import ChangeKind
from sfumato.data.hierarchy import spell_cells
from sfumato.data.published_labels import Domain
from sfumato.details import AnonymityDetails, Details, EntryDetails, HidingDetails, SynthesisDetails
from sfumato.errors import hide_password
from sfumato.lazy import find_tagged_class
from sfumato.measure.baskets.changed_items import measure_changed_items
from sfumato.measure.change_losses import measure_change_loss
from sfumato.measure.checks import Evidence
from sfumato.measure.entries.firing_rules import measure_rule_answers
from sfumato.measure.patterns.classifier_rules import measure_classification_error
from sfumato.measure.patterns.rule_errors import measure_rule_errors
from sfumato.measure.patterns.support_errors import measure_support_errors
from sfumato.patterns import Patterns
from sfumato.progress import report_progress
from sfumato.protect.method import KeyedMethod
from sfumato.public.unknown_items import MARK
from sfumato.release import Claim, Release
from sfumato.report.run_account import RunAccount
from sfumato.report.sections import build_outgoing_sections, make_sections
from sfumato.rules import Rules
from sfumato.sequences import Sequences
from sfumato.table import Missing, Table
from sfumato.workflow.outgoing import count_published_labels
from sfumato.workflow.policy import Policy


def get_starred_rows(release: Release) -> Literal["class", "suppressed"]:
    """Whether rows of stars are suppressed rows or an ordinary class, as the methods state."""
    return "suppressed" if any(change.starred for change in release.changes) else "class"


def measure_utility(policy: Policy, published: Any, original: Any, release: Release) -> dict[str, float]:
    """The utility of the release, measured on the written file."""
    report_progress("measuring what is left")
    if not isinstance(published, Table):
        return _measure_utility_without_columns(policy, published, original, release)
    figures: dict[str, float] = {}
    profiles = {method.utility for method in policy.methods()}
    if "codes" in profiles:
        return {"loss": 0.0}  # the key decodes every code: nothing is lost
    if "blanks" in profiles:
        figures["loss"] = measure.blanked_share(published, original)
        figures |= measure_rule_answers(Evidence(published, original, details=release.details), release.claims)
    elif "chance" in profiles:
        figures |= _measure_chance_utility(published, original, release)
    elif published.quasi_identifying:
        figures |= _measure_class_utility(
            published, original, release, all(method.truthful for method in policy.methods())
        )
    changed = measure_change_loss(original, published, release.changes, release.public, release.details.rows)
    if changed is not None:
        figures["loss"] = max(changed, figures.get("loss", 0.0))
    known = _list_comparable_columns(published, original, release)
    asked = [name for name in (*published.quasi_identifying, *published.sensitive) if name in known]
    if policy.measure.queries and published.quasi_identifying and asked:
        answers = measure.query_accuracy(original, published, policy.measure.queries, columns=asked, sums=False)
        figures["query_error"] = answers.count.median
    target = policy.measure.classify
    if target and target in known:
        learnt = [name for name in known if name != target]
        scores = measure.classification_accuracy(original, published, target, columns=learnt, rows=release.details.rows)
        for model, score in scores.items():
            figures |= {f"{model}_accuracy": score.released, f"{model}_accuracy_original": score.original}
            figures["zero_r_accuracy"] = score.zero_r
        entropy = measure.class_entropy(original, published, target, columns=learnt)
        figures |= {"entropy_change": entropy.mean_change, "joint_entropy_change": entropy.together.change}
    figures |= _measure_swapped_joints(policy, published, original, release)
    return {name: round(value, 12) for name, value in figures.items() if isfinite(value)}


def _measure_swapped_joints(policy: Policy, published: Table, original: Table, release: Release) -> dict[str, float]:
    """How far the joint distribution of swapped columns and those that an adversary knows moved, mean over columns."""
    swapped = [change.column for change in release.changes if change.kind is ChangeKind.SWAPPED]
    patterns = [pattern for method in policy.methods() if (pattern := getattr(method, "pattern", None))]
    known = [name for name in (*patterns, published.quasi_identifying)[0] if name not in swapped]
    if not swapped or not known:
        return {}
    moved = [measure.joint_divergence(original, published, name, known, release.details.rows) for name in swapped]
    return {
        "joint_i_divergence": sum(divergence.patterns for divergence in moved) / len(moved),
        "bayes_i_divergence": sum(divergence.simple_bayes for divergence in moved) / len(moved),
    }


def _list_comparable_columns(published: Table, original: Table, release: Release) -> list[str]:
    """Columns whose cells are values of the originals, or numbers like these."""
    return [
        name
        for name, column in zip(published.frame.columns, published.frame.get_columns(), strict=True)
        if (column.dtype.is_numeric() and original.frame[name].dtype.is_numeric())
        or (name not in release.public and _has_labels_only(column, original, name))
        or spell_cells(column).drop_nulls().is_in(spell_cells(original.frame[name]).implode()).all()
    ]


def _has_labels_only(column: pl.Series, original: Table, name: str) -> bool:
    """Whether every cell is a label of the originals: a method that is not truthful may publish other texts."""
    domain = Domain.of(original.frame[name], original.hierarchies.get(name))
    return all(domain.reads(label) for label in spell_cells(column).unique())


def _measure_class_utility(published: Table, original: Table, release: Release, truthful: bool) -> dict[str, float]:
    """Class sizes and, where cells are labels of their originals, how much detail they keep."""
    stars = get_starred_rows(release)
    promised = max((int(c.threshold) for c in release.claims if c.property == "k_anonymity"), default=None)
    known = None if truthful else _list_comparable_columns(published, original, release)
    moved = measure.marginal_distance(original, published, columns=known)
    kept = {}
    if truthful:
        kept = {
            "loss": measure.loss(published, original),
            "precision": measure.precision(original, published),
            "non_uniform_entropy": measure.non_uniform_entropy(original, published).share,
        }
    return {
        **kept,
        "discernibility": measure.discernibility(published, stars),
        "average_class_size": measure.average_class_size(published, stars),
        **({} if promised is None else {"c_avg": measure.c_avg(published, promised, stars)}),
        **({"total_variation": sum(moved.values()) / len(moved)} if moved else {}),
    }


def _measure_chance_utility(published: Table, original: Table, release: Release) -> dict[str, float]:
    """How far randomized values moved from the originals: single columns and pairs of columns."""
    shown = [name for name in published.frame.columns if release.public.get(name, {}).get("kind") != "unary"]
    together = measure.correlations(original, published)
    moments = measure.moments(original, published).columns
    shifts = [abs(column_moments.mean_shift) for column_moments in moments if column_moments.mean_shift is not None]
    ratios = [abs(column_moments.std_ratio - 1) for column_moments in moments if column_moments.std_ratio is not None]
    moved = measure.pairwise_total_variation(original, published, columns=shown) if shown else None
    has_draws = any(change.kind is ChangeKind.DRAWN for change in release.changes)
    return {
        **({} if moved is None else {"pair_total_variation": moved}),
        **({} if moved is None or not has_draws else {"loss": moved}),
        **({"largest_mean_shift": max(shifts), "largest_spread_change": max(ratios)} if shifts and ratios else {}),
        **({"largest_correlation_shift": together.largest} if len(together.columns) > 1 else {}),
    }


def _measure_utility_without_columns(
    policy: Policy, published: Any, original: Any, release: Release
) -> dict[str, float]:
    """Side effects of hiding, counted on the published baskets; the loss is the share of items that were changed."""
    if isinstance(published, Sequences):
        from sfumato.workflow.sequence_utility import choose_compared_support, measure_sequence_utility

        return measure_sequence_utility(published, original, release, choose_compared_support(policy))
    if isinstance(published, Rules):
        return {"loss": _measure_rule_loss(published, original, release)}
    if isinstance(published, Patterns):
        return {"loss": measure_support_errors(original, published, release.details.get("min_support", 1))}
    figures = {}
    if isinstance(release.method, KeyedMethod):
        figures["loss"] = float(release.losses["loss"])  # what was added to hide the codes; the key removes it
    if isinstance(published, Baskets) and release.details.get_family(HidingDetails) is not None:
        method = release.method
        effects = measure.side_effects(
            original, published, method.min_support, method.min_confidence, release.details.get("sensitive", ()), MARK
        )
        figures |= {name: float(value) for name, value in asdict(effects).items()}
        figures["loss"] = measure_changed_items(original, published, MARK)
    return figures


def _measure_rule_loss(published: Rules, original: Any, release: Release) -> float:
    if isinstance(original, Table):
        return measure_classification_error(published, original)
    method, least = release.method, release.details.get("min_support", 1)
    return measure_rule_errors(original, published, least, method.min_confidence, method.consequent_length)


def summarize_suppression(policy: Policy, release: Release) -> dict[str, Any]:
    """How many rows were suppressed, whether they are visible, and why that discloses nothing."""
    suppressed = int(release.losses.get("suppressed_rows", 0))
    if any(getattr(method, "suppressed_rows", None) == "drop" for method in policy.methods()):
        return {"rows": suppressed, "seen": False, "safe": True, "why": "Suppressed rows are not in the release."}
    left_out = " ".join(method.leaves_out for method in policy.methods() if method.leaves_out)
    if left_out:
        dropped = int(release.losses.get("dropped_sequences", 0))
        return {"rows": suppressed + dropped, "seen": False, "safe": True, "why": left_out}
    if get_starred_rows(release) != "suppressed":
        drops = "dropped_rows" in release.losses and release.data.missing is Missing.DROP
        left = " Rows with a missing quasi-identifying value are not in the release." if drops else ""
        return {"rows": suppressed, "seen": True, "safe": True, "why": f"No row was suppressed.{left}"}
    rows = "1 suppressed row shows" if suppressed == 1 else f"{suppressed} suppressed rows show"
    hidden = any(claim.property == "shown_in_suppressed" for claim in release.claims)
    apart = any(_is_counted_apart(claim) for claim in release.claims)
    if hidden:
        why = f"The {rows} neither quasi-identifying nor sensitive values."
    elif apart:
        why = f"The {rows} no quasi-identifying value, and no column is sensitive."
    else:
        why = (
            f"The {suppressed} suppressed rows look alike in every quasi-identifying column and satisfy every model "
            f"together: a person who fits no other class is one of {suppressed}."
        )
    return {"rows": suppressed, "seen": True, "safe": True, "why": why}


def _is_counted_apart(claim: Claim) -> bool:
    """Whether a claim about classes leaves suppressed rows out."""
    return claim.property != "suppressed_share" and claim.arguments.get("starred_rows") == "suppressed"


def gather_account(
    policy: Policy,
    original: Any,
    release: Release,
    published: Any,
    body: dict[str, Any],
    seconds: Mapping[str, float],
) -> RunAccount:
    """Gather the content of the internal report."""
    report_progress("comparing before and after")
    run_account = RunAccount(
        title=policy.title,
        certificate=body,
        original=original,
        published=published,
        before=None,
        sizes_before=_NO_CROWDS,
        sizes_after=_NO_CROWDS,
        distributions={},
        details=release.details,
        reasons=(),
        lattice=(),
        advice=list_advice(body, release, in_order=policy.output.order == "as_read"),
        seconds=seconds,
        source=original.source if isinstance(original, Table) else hide_password(policy.data.path),
        sections=make_sections(policy.methods(), release, original, published, body["utility"]),
    )
    return add_column_facts(run_account, release) if isinstance(published, Table) else run_account


def gather_outgoing_account(certificate: Mapping[str, Any], published: Any) -> RunAccount:
    """Gather the content of the report that leaves, from the certificate and the released data alone."""
    run_account = RunAccount(
        title=certificate["title"],
        certificate=certificate,
        original=None,
        published=published,
        before=None,
        sizes_before=_NO_CROWDS,
        sizes_after=_NO_CROWDS,
        distributions={},
        details=Details(),
        reasons=(),
        lattice=(),
        advice=(),
        seconds={},
        source="",
        sections=build_outgoing_sections(certificate["public"], published),
    )
    tags = {method["method"] for method in certificate["methods"]}
    if not isinstance(published, Table) or "encode_for_trees" in tags:
        return run_account
    stars: Literal["suppressed", "class"] = "suppressed" if certificate["suppression"]["rows"] else "class"
    crowds = bool(published.quasi_identifying) and hides_in_crowds(tags)
    return replace(
        run_account,
        distributions={name: count_published_labels(published.frame[name]) for name in published.frame.columns},
        sizes_after=measure.class_size_counts(published, None, stars) if crowds else _NO_CROWDS,
    )


def hides_in_crowds(tags: Iterable[str]) -> bool:
    """Whether one of these methods puts people into classes; a method that nobody knows may."""
    kinds = [find_tagged_class("method", tag) for tag in tags]
    return any(kind is None or kind.hides_in_crowds for kind in kinds)


_NO_CROWDS = pl.DataFrame(schema={"size": pl.Int64, "classes": pl.Int64, "rows": pl.Int64})


def add_column_facts(run_account: RunAccount, release: Release) -> RunAccount:
    """Add what only a table has: its columns and, where people can be linked, their classes."""
    if isinstance(release.method, KeyedMethod):
        return run_account  # codes cannot be compared with values
    original, published = run_account.original, run_account.published
    names = published.quasi_identifying
    run_account = replace(
        run_account,
        distributions={
            name: measure.distribution(
                original.frame[name],
                published.frame[name],
                original.hierarchies.get(name) if name in names else None,
            )
            for name in published.frame.columns
        },
    )
    if not names or release.details.get_family(EntryDetails) is not None:
        return run_account
    run_account = replace(run_account, before=link_originals(original))
    if not hides_in_crowds(str(method["method"]) for method in run_account.certificate["methods"]):
        return run_account
    return replace(
        run_account,
        sizes_before=measure.class_size_counts(original),
        sizes_after=measure.class_size_counts(published, None, get_starred_rows(release)),
    )


def list_advice(body: Mapping[str, Any], release: Release, *, in_order: bool = True) -> tuple[str, ...]:
    """What to do next."""
    sentences = list(_advise_on_levels(body, release))
    if body["data"]["shape"] == "table":
        sentences += _advise_on_rows(body, release)
    synthesis = release.details.get_family(SynthesisDetails)
    are_rows_drawn = synthesis is not None and synthesis.training is not None
    if body["data"]["shape"] == "table" and in_order and not are_rows_drawn:
        sentences.append(
            "Rows keep the order of the input. If that order reveals something (sorted by name, or by day of "
            'admission), set order = "shuffled" under [output].'
        )
    if release.details.get_family(EntryDetails) is not None:
        ran = any(attack["attack"] == "learned_inference" for attack in body["attacks"])
        sentences.append(
            "The promise is about rules; learners may guess more. "
            + ("Check the attack learned_inference" if ran else "Run the attack learned_inference")
            + " before the release leaves, and set learner_risk if its risk is too high."
        )
    sentences.append("Before you release the same data again, compare the two releases: together they may reveal more.")
    return tuple(sentences)


def _advise_on_levels(body: Mapping[str, Any], release: Release) -> list[str]:
    levels, heights = body["levels"], body["heights"]
    sentences = []
    lost = [name for name in levels if levels[name] == heights[name] and heights[name] > 0]
    if lost:
        sentences.append(
            f'{", ".join(lost)} became "*" everywhere: to keep some detail, add levels between the finest and the top '
            "of the hierarchy, or allow more suppression."
        )
    anonymity = release.details.get_family(AnonymityDetails)
    if anonymity is not None and anonymity.without_hierarchy and anonymity.heights:
        sentences.append(
            f"No hierarchy was given for {', '.join(anonymity.without_hierarchy)}: such a column is published "
            'unchanged or as "*" only. With a hierarchy it can keep part of its detail.'
        )
    return sentences


def _advise_on_rows(body: Mapping[str, Any], release: Release) -> list[str]:
    sentences = []
    if body["suppression"]["rows"] == 0 and getattr(release.method, "suppression_limit", None) == 0:
        sentences.append("A small suppression limit (0.01 to 0.05) often keeps the other rows much more precise.")
    if any(claim.property == "k_anonymity" for claim in release.claims):
        sentences.append(
            "k-anonymity limits linking to a row, not what the rows of a class have in common: check the sensitive "
            "columns before the release leaves."
        )
    return sentences
