# SPDX-License-Identifier: MIT
"""What an analyst computes from randomized answers."""
