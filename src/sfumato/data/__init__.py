# SPDX-License-Identifier: MIT
"""Everything about files and columns: reading, writing, roles, hierarchies, discretizing, generators."""
