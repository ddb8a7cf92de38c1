# SPDX-License-Identifier: MIT
"""Methods that encode data for somebody else to mine."""
