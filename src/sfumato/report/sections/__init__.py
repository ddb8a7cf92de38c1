# SPDX-License-Identifier: MIT
"""The sections of the report for families of methods."""
