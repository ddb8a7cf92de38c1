# SPDX-License-Identifier: MIT
"""Measures of baskets, items and association rules."""
