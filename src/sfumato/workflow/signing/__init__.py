# SPDX-License-Identifier: MIT
"""The bytes of a certificate, its signature, and the commitment to the input."""
