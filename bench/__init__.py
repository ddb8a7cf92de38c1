# SPDX-License-Identifier: MIT
"""Benchmarks against peers or a naive implementation, in one run: `make bench`."""
