# SPDX-License-Identifier: MIT
"""What an analyst computes from numbers with noise added."""
