# SPDX-License-Identifier: MIT
"""What an analyst computes from people hidden in crowds: k-anonymity, l-diversity, t-closeness and related models."""
