# SPDX-License-Identifier: MIT
"""Measures of numbers with noise added."""
