# SPDX-License-Identifier: MIT
"""The sections of a policy file, and what is checked before any work starts."""
