# SPDX-License-Identifier: MIT
"""Mining of numbers with noise added."""
