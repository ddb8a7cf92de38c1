# SPDX-License-Identifier: MIT
"""Measures of private entries of a table, and of the rules that predict them."""
