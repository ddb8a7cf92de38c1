# SPDX-License-Identifier: MIT
"""The built-in population: repeatable, believable, and at one with its hierarchies and roles."""

from __future__ import annotations

import hashlib
import time
from typing import cast

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from sfumato.data.generators.population import (
    DISEASES,
    EDUCATION,
    SALARY_LEVELS,
    _WeightedDraws,
    build_population_hierarchies,
    generate_population,
    list_population_roles,
)
from sfumato.data.roles.role import Role, assign_roles
from sfumato.errors import PolicyError

COLUMNS = [
    "name",
    "age",
    "sex",
    "zip",
    "education",
    "occupation",
    "marital_status",
    "salary_level",
    "disease",
]


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return generate_population()


def share(people: pl.DataFrame, event: pl.Expr, group: pl.Expr) -> float:
    return float(people.filter(group).select(event.mean()).item())


class TestRepeatability:
    def test_pinned(self) -> None:
        """Made with numpy 2.4: a change here changes every page and benchmark that shows the population."""
        csv_bytes = generate_population(1_000, seed=1519).write_csv().encode()
        assert (
            hashlib.sha256(csv_bytes).hexdigest() == "685ea9a6a439831ca406244dd3c8dc67bd2a071294d16dfc5ffbda0f6781431a"
        )

    def test_same_seed_same_people(self, people: pl.DataFrame) -> None:
        assert generate_population().equals(people)

    def test_other_seed_other_people(self, people: pl.DataFrame) -> None:
        other = generate_population(seed=1520)
        assert other["name"].to_list() != people["name"].to_list()
        assert (other["disease"] == people["disease"]).sum() < 0.3 * people.height

    def test_the_global_generator_is_left_alone(self) -> None:
        state = np.random.get_state(legacy=False)
        generate_population(50)
        assert str(np.random.get_state(legacy=False)) == str(state)


class _Fixed:
    """A generator that throws its lowest and its highest number."""

    def integers(self, low: int, high: int, size: int, dtype: object) -> NDArray[np.int64]:
        return np.asarray([low, high - 1])


def test_what_has_no_weight_is_never_drawn() -> None:
    draws = _WeightedDraws(cast(np.random.Generator, _Fixed()), 2)
    weights = np.asarray([[0, 3, 0, 4, 0], [0, 0, 1, 0, 0], [1, 1, 1, 1, 1]])
    assert [draws.pick(weights, group).tolist() for group in range(3)] == [[1, 3], [2, 2], [0, 4]]


class TestShape:
    def test_columns(self, people: pl.DataFrame) -> None:
        assert people.columns == COLUMNS
        assert people.height == 20_000
        assert people.schema["age"] == pl.Int64
        assert all(people.schema[name] == pl.String for name in COLUMNS if name != "age")

    @pytest.mark.parametrize("size", [0, 1, 7])
    def test_small(self, size: int, people: pl.DataFrame) -> None:
        few = generate_population(size)
        assert few.height == size
        assert few.schema == people.schema

    def test_negative(self) -> None:
        with pytest.raises(PolicyError, match="not -1"):
            generate_population(-1)

    def test_only_education_and_occupation_have_gaps(self, people: pl.DataFrame) -> None:
        gaps = {name: people[name].null_count() for name in COLUMNS}
        assert {name for name, count in gaps.items() if count} == {"education", "occupation"}
        # 1.5 % of 20,000 is 300 with a standard deviation of 17; five of them either way.
        assert all(215 <= gaps[name] <= 385 for name in ("education", "occupation"))

    def test_codes(self, people: pl.DataFrame) -> None:
        codes = people["zip"]
        assert codes.str.contains(r"^\d{5}$").all()
        assert codes.n_unique() == 60
        assert codes.str.slice(0, 3).n_unique() == 6
        assert 0.3 < codes.str.starts_with("0").mean() < 0.7  # type: ignore[operator]
        sizes = codes.value_counts()["count"].sort()
        assert sizes[-1] > 5 * sizes[0]

    def test_names_nearly_all_differ(self, people: pl.DataFrame) -> None:
        assert 0.97 < people["name"].n_unique() / people.height < 1
        assert people["name"].str.contains(r"^\w+ [A-Z]\. \w+$").all()

    def test_every_level_occurs(self, people: pl.DataFrame) -> None:
        assert set(people["disease"]) == set(DISEASES)
        assert set(people["salary_level"]) == set(SALARY_LEVELS)
        assert set(people["education"].drop_nulls()) == set(EDUCATION)
        assert (people["age"].min(), people["age"].max()) == (18, 94)


