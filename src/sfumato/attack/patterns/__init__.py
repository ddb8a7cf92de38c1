# SPDX-License-Identifier: MIT
"""Attacks on published patterns and their supports."""
