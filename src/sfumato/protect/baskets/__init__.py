# SPDX-License-Identifier: MIT
"""Methods for baskets, items and association rules."""
