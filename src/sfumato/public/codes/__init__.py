# SPDX-License-Identifier: MIT
"""Formats of codes, and how well they can be cracked: known to everybody who has the release."""
