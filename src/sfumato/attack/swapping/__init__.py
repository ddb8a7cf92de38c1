# SPDX-License-Identifier: MIT
"""Attacks on confidential values exchanged among people."""
