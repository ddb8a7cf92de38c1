# SPDX-License-Identifier: MIT
"""Measures of private entries of a table, and the rules by which the rest foretells them."""
