# SPDX-License-Identifier: MIT
"""Methods that exchange confidential values among people."""
