# SPDX-License-Identifier: MIT
"""Read tables from files and databases, strictly, also if they are damaged or hostile."""
