# SPDX-License-Identifier: MIT
"""Attacks on private entries of a table."""
