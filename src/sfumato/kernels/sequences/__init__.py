# SPDX-License-Identifier: MIT
"""Hot loops for sequences and trajectories."""
