# SPDX-License-Identifier: MIT
"""What an analyst computes from private entries of a table, and the rules by which the rest foretells them."""
