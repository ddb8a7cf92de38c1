# SPDX-License-Identifier: MIT
"""The pipeline for data that stay in their files."""
