# SPDX-License-Identifier: MIT
"""Attacks on data encoded for somebody else to mine."""
