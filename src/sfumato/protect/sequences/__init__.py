# SPDX-License-Identifier: MIT
"""Methods for sequences and trajectories."""
