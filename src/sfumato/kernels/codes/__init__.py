# SPDX-License-Identifier: MIT
"""Hot loops for data encoded for outsourced mining."""
