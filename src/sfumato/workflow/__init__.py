# SPDX-License-Identifier: MIT
"""What happens around a method: what may leave, how an input is committed to."""
