# SPDX-License-Identifier: MIT
"""Mining of tables protected by k-anonymity, l-diversity, t-closeness and related models."""
