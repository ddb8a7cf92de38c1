# SPDX-License-Identifier: MIT
"""Privacy models: conditions that every published class must satisfy."""
