# SPDX-License-Identifier: MIT
"""What is public knowledge about a release, for methods, miners and attacks alike: laws of chance, thresholds, keys."""
