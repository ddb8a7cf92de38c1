# SPDX-License-Identifier: MIT
"""From a policy to a signed release: policy, pipeline, what may leave, gate, certificate, folder, audit, compare."""
