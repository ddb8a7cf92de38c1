# SPDX-License-Identifier: MIT
"""More sentences that an auditor found to be false or unclear, each with what showed it."""

from __future__ import annotations

import numpy as np

import sfumato as sf
from sfumato.report.pictures.number_bins import choose_bins


def test_ranges_are_named_with_the_digits_of_their_ends() -> None:
    """Ranges 2.5 wide were "-15 to -12" and "-12 to -10"."""
    bins = choose_bins(np.linspace(-14.9, 9.9, 40), 10)
    assert bins is not None
    assert bins.labels[:2] == ("-15 to -12.5", "-12.5 to -10")
    for label, edge in zip(bins.labels, bins.edges, strict=False):
        assert float(label.split(" to ")[0]) == edge
    thousandths = choose_bins(np.linspace(0.001, 0.0099, 40), 4)
    assert thousandths is not None and thousandths.labels[0] == "0 to 0.0025"


def test_the_class_of_iso_20889_is_that_of_the_chosen_option() -> None:
    noise = sf.AddNoise(columns="age", ranges={"age": (0, 120)})
    assert noise.iso_20889 == "randomization (noise addition)"
    assert noise.model_copy(update={"kind": "discretize"}).iso_20889 == "generalization (intervals)"
    assert "keyed hashing" in sf.EncodeBloom().iso_20889
    assert "without a key" in sf.EncodeBloom(keyed=False).iso_20889
    assert "permutation" not in sf.SwapConfidential(column="ill", share=0.5, search="proportional").iso_20889
