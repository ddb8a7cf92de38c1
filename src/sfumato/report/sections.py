# SPDX-License-Identifier: MIT
"""What only one kind of method has to show: each part of the report is made from what the method decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.baskets import Baskets
from sfumato.patterns import Patterns
from sfumato.protect.codes.encode_for_trees import EncodeForTrees
from sfumato.release import Release
from sfumato.report.account import Section
from sfumato.table import Table


def outgoing_sections(public: Mapping[str, Any], published: Any) -> tuple[Section, ...]:
    """What an analyst can estimate where chance changed columns: made from the release alone."""
    if not isinstance(published, Table) or all(law["kind"] == "synthetic" for law in public.values()):
        return ()
    from sfumato.report.noise_section import estimates_section

    return (estimates_section(public, published),)


def sections(release: Release, original: Any, published: Any, utility: Mapping[str, float]) -> tuple[Section, ...]:
    """The parts of a report that belong to the methods of a release."""
    made = []
    if "derived" in release.details and isinstance(published, Table):
        from sfumato.report.entry_section import entry_section

        made.append(entry_section(release, original, published))
    if "sensitive" in release.details and isinstance(published, Baskets):
        from sfumato.report.hiding_section import hiding_section

        made.append(hiding_section(release, original, published, utility))
    if isinstance(published, Table) and any(told["kind"] != "synthetic" for told in release.public.values()):
        from sfumato.report.noise_section import filtered_section

        made.append(filtered_section(release, original, published))
    if len(release.details.get("holdout", ())) and isinstance(published, Table):
        from sfumato.report.synthesis_section import synthesis_section

        made.append(synthesis_section(release, original, published))
    if isinstance(release.method, EncodeForTrees):
        from sfumato.report.code_section import code_section

        made.append(code_section(release, original))
    if isinstance(published, Patterns):
        from sfumato.report.hiding_section import pattern_section

        made.append(pattern_section(release, original, published))
    return tuple(made)
