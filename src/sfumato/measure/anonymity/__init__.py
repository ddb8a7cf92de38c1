# SPDX-License-Identifier: MIT
"""Measures of people hidden in crowds: k-anonymity, l-diversity, t-closeness and related models."""
