# SPDX-License-Identifier: MIT
"""Hot loops for private entries of a table, and the rules that predict them."""
