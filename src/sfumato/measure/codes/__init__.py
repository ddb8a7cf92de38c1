# SPDX-License-Identifier: MIT
"""Measures of data encoded for somebody else to mine."""
