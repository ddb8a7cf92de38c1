# SPDX-License-Identifier: MIT
"""Attacks on swapped confidential values."""
