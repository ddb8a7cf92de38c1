# SPDX-License-Identifier: MIT
"""What protocols compute with: a prime field, a group, shared secrets, packed encryption."""
