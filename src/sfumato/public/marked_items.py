# SPDX-License-Identifier: MIT
"""The mark that a hidden item of a sequence may leave. It is public, and no miner counts it."""

from __future__ import annotations

MARK = "Δ"
