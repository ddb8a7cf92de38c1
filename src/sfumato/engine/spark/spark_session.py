# SPDX-License-Identifier: MIT
"""The Spark session that counts: the active one, one on the named master, or as Spark itself is set up."""

from __future__ import annotations

import atexit
import importlib.util
import os
import re
import shutil
import sys
import warnings
from contextlib import suppress
from typing import Any

from sfumato.errors import DataError, spell_install

MASTERS = ("SFUMATO_SPARK_MASTER", "SPARK_MASTER")
_SET_UP = ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME")
_QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_OWN_ERROR = re.compile(r"sfumato\.errors\.\w+: (.*)")
_OTHER_ENGINES = "use --engine duckdb, or --engine memory"


def require_spark() -> None:
    """Stop if pyspark or Java is not there."""
    if importlib.util.find_spec("pyspark") is None:
        raise DataError(f"the engine spark is not installed; run: {spell_install('spark')}, or {_OTHER_ENGINES}")
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        raise DataError(
            f"the engine spark needs Java 17 or later, and there is no java command; install it, or {_OTHER_ENGINES}"
        )


def find_session() -> Any:
    """The session of this process, made if there is none; it lives as long as the process."""
    require_spark()
    # Of pandas, which nothing here uses.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # executors on this machine need the same libraries
    builder = SparkSession.builder.appName("sfumato").config("spark.ui.showConsoleProgress", "false")
    master = next((os.environ[name] for name in MASTERS if os.environ.get(name)), None)
    if master is not None:
        builder = builder.master(master)
        for name, value in list_local_options(master).items():
            builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except Exception as error:  # py4j's, Java's and pyspark's own
        place_text = "as Spark is set up" if master is None else f"on {master}"
        raise DataError(
            f"no Spark session could be started {place_text} ({type(error).__name__}); is Java 17 or later installed, "
            f"and is {MASTERS[0]} right? Otherwise {_OTHER_ENGINES}"
        ) from None
    session.sparkContext.setLogLevel("ERROR")
    # Spark itself would be stopped in the middle, and its master would report that executors fail, one after another.
    atexit.register(_stop_quietly, session)
    return session


def _stop_quietly(session: Any) -> None:
    """Stop a session that the program that ends may have stopped already, together with its JVM."""
    with suppress(Exception):  # py4j's, Java's and pyspark's own: nobody is left to tell
        session.stop()


def list_local_options(master: str) -> dict[str, str]:
    """How Spark runs on this machine alone: without a page, and in JVMs that start soon.

    Rows are counted in Python; half of what JVMs do in a short run is compiling themselves. A user who sets Spark up
    decides about JVMs.
    """
    if not master.startswith("local"):
        return {}
    quiet = {"spark.ui.enabled": "false"}
    if any(os.environ.get(name) for name in _SET_UP):
        return quiet
    return {**quiet, "spark.driver.extraJavaOptions": _QUICK, "spark.executor.extraJavaOptions": _QUICK}


def count_cores(session: Any) -> int:
    """About how many tasks run at once."""
    return int(session.sparkContext.defaultParallelism)


def explain_failure(error: Exception, source: str) -> DataError:
    """What a task of ours said, or else the kind of error alone: Spark's own text may hold a cell."""
    message = _OWN_ERROR.search(str(error))
    if message is not None:
        return DataError(message[1].strip())
    if "maxResultSize" in str(error):
        return DataError(
            f"{source}: more distinct rows came back than spark.driver.maxResultSize allows; raise it, or give columns "
            "of very many values a coarser hierarchy or another role"
        )
    return DataError(f"{source}: Spark could not finish ({type(error).__name__}); its logs say why")
