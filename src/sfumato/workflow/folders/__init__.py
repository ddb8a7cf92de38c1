# SPDX-License-Identifier: MIT
"""Release folders on disk: written whole or not at all, and what a killed run leaves."""
