# SPDX-License-Identifier: MIT
"""Methods that encode data for someone else to mine."""
