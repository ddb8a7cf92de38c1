# SPDX-License-Identifier: MIT
"""Attacks on randomized answers."""
