# SPDX-License-Identifier: MIT
"""Every measurement, or those named: `python -m bench [startup|classes|generalize …]`."""

from __future__ import annotations

import subprocess
import sys

ALL = (
    "startup", "whole_run", "classes", "generalize", "anonymity", "partition", "k_optimize", "microaggregate",
    "adversarial_rules", "suppress_entries", "truth", "linking", "itemsets", "hiding", "patterns", "encode_for_trees",
    "c45", "encode_items", "round_trip", "sequences", "sequence_runs", "swapping", "answers", "reconstruction",
    "spectral", "trees_on_noise", "synthesize", "rebuild", "randomness", "randomize_baskets", "parties",
    "parties_vertical", "scale", "entries_scale",
)  # fmt: skip


def main() -> None:
    """Run each in its own process, so that memory is measured separately."""
    for name in sys.argv[1:] or ALL:
        subprocess.run([sys.executable, "-m", f"bench.{name}"], check=True)


if __name__ == "__main__":
    main()
