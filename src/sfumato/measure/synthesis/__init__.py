# SPDX-License-Identifier: MIT
"""Measures of synthetic rows."""
