# SPDX-License-Identifier: MIT
"""Cutting a table into parts of similar people."""
