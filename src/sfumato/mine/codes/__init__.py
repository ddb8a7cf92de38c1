# SPDX-License-Identifier: MIT
"""What an analyst computes from data encoded for somebody else to mine."""
