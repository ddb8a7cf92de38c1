# SPDX-License-Identifier: MIT
"""Measurements side by side with peers or the naive way, in one run: `make bench`."""
