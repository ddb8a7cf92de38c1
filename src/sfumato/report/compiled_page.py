# SPDX-License-Identifier: MIT
"""The page of the report as compiled code, kept where Python keeps that of our modules.

jinja2 compares a digest of the page before it uses what was kept. What else decides the code is in the file's name: the
versions of Python and jinja2, and a digest of the module that sets the page's options.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path

import jinja2
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket


class CompiledPage(BytecodeCache):
    """Keeps compiled pages next to the compiled modules of this package; none if that folder cannot be written."""

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take what was kept, if it is whole."""
        with suppress(OSError, EOFError, pickle.UnpicklingError):
            bucket.bytecode_from_string(_find_file(bucket).read_bytes())

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled, at once or not at all."""
        if sys.dont_write_bytecode:
            return
        cache_file = _find_file(bucket)
        partial_file = cache_file.with_name(f"{cache_file.name}.{os.getpid()}")
        with suppress(OSError):
            cache_file.parent.mkdir(exist_ok=True)
            partial_file.write_bytes(bucket.bytecode_to_string())
            partial_file.replace(cache_file)


def _find_file(bucket: Bucket) -> Path:
    options = hashlib.sha256(Path(__file__).with_name("page.py").read_bytes()).hexdigest()[:8]
    folder = Path(cache_from_source(__file__)).parent
    return folder / f"page.{bucket.key[:8]}.{options}.jinja-{jinja2.__version__}.{sys.implementation.cache_tag}"
