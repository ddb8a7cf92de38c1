# SPDX-License-Identifier: MIT
"""Where counting runs."""
