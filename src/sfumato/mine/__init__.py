# SPDX-License-Identifier: MIT
"""What an analyst or an adversary does with data: find rules and patterns in it, plain functions each."""
