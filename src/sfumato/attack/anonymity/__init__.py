# SPDX-License-Identifier: MIT
"""Attacks on people hidden in crowds: k-anonymity, l-diversity, t-closeness and related models."""
