# SPDX-License-Identifier: MIT
"""Mining of sequences and trajectories."""
