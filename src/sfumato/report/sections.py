# SPDX-License-Identifier: MIT
"""What only one kind of method has to show: each part of the report is made from what the method decided."""

from __future__ import annotations

from typing import Any

from sfumato.release import Release
from sfumato.report.account import Section
from sfumato.table import Table


def sections(release: Release, original: Any, published: Any) -> tuple[Section, ...]:
    """The parts of a report that belong to the methods of a release."""
    made = []
    if "derived" in release.details and isinstance(published, Table):
        from sfumato.report.entry_section import entry_section

        made.append(entry_section(release, published))
    return tuple(made)
