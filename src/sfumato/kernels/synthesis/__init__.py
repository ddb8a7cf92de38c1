# SPDX-License-Identifier: MIT
"""Hot loops for synthetic rows."""
