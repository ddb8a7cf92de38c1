# SPDX-License-Identifier: MIT
"""Messages between sites: frames, connections, TLS, signs of life."""
