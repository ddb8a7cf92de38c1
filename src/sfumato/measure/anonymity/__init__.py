# SPDX-License-Identifier: MIT
"""Measures of k-anonymity, l-diversity, t-closeness and related models."""
