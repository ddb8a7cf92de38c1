# SPDX-License-Identifier: MIT
"""What an analyst computes from baskets, items and association rules."""
