# SPDX-License-Identifier: MIT
"""Measures of published patterns and what their supports reveal."""
