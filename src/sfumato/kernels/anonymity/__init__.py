# SPDX-License-Identifier: MIT
"""Hot loops for people hidden in crowds: k-anonymity, l-diversity, t-closeness and related models."""
