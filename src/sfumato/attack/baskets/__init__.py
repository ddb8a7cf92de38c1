# SPDX-License-Identifier: MIT
"""Attacks on baskets, items and association rules."""
