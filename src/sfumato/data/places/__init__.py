# SPDX-License-Identifier: MIT
"""Regions, and trajectories turned into sequences of regions."""
