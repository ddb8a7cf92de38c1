# SPDX-License-Identifier: MIT
"""Methods for synthetic rows."""
