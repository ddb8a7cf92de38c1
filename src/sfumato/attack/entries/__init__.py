# SPDX-License-Identifier: MIT
"""Attacks on private entries of a table, and the rules by which the rest foretells them."""
