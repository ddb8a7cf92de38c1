# SPDX-License-Identifier: MIT
"""Attacks on published patterns and what their supports give away."""
