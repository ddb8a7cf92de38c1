# SPDX-License-Identifier: MIT
"""How a run behaves: progress, stop signals, imports on first use."""
