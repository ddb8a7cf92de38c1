# SPDX-License-Identifier: MIT
"""What tests with Spark need: a reason to be skipped, and where their processes start."""

from __future__ import annotations

import importlib.util
import os
import shutil

import pytest


def require_spark_or_skip() -> None:
    """Skip with a reason where there is no Spark."""
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip('pyspark is not installed (make spark, or pip install "sfumato[spark]")')
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        pytest.skip("there is no java command; Spark needs Java 17")
