# SPDX-License-Identifier: MIT
"""Synthetic data: Adult beside the peers of the registry, what `min_leaf` costs, and growth.

Peers are not part of the project. Install them into a folder of their own and name it:

    pip install --target PEERS --no-deps sdv copulas rdt sdmetrics ctgan deepecho python-synthpop "pandas<3" \
        python-dateutil pytz tzdata six faker plotly narwhals packaging platformdirs pyyaml graphviz cloudpickle tqdm \
        boto3 botocore jmespath s3transfer urllib3
    pip install --target SEQUENTIAL --no-deps py-synthpop
    SFUMATO_PEERS=PEERS:SEQUENTIAL python -m bench synthesize

SDV's Gaussian copula needs no torch; two peers share the name of their package, hence two folders. A peer that is not
there is reported, and left out.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import sfumato as sf
from bench.timing import shared_data, show
from sfumato.measure.synthesis.synthesis_checks import compare_with_holdout, exact_copies, pairwise_total_variation
from sfumato.protect.synthesis.synthesize import Synthesize
from sfumato.randomness import Randomness

NAMES = (
    "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation", "relationship", "race",
    "sex", "capital_gain", "capital_loss", "hours_per_week", "native_country", "income",
)  # fmt: skip
SEEDS = (1, 2, 3, 4, 5)  # a single one is lucky or not: the spread is as large as the gap to the best peer
NUMBERS = ("age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours_per_week")

COPULA = """
import sys, time, warnings
warnings.simplefilter("ignore")
import pandas as pd
from sdv.metadata import Metadata
from sdv.single_table import GaussianCopulaSynthesizer
data = pd.read_csv(sys.argv[1])
begun = time.perf_counter()
kinds = {name: {"sdtype": "categorical" if data[name].dtype == object else "numerical"} for name in data.columns}
metadata = Metadata.load_from_dict({"tables": {"adult": {"columns": kinds}}, "relationships": []})
model = GaussianCopulaSynthesizer(metadata)
model.fit({"adult": data})
drawn = model.sample(len(data))
drawn = drawn["adult"] if isinstance(drawn, dict) else drawn
print("seconds", time.perf_counter() - begun)
drawn.to_csv(sys.argv[2], index=False)
"""

CART = """
import sys, time, warnings, logging
warnings.simplefilter("ignore")
import numpy as np, pandas as pd
from synthpop import CARTMethod
np.random.seed(1)
data = pd.read_csv(sys.argv[1])
words = [name for name in data.columns if data[name].dtype == object]
begun = time.perf_counter()
known = {name: pd.Categorical(data[name]) for name in words}
coded = data.assign(**{name: known[name].codes for name in words})
model = CARTMethod({name: "categorical" if name in words else "numerical" for name in data.columns}, minibucket=5)
model.fit(coded)
drawn = model.sample(len(data))
back = {n: known[n].categories.to_numpy()[drawn[n].astype(int)] for n in words}
back = {n: np.where(drawn[n].astype(int) < 0, None, back[n]) for n in words}
drawn = drawn.assign(**back)
print("seconds", time.perf_counter() - begun)
drawn.to_csv(sys.argv[2], index=False)
"""

SEQUENTIAL = """
import sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np, pandas as pd
pd.Series.iteritems = pd.Series.items  # it was written for pandas 1
from synthpop import Synthpop
np.random.seed(1)
data = pd.read_csv(sys.argv[1])
words = [name for name in data.columns if data[name].dtype == object]
data = data.assign(**{name: data[name].fillna("?").astype("category") for name in words})  # as a word of its own
begun = time.perf_counter()
model = Synthpop(seed=1)
model.fit(data, {name: "category" if name in words else "int" for name in data.columns})
drawn = model.generate(len(data)).replace("?", None)
print("seconds", time.perf_counter() - begun)
drawn.to_csv(sys.argv[2], index=False)
"""

PEERS = (
    ("SDV, Gaussian copula", "sdv", COPULA),
    ("py-synthpop, sequential CART of 5", "synthpop/synthpop.py", SEQUENTIAL),
    ("python-synthpop, CART of 5 (each column from the true others)", "synthpop/method/GC.py", CART),
)


def main() -> None:
    folder = shared_data()
    if folder is None:
        print("synthesize: no real data (set SFUMATO_DATA), Adult skipped")
    else:
        table = adult(folder)
        _beside_peers(table)
        _leaves(table)
        _growth(table)


def adult(folder: Path) -> sf.Table:
    """Both files, 48,842 people and 15 columns; "?" is missing."""
    parts = [
        pl.read_csv(folder / "adult" / name, has_header=False, new_columns=list(NAMES), comment_prefix="|",
                    infer_schema=False).with_columns(pl.all().str.strip_chars())
        for name in ("adult.data", "adult.test")
    ]  # fmt: skip
    frame = pl.concat(parts).filter(pl.col("age").str.len_chars() > 0)
    frame = frame.with_columns(pl.col("income").str.strip_suffix("."), pl.col(NUMBERS).cast(pl.Int64))
    frame = frame.with_columns(pl.when(pl.col(pl.String) != "?").then(pl.col(pl.String)))
    roles = dict.fromkeys(NAMES[:-1], "quasi_identifying") | {"income": "sensitive"}
    return sf.Table.of(frame, roles)


def _beside_peers(table: sf.Table) -> None:
    rows: list[tuple[object, ...]] = []
    for label, method in (
        ("sfumato, leaves of 5 as the peers, no holdout", Synthesize(min_leaf=5, holdout=0.0)),
        ("sfumato, as it is: leaves of 10, a fifth set aside", Synthesize()),
    ):
        method.protect(table.replace_frame(table.frame[:500]), Randomness.seeded(1))  # what is loaded once
        judgements = []
        for seed in SEEDS:
            start = time.perf_counter()
            release = method.protect(table, Randomness.seeded(seed))
            judgements.append(_judge_frame(label, time.perf_counter() - start, table, release.data.frame))
        distances = [float(str(judgement[2])) for judgement in judgements]
        mean = f"{sum(distances) / len(distances):.4f} ({min(distances):.4f} to {max(distances):.4f})"
        rows.append(
            (
                label,
                min(str(judgement[1]) for judgement in judgements),
                mean,
                max(str(judgement[3]) for judgement in judgements),
            )
        )
    for label, module, program in PEERS:
        peer = _peer(table, module, program)
        rows.append((label, "not installed", "", "") if peer is None else _judge_frame(label, peer[0], table, peer[1]))
    chance = np.random.default_rng(1)
    resample = table.frame[chance.integers(0, len(table), len(table))]
    floor = pairwise_total_variation(table, table.replace_frame(resample))
    rows.append(("(people drawn with replacement: chance alone)", "", f"{floor:.4f}", ""))
    head = ("way", "seconds", "pairwise total variation", "copies of unique people")
    show(f"Adult ({len(table):,} people, {table.frame.width} columns), as many rows drawn", head, rows)


def _judge_frame(label: str, seconds: float, table: sf.Table, frame: pl.DataFrame) -> tuple[object, ...]:
    synthetic_table = table.replace_frame(frame.select(table.frame.columns).cast(dict(table.frame.schema)))  # type: ignore[arg-type]
    distance = pairwise_total_variation(table, synthetic_table)
    return label, f"{seconds:.2f}", f"{distance:.4f}", f"{exact_copies(synthetic_table, table).unique_rows:,}"


def _peer(table: sf.Table, module: str, program: str) -> tuple[float, pl.DataFrame] | None:
    """A peer in a process of its own, with its own packages first; None where it is not there or fails."""
    places = [folder_name for folder_name in os.environ.get("SFUMATO_PEERS", "").split(os.pathsep) if folder_name]
    found_folders = [folder_name for folder_name in places if (Path(folder_name) / module).exists()]
    if not found_folders:
        return None
    with tempfile.TemporaryDirectory() as folder:
        input_path, output_path = Path(folder) / "in.csv", Path(folder) / "out.csv"
        table.frame.write_csv(input_path)
        ran = subprocess.run(
            [sys.executable, "-c", program, str(input_path), str(output_path)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([*found_folders, *places])},
            capture_output=True,
            text=True,
            check=False,
        )
        if ran.returncode:
            print(f"synthesize: {module} failed: {ran.stderr.strip().splitlines()[-1][:200]}")
            return None
        seconds = float(ran.stdout.split("seconds")[-1])
        return seconds, pl.read_csv(output_path, infer_schema_length=None, null_values=["", "nan"])


def _leaves(table: sf.Table) -> None:
    rows = []
    for fewest in (5, 10, 20, 50, 100):
        method = Synthesize(min_leaf=fewest, holdout=0.5)
        start = time.perf_counter()
        release = method.protect(table, Randomness.seeded(1))
        seconds = time.perf_counter() - start
        start = time.perf_counter()
        holdout_result = compare_with_holdout(release.data, table, release.details["holdout"])
        closest = holdout_result.closest
        rows.append(
            (
                fewest,
                f"{seconds:.2f} s",
                f"{pairwise_total_variation(table, release.data):.4f}",
                f"{closest.nearer:.3f}",
                f"{closest.training_5th:.5f} / {closest.holdout_5th:.5f}",
                f"{release.losses['redrawn_rows']}",
                f"{time.perf_counter() - start:.1f} s",
            )
        )
    head = ("min_leaf", "protect()", "pairwise TV", "nearer to training", "5th percentile, training / hold-out",
            "redrawn copies", "judging 20,000 rows")  # fmt: skip
    show("Half of the people set aside: what the smallest leaf costs, and what it saves", head, rows)


def _growth(table: sf.Table) -> None:
    rows: list[tuple[object, ...]] = []
    for times in (1, 4, 16):
        big = table.replace_frame(_grow_frame(table.frame, times))
        start = time.perf_counter()
        Synthesize(holdout=0.0).protect(big, Randomness.seeded(1))
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append((f"{len(big):,}", f"{seconds:.1f} s", f"{1e6 * seconds / len(big):.0f} s", f"{peak:.0f} MB"))
    show("Growth", ("people", "protect()", "for a million", "peak memory of the process"), rows)


def _grow_frame(frame: pl.DataFrame, times: int) -> pl.DataFrame:
    """More people of the same kind: repeated, with another weight and age each."""
    chance = np.random.default_rng(times)
    many = pl.concat([frame] * times)
    age_shifts = pl.Series(chance.integers(-2, 3, many.height))
    weight = pl.Series(chance.normal(1.0, 0.1, many.height))
    return many.with_columns((pl.col("age") + age_shifts).clip(17, 90), (pl.col("fnlwgt") * weight).cast(pl.Int64))


if __name__ == "__main__":
    main()
