# SPDX-License-Identifier: MIT
"""Measures of randomized answers."""
