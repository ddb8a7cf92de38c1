# SPDX-License-Identifier: MIT
"""Baskets, sequences, patterns and rules on disk."""
