# SPDX-License-Identifier: MIT
"""Write tables to files: what a format cannot hold, spreadsheets, and nothing that is not meant to be published."""
