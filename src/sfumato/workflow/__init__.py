# SPDX-License-Identifier: MIT
"""From a policy to a signed release: policy, pipeline, outgoing facts, gate, certificate, folder, audit, compare."""
