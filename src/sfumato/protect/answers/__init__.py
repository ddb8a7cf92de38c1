# SPDX-License-Identifier: MIT
"""Methods for randomized answers."""
