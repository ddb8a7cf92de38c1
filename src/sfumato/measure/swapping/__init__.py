# SPDX-License-Identifier: MIT
"""Measures of swapped confidential values."""
