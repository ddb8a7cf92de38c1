# SPDX-License-Identifier: MIT
"""What tests with Spark need: a reason to be skipped, and where their processes start."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

# Jobs this small are done before compiled code pays.
QUICK = (
    "--driver-java-options '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' --conf spark.sql.codegen.wholeStage=false "
    "--conf spark.sql.codegen.factoryMode=NO_CODEGEN --conf spark.sql.shuffle.partitions=2"
)


def require_spark_or_skip() -> None:
    """Skip with a reason where there is no Spark."""
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip('pyspark is not installed (make spark, or pip install ".[spark]")')
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        pytest.skip("there is no java command; Spark needs Java 17")


@contextmanager
def open_session(options: str = "", master: str = "local[1]") -> Iterator[Any]:
    """A session in this process, with further options for Spark."""
    require_spark_or_skip()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SFUMATO_SPARK_MASTER", master)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYSPARK_SUBMIT_ARGS", f"{QUICK} {options} pyspark-shell")
        from sfumato.engine.spark.spark_session import find_session

        spark_session = find_session()
        yield spark_session
        spark_session.stop()
        _stop_jvm()


def _stop_jvm() -> None:
    """End the JVM that sessions share: the options of the next one are read when a JVM starts."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    assert gateway is not None
    gateway.shutdown()
    gateway.proc.stdin.close()  # it ends when nobody can write to it
    gateway.proc.wait(timeout=60)
    SparkContext._gateway = SparkContext._jvm = None
