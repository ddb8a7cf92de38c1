# SPDX-License-Identifier: MIT
"""Methods for confidential values exchanged among people."""
