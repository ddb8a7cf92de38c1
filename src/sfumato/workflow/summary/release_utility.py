# SPDX-License-Identifier: MIT
"""The utility of a release, measured on the written file."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

import polars as pl

from sfumato import measure
from sfumato.baskets import Baskets
from sfumato.change import ChangeKind
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.data.hierarchies.published_labels import Domain
from sfumato.details import HidingDetails, PatternDetails, SwapDetails
from sfumato.key import Key
from sfumato.measure.alignment import align_originals
from sfumato.measure.baskets.changed_items import measure_changed_items
from sfumato.measure.baskets.hiding_steps import combine_effects, list_effects, list_hiding_steps, measure_step_effects
from sfumato.measure.change_losses import measure_change_loss
from sfumato.measure.checks import Evidence
from sfumato.measure.codes.code_losses import CODE_LOSSES
from sfumato.measure.entries.firing_rules import measure_rule_answers
from sfumato.measure.patterns.classifier_rules import measure_classification_error
from sfumato.measure.patterns.rule_errors import measure_rule_errors
from sfumato.measure.patterns.support_errors import measure_support_errors
from sfumato.measure.utility.label_losses import read_domain
from sfumato.patterns import Patterns
from sfumato.protect.method import KeyedMethod
from sfumato.public.unknown_items import find_unknown_mark
from sfumato.release import Release
from sfumato.rules import Rules
from sfumato.runtime.progress import report_progress
from sfumato.sequences import Sequences
from sfumato.table import Table
from sfumato.workflow.outgoing import PUBLISHED_LOSS
from sfumato.workflow.policy import Policy
from sfumato.workflow.summary.class_sizes import find_promised_k, measure_class_sizes
from sfumato.workflow.summary.suppression_summary import classify_starred_rows
from sfumato.workflow.summary.value_columns import forget_unused_labels, list_value_columns


def measure_utility(
    policy: Policy, published_data: Any, original: Any, release: Release, keys: Mapping[str, Key] | None = None
) -> dict[str, float]:
    """The utility of the release, measured on the written file; what codes of items lose, with the keys of methods.

    What nobody measured is absent, and no limit on it opens.
    """
    report_progress("measuring what is left")
    if not isinstance(published_data, Table):
        return _measure_utility_without_columns(policy, published_data, original, release, keys or {})
    original = forget_unused_labels(original, list_value_columns(release, published_data, original))
    figures: dict[str, float] = {}
    profiles = {method.utility for method in policy.methods}
    change_loss = measure_change_loss(original, published_data, release.changes, release.public, release.details.rows)
    if "codes" in profiles:
        return {} if change_loss is None else {"loss": change_loss}
    if "blanks" in profiles:
        figures["loss"] = measure.blanked_share(published_data, original, release.details.rows)
        figures |= measure_rule_answers(Evidence(published_data, original, details=release.details), release.claims)
    elif "chance" in profiles:
        figures |= _measure_chance_utility(published_data, original, release)
    elif published_data.quasi_identifying:
        figures |= _measure_class_utility(
            published_data, original, release, all(method.truthful for method in policy.methods)
        )
    detail_loss = _measure_detail_loss(policy, published_data, original, release)
    losses = [loss for loss in (change_loss, detail_loss, figures.get("loss")) if loss is not None]
    if losses:
        figures["loss"] = max(losses)
        people = len(published_data) if "chance" in profiles else len(original)
        figures |= count_left_out_rows(figures["loss"], len(published_data), people)
    comparable_columns = _list_comparable_columns(published_data, original, release)
    query_columns = [*published_data.quasi_identifying, *published_data.sensitive]
    # A mean over the columns that can be compared would say that those with other cells have lost nothing.
    can_query = bool(published_data.quasi_identifying) and set(query_columns) <= set(comparable_columns)
    if policy.measure.queries and can_query:
        answers = measure.query_accuracy(
            original, published_data, policy.measure.queries, columns=query_columns, sums=False
        )
        figures["query_error"] = answers.count.median
    target = policy.measure.classify
    if target and target in comparable_columns:
        features = [name for name in comparable_columns if name != target]
        scores = measure.classification_accuracy(
            original, published_data, target, columns=features, rows=release.details.rows
        )
        for model, score in scores.items():
            figures |= {f"{model}_accuracy": score.release, f"{model}_accuracy_original": score.original}
            figures["zero_r_accuracy"] = score.zero_r
        entropy = measure.class_entropy(original, published_data, target, columns=features)
        figures |= {"entropy_change": entropy.mean_change, "joint_entropy_change": entropy.joint.change}
    figures |= _measure_swapped_joints(published_data, original, release)
    return {name: round(value, 12) for name, value in figures.items() if isfinite(value)}


def count_left_out_rows(loss: float, published_rows: int, people: int) -> dict[str, float]:
    """The loss if people who are not in the release have lost everything, and that of the published rows as well.

    It does not matter why somebody was left out: by suppression, or because missing = "drop".
    """
    if published_rows >= people:
        return {"loss": loss}
    left_out_share = (people - published_rows) / people
    return {"loss": loss + (1 - loss) * left_out_share, PUBLISHED_LOSS: loss}


def _measure_detail_loss(policy: Policy, published_table: Table, original: Table, release: Release) -> float | None:
    """With other methods, what labels leave open, mean over the columns that hold labels; None if none does.

    A method alone is measured with the classes.
    """
    methods = policy.methods
    if len(methods) < 2 or not any(method.loses_detail for method in methods):
        return None
    recoded_columns = {
        change.column for change in release.changes if not (change.kind.is_truthful or change.kind.is_exact)
    }
    original_frame = align_originals(original, published_table, release.details.rows)
    losses = [
        measure.column_loss(published_table.frame[name], read_domain(published_table, name, original))
        + _measure_blanked_share(published_table.frame[name], original_frame[name])
        for name in published_table.quasi_identifying
        if name not in recoded_columns
    ]
    return sum(losses) / len(losses) if losses else None


def _measure_blanked_share(published_cells: pl.Series, original_cells: pl.Series) -> float:
    """A cell that another method emptied has lost all detail; one that was missing has nothing to lose."""
    blanked_count = int((published_cells.is_null() & original_cells.is_not_null()).sum())
    return blanked_count / len(published_cells) if blanked_count else 0.0


def _measure_swapped_joints(published_table: Table, original: Table, release: Release) -> dict[str, float]:
    """How far the joint distribution of swapped columns and those that an adversary knows moved, mean over columns."""
    swapped_columns = [change.column for change in release.changes if change.kind is ChangeKind.SWAPPED]
    patterns = {
        name: step.pattern
        for step in release.details.list_steps()
        if isinstance(step, SwapDetails)
        for name in step.by_column or ()
    }
    divergences = []
    for name in swapped_columns:
        pattern = patterns.get(name, published_table.quasi_identifying)
        known_columns = [known_column for known_column in pattern if known_column not in swapped_columns]
        if known_columns:
            divergences.append(
                measure.joint_divergence(original, published_table, name, known_columns, release.details.rows)
            )
    if not divergences:
        return {}
    return {
        "joint_i_divergence": sum(divergence.patterns for divergence in divergences) / len(divergences),
        "bayes_i_divergence": sum(divergence.simple_bayes for divergence in divergences) / len(divergences),
    }


def _list_comparable_columns(published_table: Table, original: Table, release: Release) -> list[str]:
    """Columns whose cells are values of the originals, or numbers like these."""
    return [
        name
        for name, column in zip(published_table.frame.columns, published_table.frame.get_columns(), strict=True)
        if (column.dtype.is_numeric() and original.frame[name].dtype.is_numeric())
        or (name not in release.public and _has_labels_only(column, original, name))
        or spell_cells(column).drop_nulls().is_in(spell_cells(original.frame[name]).implode()).all()
    ]


def _has_labels_only(column: pl.Series, original: Table, name: str) -> bool:
    """Whether every cell is a label of the originals: a method that is not truthful may publish other texts."""
    domain = Domain.of(original.frame[name], original.hierarchies.get(name))
    return all(domain.reads(label) for label in spell_cells(column).unique())


def _measure_class_utility(
    published_table: Table, original: Table, release: Release, truthful: bool
) -> dict[str, float]:
    """Class sizes and, where cells are labels of their originals, how much detail they keep."""
    promised_k = find_promised_k(claim.model_dump() for claim in release.claims)
    comparable_columns = None if truthful else _list_comparable_columns(published_table, original, release)
    can_compare = comparable_columns is None or set(published_table.quasi_identifying) <= set(comparable_columns)
    distances = measure.marginal_distance(original, published_table, columns=comparable_columns) if can_compare else {}
    detail_figures = {}
    if truthful:
        detail_figures = {
            "loss": measure.loss(published_table, original),
            "precision": measure.precision(original, published_table),
            "non_uniform_entropy": measure.non_uniform_entropy(original, published_table).share,
        }
    return {
        **detail_figures,
        **measure_class_sizes(published_table, classify_starred_rows(release), promised_k),
        **({"total_variation": sum(distances.values()) / len(distances)} if distances else {}),
    }


def _measure_chance_utility(published_table: Table, original: Table, release: Release) -> dict[str, float]:
    """How far randomized values moved from the originals: single columns and pairs of columns."""
    bit_columns = {name for name, law in release.public.items() if not law.shows_values}
    columns = [name for name in published_table.frame.columns if name not in bit_columns]
    correlations = measure.correlations(original, published_table)
    moments = measure.moments(original, published_table).columns
    shifts = [abs(column_moments.mean_shift) for column_moments in moments if column_moments.mean_shift is not None]
    ratios = [abs(column_moments.std_ratio - 1) for column_moments in moments if column_moments.std_ratio is not None]
    pair_distance = measure.pairwise_total_variation(original, published_table, columns=columns) if columns else None
    has_draws = any(change.kind is ChangeKind.DRAWN for change in release.changes)
    return {
        **({} if pair_distance is None else {"pair_total_variation": pair_distance}),
        **({} if pair_distance is None or not has_draws else {"loss": pair_distance}),
        **({"largest_mean_shift": max(shifts), "largest_spread_change": max(ratios)} if shifts and ratios else {}),
        **({"largest_correlation_shift": correlations.largest} if len(correlations.columns) > 1 else {}),
    }


def _measure_utility_without_columns(
    policy: Policy, published_data: Any, original: Any, release: Release, keys: Mapping[str, Key]
) -> dict[str, float]:
    """Side effects of hiding, counted on the published baskets; the loss is the share of items that were changed."""
    if isinstance(published_data, Sequences):
        from sfumato.workflow.summary.sequence_utility import choose_compared_support, measure_sequence_utility

        return measure_sequence_utility(published_data, original, release, choose_compared_support(policy, release))
    if isinstance(published_data, Rules):
        return {"loss": _measure_rule_loss(published_data, original, release)}
    if isinstance(published_data, Patterns):
        return {"loss": measure_support_errors(original, published_data, _get_least_support(release))}
    figures = {}
    if isinstance(release.method, KeyedMethod) and (key := keys.get(release.method.model_dump()["method"])) is not None:
        measure_loss = CODE_LOSSES[release.method.decodes]
        figures["loss"] = measure_loss(published_data, original, release.details.rows, key)
    if isinstance(published_data, Baskets) and release.details.get_family(HidingDetails) is not None:
        if steps := list_hiding_steps(release):
            effects = combine_effects(measure_step_effects(release, original, published_data))
            figures |= list_effects(effects, steps)
        figures["loss"] = measure_changed_items(original, published_data, find_unknown_mark(release))
    return figures


def _measure_rule_loss(published_rules: Rules, original: Any, release: Release) -> float:
    if isinstance(original, Table):
        return measure_classification_error(published_rules, original)
    method, least = release.method, _get_least_support(release)
    return measure_rule_errors(original, published_rules, least, method.min_confidence, method.consequent_length)


def _get_least_support(release: Release) -> int:
    """The number of baskets from which the published patterns are frequent."""
    return release.details.require_family(PatternDetails).min_support or 1
