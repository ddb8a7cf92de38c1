# SPDX-License-Identifier: MIT
"""Public knowledge about a release, for methods, miners and attacks: probability laws, thresholds, keys."""
