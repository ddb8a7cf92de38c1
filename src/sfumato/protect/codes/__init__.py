# SPDX-License-Identifier: MIT
"""Methods for data encoded for somebody else to mine."""
