# SPDX-License-Identifier: MIT
"""A complete policy for a file, to start from: `sfumato init`."""
