# SPDX-License-Identifier: MIT
"""The built-in population: invented people, for demonstrations, tests and benchmarks that need no file.

Nobody in it exists. The names are combined from lists of ordinary names, the ZIP codes denote no real place, and no
number is taken from a survey: the tables below were written by hand so that the columns are correlated about as they
are among real people, which is what makes anonymizing hard.

Each step of making a person draws one value from a table of weights that the earlier values select:

1. **zip**: one of six regions (three-digit prefix; two cities, two towns, two rural) and a code in it, 60
   codes in all. Codes are unequal: the first of a region has several times the people of the last. Two
   regions begin with 0.
2. **age**: 18 to 94, from a pyramid by kind of region (cities younger, the country older).
3. **sex**: even among the young, two women to one man past 85.
4. **education**: by cohort and kind of region; the young have studied longer, cities draw the schooled, and
   nobody holds a degree before the age for it.
5. **occupation**: a trade by education and sex, with farms in the country. Then some people under 27 are
   students and most past 65 are retired, which hides the trade but not what it did to their health.
6. **marital_status**: by age; among the old, more women than men are widowed.
7. **salary_level**: points for education, trade and years of work, plus chance, cut into five bands; students
   and the retired have less.
8. **disease**: by age and sex, and by trade: heart disease, diabetes and cancers rise with age, ovarian and
   prostate cancer are bound to sex, bronchitis follows manual work, flu is everywhere.
9. **name**: given name by sex, an initial and a family name; of 20,000 people, two in a hundred share theirs.
10. **missing**: 1.5 % of `education` and of `occupation` are removed at random, independently.

Every draw compares an integer of numpy's PCG64 with integer weights, so that no rounding differs between machines: the
same size and seed give the same people wherever numpy is the same. A population is not a prefix of a larger one: each
step draws for everybody at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Ints
from sfumato.data.roles.vocabulary import FAMILY_NAMES, FEMALE_NAMES, MALE_NAMES
from sfumato.errors import PolicyError

YOUNGEST, OLDEST = 18, 94
MISSING_SHARE = (3, 200)
INITIALS = "ABCDEFGHIJKLMNOPRSTVWZ"

SEXES = ("female", "male")
SALARY_LEVELS = ("under 20k", "20k to 35k", "35k to 50k", "50k to 80k", "80k and over")
EDUCATION = {
    "no diploma": ("basic", "school"),
    "lower secondary": ("basic", "school"),
    "upper secondary": ("secondary", "school"),
    "vocational": ("secondary", "school"),
    "some college": ("undergraduate", "higher"),
    "bachelor": ("undergraduate", "higher"),
    "master": ("postgraduate", "higher"),
    "doctorate": ("postgraduate", "higher"),
}
"""From the least schooling to the most, each with its two coarser groups."""
OCCUPATIONS = {
    "farm worker": "manual",
    "construction worker": "manual",
    "machine operator": "manual",
    "driver": "manual",
    "cleaner": "service",
    "sales clerk": "service",
    "office clerk": "service",
    "nurse": "care and teaching",
    "teacher": "care and teaching",
    "physician": "care and teaching",
    "engineer": "technical and managing",
    "manager": "technical and managing",
    "student": "not working",
    "retired": "not working",
}
MARITAL_STATUSES = {
    "never married": "single",
    "married": "with a partner",
    "registered partner": "with a partner",
    "separated": "formerly married",
    "divorced": "formerly married",
    "widowed": "formerly married",
}
DISEASES = (
    "flu",
    "gastritis",
    "gastric ulcer",
    "stomach cancer",
    "bronchitis",
    "pneumonia",
    "asthma",
    "heart disease",
    "diabetes",
    "depression",
    "ovarian cancer",
    "prostate cancer",
)

CITY, TOWN, COUNTRY = range(3)
REGIONS = (
    # prefix, kind, codes, weight
    ("021", CITY, 14, 30),
    ("060", TOWN, 11, 17),
    ("130", TOWN, 12, 19),
    ("148", COUNTRY, 6, 6),
    ("479", COUNTRY, 8, 10),
    ("850", CITY, 9, 18),
)
CODE_ENDINGS = ("53", "68", "10", "41", "21", "24", "30", "12", "57", "62", "15", "45", "27", "36")

PYRAMID_AGES = (18, 25, 35, 45, 55, 65, 75, 85, 95)
PYRAMID = (
    (95, 120, 115, 100, 90, 66, 40, 13, 1),
    (90, 92, 98, 102, 100, 80, 52, 18, 1),
    (60, 62, 80, 96, 112, 104, 70, 26, 2),
)
"""The relative number of people of each age, by kind of region; linear in between."""

SEX_FROM = (18, 60, 75, 85)
SEX_WEIGHTS = ((50, 50), (53, 47), (58, 42), (66, 34))

COHORT_FROM = (18, 21, 24, 30, 45, 65)
EDUCATION_WEIGHTS = (
    (8, 22, 50, 10, 10, 0, 0, 0),
    (5, 9, 30, 16, 28, 12, 0, 0),
    (4, 7, 22, 18, 14, 25, 10, 0),
    (4, 8, 22, 20, 12, 20, 11, 3),
    (6, 13, 26, 22, 11, 13, 7, 2),
    (16, 26, 26, 17, 6, 6, 2, 1),
)
EDUCATION_BY_KIND = (
    (9, 9, 9, 8, 11, 13, 15, 17),
    (10, 10, 10, 10, 10, 10, 10, 10),
    (12, 13, 11, 13, 8, 6, 4, 2),
)

TRADE_WEIGHTS = (
    (16, 18, 18, 12, 22, 11, 2, 0, 0, 0, 0, 1),
    (11, 17, 19, 14, 15, 16, 5, 1, 0, 0, 0, 2),
    (5, 10, 14, 11, 7, 23, 20, 4, 1, 0, 1, 4),
    (4, 15, 21, 12, 4, 13, 13, 12, 1, 0, 2, 3),
    (2, 5, 7, 6, 3, 22, 27, 15, 3, 0, 4, 6),
    (1, 2, 2, 2, 1, 11, 20, 15, 17, 0, 15, 14),
    (1, 1, 1, 1, 0, 4, 10, 4, 26, 10, 22, 20),
    (0, 0, 0, 0, 0, 1, 3, 1, 30, 32, 20, 13),
)
TRADE_BY_SEX = (
    (8, 3, 6, 4, 14, 12, 13, 15, 12, 10, 6, 8),
    (12, 17, 14, 16, 6, 8, 7, 5, 8, 10, 14, 12),
)
TRADE_BY_KIND = (
    (1, 9, 9, 10, 11, 11, 11, 10, 10, 11, 11, 11),
    (8, 10, 11, 10, 10, 10, 10, 10, 10, 10, 10, 10),
    (45, 11, 10, 11, 9, 8, 7, 9, 9, 7, 5, 7),
)
STUDENT_FROM = (18, 20, 22, 24, 27)
STUDENT_PERCENT = (55, 45, 32, 15, 0)
RETIRED_FROM = (18, 58, 62, 65, 68, 72)
RETIRED_PERCENT = (0, 8, 30, 68, 88, 98)

MARITAL_FROM = (18, 23, 28, 35, 45, 55, 65, 75, 85)
MARITAL_WEIGHTS = (
    ((93, 4, 3, 0, 0, 0), (96, 2, 2, 0, 0, 0)),
    ((68, 22, 7, 2, 1, 0), (78, 15, 5, 1, 1, 0)),
    ((38, 45, 8, 4, 5, 0), (47, 40, 8, 2, 3, 0)),
    ((20, 58, 6, 5, 10, 1), (25, 57, 7, 4, 7, 0)),
    ((13, 58, 4, 6, 16, 3), (16, 60, 4, 5, 14, 1)),
    ((9, 58, 3, 4, 18, 8), (11, 64, 3, 4, 16, 2)),
    ((6, 53, 2, 2, 15, 22), (8, 70, 2, 2, 12, 6)),
    ((5, 34, 1, 1, 10, 49), (6, 69, 1, 1, 8, 15)),
    ((5, 14, 1, 1, 5, 74), (5, 55, 1, 0, 5, 34)),
)

EDUCATION_POINTS = (0, 3, 8, 10, 12, 18, 24, 30)
TRADE_POINTS = (0, 8, 7, 6, 0, 4, 8, 12, 13, 34, 24, 28)
STUDENT_POINTS, RETIRED_POINTS = -22, -8
SALARY_STEPS = (28, 41, 53, 67)

DISEASE_FROM = (18, 35, 50, 65, 80)
DISEASE_WEIGHTS = (
    # flu, stomach three, breath three, heart, diabetes, depression, ovarian, prostate
    (340, 130, 50, 2, 70, 40, 150, 8, 30, 170, 4, 0),
    (270, 130, 85, 8, 80, 45, 100, 45, 80, 140, 12, 3),
    (200, 110, 95, 22, 95, 60, 70, 140, 140, 100, 26, 36),
    (150, 85, 80, 36, 100, 95, 45, 260, 160, 70, 30, 80),
    (130, 60, 60, 40, 100, 160, 30, 360, 130, 60, 24, 90),
)
DISEASE_BY_SEX = (
    (10, 11, 8, 8, 9, 9, 11, 7, 9, 14, 20, 0),
    (10, 9, 12, 12, 11, 11, 9, 13, 11, 7, 0, 20),
)
DISEASE_BY_TRADE = (
    (10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10),
    (10, 10, 13, 13, 34, 13, 13, 11, 11, 9, 10, 10),
)


@dataclass(frozen=True, slots=True)
class _WeightedDraws:
    generator: np.random.Generator
    size: int

    def pick(self, weights: Ints, group: Ints | int = 0) -> Ints:
        """For each person, a column of the weights, drawn from the row of the person's group."""
        sums = weights.cumsum(axis=1)
        rows = np.arange(len(weights))[:, None]
        # Each row becomes one segment of a single cumulative sum, which one search covers for all people.
        ladder = (rows << 32) + (sums << 32) // sums[:, -1:]
        throws = self.generator.integers(0, 1 << 32, self.size, dtype=np.int64)
        steps = np.searchsorted(ladder.ravel(), (np.asarray(group) << 32) + throws, side="right")
        picked_columns: Ints = steps - group * weights.shape[1]
        return picked_columns

    def happens(self, numerator: Ints | int, denominator: int) -> Flags:
        """For each person, whether an event of this probability happens."""
        return self.generator.integers(0, denominator, self.size, dtype=np.int64) < numerator


