# SPDX-License-Identifier: MIT
"""What the cells of a column are: numbers, dates, codes, marks for missing values, private entries."""
