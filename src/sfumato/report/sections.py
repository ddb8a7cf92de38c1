# SPDX-License-Identifier: MIT
"""What only one kind of method has to show: each part of the report is made here from what the method decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.release import Release
from sfumato.report.account import Section


def sections(release: Release, original: Any, published: Any, body: Mapping[str, Any]) -> tuple[Section, ...]:
    """The parts of a report that belong to the methods of a release."""
    return ()
