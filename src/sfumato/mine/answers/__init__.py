# SPDX-License-Identifier: MIT
"""Mining of randomized answers."""
