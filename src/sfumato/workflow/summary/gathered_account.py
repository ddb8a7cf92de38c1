# SPDX-License-Identifier: MIT
"""The content of the two reports, gathered from a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

from sfumato import measure
from sfumato.attack.anonymity.linking import link_originals
from sfumato.details import EntryDetails
from sfumato.errors import hide_password
from sfumato.published_law import read_laws
from sfumato.release import Release
from sfumato.report.run_account import NO_CLASSES, RunAccount
from sfumato.report.sections.chosen_sections import build_outgoing_sections, make_sections
from sfumato.runtime.lazy import find_tagged_class
from sfumato.runtime.progress import report_progress
from sfumato.table import Table
from sfumato.workflow.outgoing import count_published_labels
from sfumato.workflow.policy import Policy
from sfumato.workflow.summary.next_steps import list_advice
from sfumato.workflow.summary.suppression_summary import classify_starred_rows
from sfumato.workflow.summary.value_columns import list_value_columns


def gather_account(
    policy: Policy,
    original: Any,
    release: Release,
    published_data: Any,
    body: dict[str, Any],
    seconds: Mapping[str, float],
) -> RunAccount:
    """Gather the content of the internal report."""
    report_progress("comparing before and after")
    run_account = RunAccount(
        title=policy.title,
        certificate=body,
        original=original,
        published_data=published_data,
        details=release.details,
        advice=list_advice(body, release, in_order=policy.output.order == "as_read"),
        seconds=seconds,
        source=original.source if isinstance(original, Table) else hide_password(policy.data.path),
        sections=make_sections(policy.methods, release, original, published_data, body["utility"]),
    )
    return add_column_facts(run_account, release) if isinstance(published_data, Table) else run_account


def gather_outgoing_account(certificate: Mapping[str, Any], published_data: Any) -> RunAccount:
    """Gather the content of the public report, from the certificate and the released data alone."""
    run_account = RunAccount(
        title=certificate["title"],
        certificate=certificate,
        published_data=published_data,
        sections=build_outgoing_sections(read_laws(certificate["public"]), published_data, certificate["methods"]),
    )
    if not isinstance(published_data, Table):
        return run_account
    tags = {method["method"] for method in certificate["methods"]}
    stars: Literal["suppressed", "class"] = "suppressed" if certificate["suppression"]["rows"] else "class"
    crowds = bool(published_data.quasi_identifying) and hides_in_crowds(tags)
    return replace(
        run_account,
        distributions={
            name: count_published_labels(published_data.frame[name]) for name in published_data.frame.columns
        },
        sizes_after=measure.class_size_counts(published_data, None, stars) if crowds else NO_CLASSES,
    )


def hides_in_crowds(tags: Iterable[str]) -> bool:
    """Whether one of these methods puts people into classes; a method that nobody knows may."""
    kinds = [find_tagged_class("method", tag) for tag in tags]
    return any(kind is None or kind.hides_in_crowds for kind in kinds)


def add_column_facts(run_account: RunAccount, release: Release) -> RunAccount:
    """Add what only a table has: its columns and, where people can be linked, their classes."""
    original, published_table = run_account.original, run_account.published_data
    names = published_table.quasi_identifying
    value_columns = list_value_columns(release, published_table, original)
    labelled_columns = set(names) - value_columns
    run_account = replace(
        run_account,
        value_columns=value_columns,
        distributions={
            name: measure.distribution(
                original.frame[name],
                published_table.frame[name],
                original.hierarchies.get(name) if name in labelled_columns else None,
            )
            for name in published_table.frame.columns
        },
    )
    if not names or release.list_readable_columns() != names or release.details.get_family(EntryDetails) is not None:
        return run_account
    run_account = replace(run_account, original_linking=link_originals(original))
    if not hides_in_crowds(str(method["method"]) for method in run_account.certificate["methods"]):
        return run_account
    return replace(
        run_account,
        sizes_before=measure.class_size_counts(original),
        sizes_after=measure.class_size_counts(published_table, None, classify_starred_rows(release)),
    )
