# SPDX-License-Identifier: MIT
"""Measures of data encoded for outsourced mining."""
