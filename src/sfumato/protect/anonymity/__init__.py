# SPDX-License-Identifier: MIT
"""Methods for people hidden in crowds: k-anonymity, l-diversity, t-closeness and related models."""
