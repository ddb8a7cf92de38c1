# SPDX-License-Identifier: MIT
"""Protocols between sites: union, sums, comparisons, scalar products, alignment."""
