# SPDX-License-Identifier: MIT
"""Measures of confidential values exchanged among people."""
