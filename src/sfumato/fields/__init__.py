# SPDX-License-Identifier: MIT
"""The fields of methods, attacks and models: their docs, their tags, and what is wrong with a value."""