def generate_population(size: int = 20_000, seed: int = 1519) -> pl.DataFrame:
    """`size` invented people; the same for the same seed. The module docstring describes how they are made."""
    if size < 0:
        raise PolicyError(f"a population must have 0 people or more, not {size}")
    draws = _WeightedDraws(np.random.Generator(np.random.PCG64(seed)), size)
    code, kind = _draw_homes(draws)
    age = YOUNGEST + draws.pick(_build_age_pyramid(), kind)
    sex = draws.pick(_flatten_weights(SEX_WEIGHTS), _find_group(age, SEX_FROM))
    education = _draw_education(draws, age, kind)
    trade = _draw_trade(draws, education, sex, kind)
    occupation = _draw_occupation(draws, trade, age, education)
    marital = draws.pick(_flatten_weights(MARITAL_WEIGHTS), _find_group(age, MARITAL_FROM) * 2 + sex)
    salary = _draw_salary(draws, education, trade, occupation, age)
    disease = _draw_disease(draws, age, sex, trade)
    return pl.DataFrame(
        {
            "name": _draw_names(draws, sex),
            "age": age,
            "sex": _look_up_words(SEXES, sex),
            "zip": _look_up_words(_list_postal_codes(), code),
            "education": _look_up_words(tuple(EDUCATION), education, draws.happens(*MISSING_SHARE)),
            "occupation": _look_up_words(tuple(OCCUPATIONS), occupation, draws.happens(*MISSING_SHARE)),
            "marital_status": _look_up_words(tuple(MARITAL_STATUSES), marital),
            "salary_level": _look_up_words(SALARY_LEVELS, salary),
            "disease": _look_up_words(DISEASES, disease),
        }
    )


