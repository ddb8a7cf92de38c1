# SPDX-License-Identifier: MIT
"""Methods for numbers with noise added."""
