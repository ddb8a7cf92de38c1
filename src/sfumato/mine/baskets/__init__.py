# SPDX-License-Identifier: MIT
"""Mining of baskets, items and association rules."""
