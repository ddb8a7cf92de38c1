# SPDX-License-Identifier: MIT
"""Attacks on numbers with noise added."""
