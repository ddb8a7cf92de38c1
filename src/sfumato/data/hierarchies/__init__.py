# SPDX-License-Identifier: MIT
"""Hierarchies of values, proposals for them, and labels: sets, ranges and groups of values."""
