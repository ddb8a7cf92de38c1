# SPDX-License-Identifier: MIT
"""Measures of sequences and trajectories."""