def list_population_roles() -> dict[str, str]:
    """The role of each column of the population."""
    quasi = ("age", "sex", "zip", "education", "occupation", "marital_status")
    return {
        "name": "identifying",
        **dict.fromkeys(quasi, "quasi_identifying"),
        "salary_level": "sensitive",
        "disease": "sensitive",
    }


def build_population_hierarchies() -> dict[str, list[list[str]]]:
    """A hierarchy for each quasi-identifying column: one row per leaf, from the original to "*"."""
    ages = range(YOUNGEST, OLDEST + 1)
    return {
        "age": [[str(age), *(_label_age_band(age, width) for width in (5, 10, 20)), "*"] for age in ages],
        "sex": [[sex, "*"] for sex in SEXES],
        "zip": [[code, f"{code[:4]}*", f"{code[:3]}**", "*"] for code in sorted(_list_postal_codes())],
        "education": [[level, *groups, "*"] for level, groups in EDUCATION.items()],
        "occupation": [[job, group, "*"] for job, group in OCCUPATIONS.items()],
        "marital_status": [[status, group, "*"] for status, group in MARITAL_STATUSES.items()],
    }


def _label_age_band(age: int, width: int) -> str:
    low = age - age % width
    return f"{low}-{low + width - 1}"


def _draw_homes(draws: _WeightedDraws) -> tuple[Ints, Ints]:
    weights = [weight * 60 // (rank + 3) for *_, codes, weight in REGIONS for rank in range(codes)]
    kinds = np.asarray([kind for _, kind, codes, _ in REGIONS for _ in range(codes)])
    code = draws.pick(_flatten_weights([weights]))
    return code, kinds[code]


def _list_postal_codes() -> tuple[str, ...]:
    return tuple(prefix + ending for prefix, _, codes, _ in REGIONS for ending in CODE_ENDINGS[:codes])


def _build_age_pyramid() -> Ints:
    knots = _flatten_weights(PYRAMID)
    ages = np.arange(YOUNGEST, OLDEST + 1)
    span_index = _find_group(ages, PYRAMID_AGES)
    start, end = _flatten_weights(PYRAMID_AGES)[0][span_index], _flatten_weights(PYRAMID_AGES)[0][span_index + 1]
    # Spans are 7 or 10 years: in seventieths, the lines have integer values.
    slopes = knots[:, span_index] * (end - ages) + knots[:, span_index + 1] * (ages - start)
    weights: Ints = slopes * (70 // (end - start))
    return weights


def _draw_education(draws: _WeightedDraws, age: Ints, kind: Ints) -> Ints:
    weights = _cross_weights(EDUCATION_WEIGHTS, EDUCATION_BY_KIND)
    return draws.pick(weights, _find_group(age, COHORT_FROM) * len(EDUCATION_BY_KIND) + kind)


def _draw_trade(draws: _WeightedDraws, education: Ints, sex: Ints, kind: Ints) -> Ints:
    weights = _cross_weights(_cross_weights(TRADE_WEIGHTS, TRADE_BY_SEX), TRADE_BY_KIND)
    return draws.pick(weights, (education * 2 + sex) * len(TRADE_BY_KIND) + kind)


def _draw_occupation(draws: _WeightedDraws, trade: Ints, age: Ints, education: Ints) -> Ints:
    jobs = list(OCCUPATIONS)
    student_mask = draws.happens(np.asarray(STUDENT_PERCENT)[_find_group(age, STUDENT_FROM)], 100)
    # Without a diploma nobody goes on to study.
    student_mask &= education >= list(EDUCATION).index("upper secondary")
    retired_mask = draws.happens(np.asarray(RETIRED_PERCENT)[_find_group(age, RETIRED_FROM)], 100)
    return np.where(student_mask, jobs.index("student"), np.where(retired_mask, jobs.index("retired"), trade))


def _draw_salary(draws: _WeightedDraws, education: Ints, trade: Ints, occupation: Ints, age: Ints) -> Ints:
    jobs = list(OCCUPATIONS)
    points = np.asarray(EDUCATION_POINTS)[education] + np.asarray(TRADE_POINTS)[trade]
    points += (np.minimum(age, 55) - YOUNGEST) // 2
    points += np.where(occupation == jobs.index("student"), STUDENT_POINTS, 0)
    points += np.where(occupation == jobs.index("retired"), RETIRED_POINTS, 0)
    chance = draws.generator.integers(0, 16, (2, draws.size), dtype=np.int64).sum(axis=0)
    return _find_group(points + chance, (-100, *SALARY_STEPS))


def _draw_disease(draws: _WeightedDraws, age: Ints, sex: Ints, trade: Ints) -> Ints:
    weights = _cross_weights(_cross_weights(DISEASE_WEIGHTS, DISEASE_BY_SEX), DISEASE_BY_TRADE)
    manual = np.asarray([group == "manual" for group in OCCUPATIONS.values()], dtype=np.int64)
    return draws.pick(weights, (_find_group(age, DISEASE_FROM) * 2 + sex) * 2 + manual[trade])


def _draw_names(draws: _WeightedDraws, sex: Ints) -> pl.Series:
    women, men, families = FEMALE_NAMES.split(), MALE_NAMES.split(), FAMILY_NAMES.split()
    initials = [f"{letter}." for letter in INITIALS]
    of_sex = [[1] * len(women) + [0] * len(men), [0] * len(women) + [1] * len(men)]
    parts = {
        "given": _look_up_words(women + men, draws.pick(_flatten_weights(of_sex), sex)),
        "initial": _look_up_words(initials, draws.pick(_flatten_weights([[1] * len(initials)]))),
        "family": _look_up_words(families, draws.pick(_flatten_weights([[1] * len(families)]))),
    }
    return pl.DataFrame(parts).select(pl.concat_str(pl.all(), separator=" ")).to_series()


def _find_group(numbers: Ints, starts: tuple[int, ...]) -> Ints:
    return np.searchsorted(np.asarray(starts), numbers, side="right") - 1


def _flatten_weights(rows: object) -> Ints:
    """Weights as a table: one row per group, one column per choice, however the groups are nested."""
    table = np.asarray(rows, dtype=np.int64)
    return table.reshape(-1, table.shape[-1])


def _cross_weights(rows: object, factors: object) -> Ints:
    """Weights for every pair of a row and a row of factors, the factors varying fastest."""
    return _flatten_weights(_flatten_weights(rows)[:, None, :] * _flatten_weights(factors)[None, :, :])


def _look_up_words(words: tuple[str, ...] | list[str], codes: Ints, missing: Flags | None = None) -> pl.Series:
    column = pl.Series(words, dtype=pl.String).gather(pl.Series(codes))
    return column if missing is None else column.set(pl.Series(missing), None)
