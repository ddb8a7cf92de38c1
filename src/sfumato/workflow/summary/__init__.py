# SPDX-License-Identifier: MIT
"""What a run found: utility, suppression, advice, alternatives that lose less."""
