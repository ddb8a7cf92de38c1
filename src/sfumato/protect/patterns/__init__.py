# SPDX-License-Identifier: MIT
"""Methods for published patterns and what their supports disclose."""
