# SPDX-License-Identifier: MIT
"""Mining of published patterns and what their supports reveal."""
