# SPDX-License-Identifier: MIT
"""Hot loops for published patterns and what their supports reveal."""
