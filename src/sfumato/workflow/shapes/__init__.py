# SPDX-License-Identifier: MIT
"""How each shape of data is written and read back."""
