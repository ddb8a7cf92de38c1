# SPDX-License-Identifier: MIT
"""Published tables and figures, made again with sfumato: one package per paper, not part of the wheel.

`python -m papers` lists the studies; `python -m papers NAME` runs one, or all of a paper, and writes a page.
"""
