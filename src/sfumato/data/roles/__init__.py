# SPDX-License-Identifier: MIT
"""Roles of columns, and proposals for them."""
