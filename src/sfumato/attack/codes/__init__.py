# SPDX-License-Identifier: MIT
"""Attacks on data encoded for outsourced mining."""
