# SPDX-License-Identifier: MIT
"""Invented data: people, movements, and the people of IBM's Quest generator."""
