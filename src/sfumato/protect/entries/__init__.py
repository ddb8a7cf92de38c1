# SPDX-License-Identifier: MIT
"""Methods for private entries of a table, and the rules by which the rest predicts them."""