class TestBelievable:
    """Differences are many times their standard error at 20,000 people, so that any seed passes."""

    def test_heart_disease_rises_with_age(self, people: pl.DataFrame) -> None:
        heart = pl.col("disease") == "heart disease"
        ages = [share(people, heart, pl.col("age").is_between(low, low + 14)) for low in (20, 35, 50, 65)]
        assert ages == sorted(ages)
        assert ages[-1] > 5 * ages[0]

    def test_some_diseases_are_bound_to_sex(self, people: pl.DataFrame) -> None:
        def sexes(disease: str) -> set[str]:
            return set(people.filter(pl.col("disease") == disease)["sex"])

        assert sexes("ovarian cancer") == {"female"}
        assert sexes("prostate cancer") == {"male"}
        assert sexes("stomach cancer") == {"female", "male"}

    def test_bronchitis_follows_manual_work(self, people: pl.DataFrame) -> None:
        bronchitis = pl.col("disease") == "bronchitis"
        manual = pl.col("occupation").is_in(["construction worker", "machine operator", "driver"])
        desk = pl.col("occupation").is_in(["office clerk", "manager", "engineer"])
        assert share(people, bronchitis, manual) > 2 * share(people, bronchitis, desk)

    def test_flu_is_everywhere(self, people: pl.DataFrame) -> None:
        flu = people.group_by("zip").agg((pl.col("disease") == "flu").mean())
        assert flu["disease"].min() > 0.08  # type: ignore[operator]

    def test_degrees_take_time_and_cities_draw_them(self, people: pl.DataFrame) -> None:
        degree = pl.col("education").is_in(["bachelor", "master", "doctorate"])
        assert share(people, degree, pl.col("age") < 21) == 0
        assert share(people, pl.col("education") == "doctorate", pl.col("age") < 30) == 0
        assert share(people, degree, pl.col("age").is_between(30, 44)) > 2 * share(people, degree, pl.col("age") >= 65)
        city, country = (pl.col("zip").str.slice(0, 3).is_in(codes) for codes in (["021"], ["148", "479"]))
        assert share(people, degree, city) > 1.5 * share(people, degree, country)

    def test_work_follows_schooling_sex_and_age(self, people: pl.DataFrame) -> None:
        doctors = people.filter(pl.col("occupation") == "physician")["education"].drop_nulls()
        assert set(doctors) == {"master", "doctorate"}
        builders = people.filter(pl.col("occupation") == "construction worker")
        assert (builders["sex"] == "male").mean() > 0.7  # type: ignore[operator]
        retired = pl.col("occupation") == "retired"
        assert share(people, retired, pl.col("age") < 58) == 0
        assert share(people, retired, pl.col("age") >= 72) > 0.9
        assert share(people, pl.col("occupation") == "student", pl.col("age") >= 27) == 0

    def test_marriage_and_widowhood(self, people: pl.DataFrame) -> None:
        never_married, widowed = (pl.col("marital_status") == word for word in ("never married", "widowed"))
        assert share(people, never_married, pl.col("age") < 23) > 0.85
        assert share(people, never_married, pl.col("age") > 50) < 0.2
        old = pl.col("age") >= 75
        assert share(people, widowed, old & (pl.col("sex") == "female")) > 1.5 * share(
            people, widowed, old & (pl.col("sex") == "male")
        )

    def test_schooling_pays(self, people: pl.DataFrame) -> None:
        rank = pl.col("salary_level").replace_strict({level: n for n, level in enumerate(SALARY_LEVELS)})
        pay = {level: share(people, rank, pl.col("education") == level) for level in EDUCATION}
        assert list(pay.values()) == sorted(pay.values())
        young, seasoned = (pl.col("age").is_between(low, low + 9) for low in (25, 45))
        teacher = pl.col("occupation") == "teacher"
        assert share(people, rank, teacher & seasoned) > share(people, rank, teacher & young)


class TestHierarchies:
    @pytest.mark.parametrize("column", list(build_population_hierarchies()))
    def test_every_value_is_a_leaf_and_groups_nest(self, column: str, people: pl.DataFrame) -> None:
        rows = build_population_hierarchies()[column]
        leaves = [row[0] for row in rows]
        assert len(set(leaves)) == len(leaves)
        assert set(people[column].drop_nulls().cast(pl.String)) <= set(leaves)
        assert {len(row) for row in rows} == {len(rows[0])}
        assert {row[-1] for row in rows} == {"*"}
        for level in range(1, len(rows[0]) - 1):
            parents: dict[str, set[str]] = {}
            for row in rows:
                parents.setdefault(row[level], set()).add(row[level + 1])
            assert all(len(parent_set) == 1 for parent_set in parents.values())

    def test_by_hand(self) -> None:
        rows = {column: {row[0]: row[1:] for row in leaf} for column, leaf in build_population_hierarchies().items()}
        assert rows["age"]["18"] == ["15-19", "10-19", "0-19", "*"]
        assert rows["age"]["94"] == ["90-94", "90-99", "80-99", "*"]
        assert list(rows["age"]) == [str(age) for age in range(18, 95)]
        assert rows["zip"]["13053"] == ["1305*", "130**", "*"]
        assert rows["zip"]["02168"] == ["0216*", "021**", "*"]
        assert rows["education"]["bachelor"] == ["undergraduate", "higher", "*"]
        assert rows["occupation"]["nurse"] == ["care and teaching", "*"]
        assert rows["marital_status"]["widowed"] == ["formerly married", "*"]
        assert rows["sex"] == {"female": ["*"], "male": ["*"]}

    def test_one_for_each_quasi_identifying_column(self) -> None:
        quasi = [name for name, role in list_population_roles().items() if role == "quasi_identifying"]
        assert sorted(build_population_hierarchies()) == sorted(quasi)


def test_roles(people: pl.DataFrame) -> None:
    roles = assign_roles(people.columns, list_population_roles())
    assert roles["name"] is Role.IDENTIFYING
    assert {name for name, role in roles.items() if role is Role.SENSITIVE} == {"salary_level", "disease"}


def test_quick() -> None:
    began = time.perf_counter()
    generate_population()
    assert time.perf_counter() - began < 0.5
