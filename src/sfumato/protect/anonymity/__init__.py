# SPDX-License-Identifier: MIT
"""Methods that hide people in equivalence classes: k-anonymity, l-diversity, t-closeness and related models."""
