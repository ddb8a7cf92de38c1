# SPDX-License-Identifier: MIT
"""What the original people whom a published row could be about tell about a sensitive column.

If an empty cell matches anything, a class is all rows that agree wherever both are known, and some empty rows with
different diseases make every class of them diverse. A row could be about the people of the originals who have all the
values that it shows: a model that holds among them holds whatever other rows leave out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sfumato.errors import DataError, PolicyError
from sfumato.measure.anonymity.class_tally import ClassTally, number_sorted_values
from sfumato.measure.anonymity.crowd_sizes import StarredRows, read_starred_rows
from sfumato.measure.anonymity.fitting_people import group_published_rows, iterate_fitting, require_original_columns
from sfumato.measure.checks import CHECKS, Evidence, checks_claim
from sfumato.release import Number
from sfumato.table import Table

_CLASS_ARGUMENTS = {"column", "starred_rows"}
"""What a check takes that measures the values of a column in each class."""


def tally_fitting_values(
    published_table: Table, original: Table, column: str, starred_rows: StarredRows = "class"
) -> ClassTally:
    """The values of a column among the original people who fit each published combination; one that fits nobody is
    left out. The classes overlap, and are compared with the whole table of originals.
    """
    names = require_original_columns(published_table, original)
    if column not in original.frame.columns:
        raise DataError(f'{original.source}: there is no column "{column}" to measure')
    codes, labels = number_sorted_values(original.frame[column])
    classes = group_published_rows(published_table, names, starred_rows)
    people = original.frame.select(names).with_row_index("\0row").group_by(names, maintain_order=True).agg("\0row")
    rows = [np.asarray(members, dtype=np.int64) for members in people["\0row"].to_list()]
    values, counts = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for person_indices in iterate_fitting(classes, people, names, original):
        if len(person_indices):
            member_codes = codes[np.concatenate([rows[person] for person in person_indices])]
            present, count = np.unique(member_codes, return_counts=True)
            values.append(present)
            counts.append(count)
    lengths = np.array([len(present) for present in values[1:]], dtype=np.int64)
    overall = np.bincount(codes, minlength=len(labels)).astype(np.int64)
    starts = np.cumsum(lengths) - lengths
    return ClassTally(np.concatenate(values), np.concatenate(counts), starts, overall, labels)


@checks_claim("fitting_values", "at_least", "at_most", "below", needs_original=True)
def _check_fitting_values(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    column, model = arguments["column"], arguments["of"]
    check, starred_rows = CHECKS.get(model), read_starred_rows(arguments)
    if check is None or not check.arguments >= _CLASS_ARGUMENTS:
        raise PolicyError(f'the claim about "{column}" names "{model}", which measures no values in classes')
    tally = tally_fitting_values(evidence.published_data, evidence.original, column, starred_rows)
    # The check of the model itself, with other classes; ranks are those of the originals.
    return check(replace(evidence, published_data=evidence.original, class_tally=tally), arguments)
