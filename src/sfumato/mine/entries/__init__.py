# SPDX-License-Identifier: MIT
"""Mining of tables with private entries, and of the rules that predict them."""
