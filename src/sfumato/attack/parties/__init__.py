# SPDX-License-Identifier: MIT
"""Attacks on protocols by which sites mine together."""
