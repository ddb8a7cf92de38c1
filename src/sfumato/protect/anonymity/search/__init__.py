# SPDX-License-Identifier: MIT
"""The search over levels and cuts: rows grouped at a node, its cost, and what is known without looking."""
