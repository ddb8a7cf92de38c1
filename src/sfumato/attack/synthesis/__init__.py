# SPDX-License-Identifier: MIT
"""Attacks on synthetic rows."""
