# SPDX-License-Identifier: MIT
"""Hot loops for numbers with noise added."""
