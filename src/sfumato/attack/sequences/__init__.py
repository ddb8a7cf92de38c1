# SPDX-License-Identifier: MIT
"""Attacks on sequences and trajectories."""
