# SPDX-License-Identifier: MIT
"""Methods that add noise to numbers."""
