# SPDX-License-Identifier: MIT
"""Hot loops for baskets, items and association rules."""
