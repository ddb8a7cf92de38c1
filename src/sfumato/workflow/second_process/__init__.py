# SPDX-License-Identifier: MIT
"""A second process that works while the run goes on."""
