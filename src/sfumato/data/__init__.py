# SPDX-License-Identifier: MIT
"""Files and columns: reading, writing, roles, hierarchies, discretization, generators."""
