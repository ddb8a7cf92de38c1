# SPDX-License-Identifier: MIT
"""Measures of what a release costs an analyst: detail, distributions, queries, moments, learning."""
