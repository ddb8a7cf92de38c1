# SPDX-License-Identifier: MIT
"""The few hot loops: arrays in, arrays out, nothing else."""
