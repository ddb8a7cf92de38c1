# SPDX-License-Identifier: MIT
"""The pictures of the report."""
