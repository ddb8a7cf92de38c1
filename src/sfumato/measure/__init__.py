# SPDX-License-Identifier: MIT
"""Measures: what a table gives away, and what a release costs; none of it shares code with a method."""

from sfumato.measure.checks import CHECKS, Evidence, measured
from sfumato.measure.classes import crowds
from sfumato.measure.privacy import anonymity, class_size_counts, k_anonymity, suppressed_share, uniqueness
from sfumato.measure.truth import untrue_cells
from sfumato.measure.utility import (
    average_class_size,
    column_loss,
    discernibility,
    distribution,
    domain_of,
    loss,
    suppressed_rows,
    total_variation,
)

__all__ = [
    "CHECKS",
    "Evidence",
    "anonymity",
    "average_class_size",
    "class_size_counts",
    "column_loss",
    "crowds",
    "discernibility",
    "distribution",
    "domain_of",
    "k_anonymity",
    "loss",
    "measured",
    "suppressed_rows",
    "suppressed_share",
    "total_variation",
    "uniqueness",
    "untrue_cells",
]
