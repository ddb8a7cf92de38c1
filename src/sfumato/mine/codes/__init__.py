# SPDX-License-Identifier: MIT
"""Mining of data encoded for outsourced mining."""
