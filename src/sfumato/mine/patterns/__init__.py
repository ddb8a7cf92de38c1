# SPDX-License-Identifier: MIT
"""What an analyst computes from published patterns and what their supports give away."""
