# SPDX-License-Identifier: MIT
"""Rows, baskets and tables counted by Spark's executors."""
