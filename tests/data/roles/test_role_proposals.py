# SPDX-License-Identifier: MIT
"""Role proposals: the right guess, for a reason that a custodian understands and that shows no value."""

from __future__ import annotations

import datetime
from dataclasses import FrozenInstanceError

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.generators.population import generate_population, list_population_roles
from sfumato.data.roles.role import Role
from sfumato.data.roles.role_proposals import RoleProposal, propose_roles

ID, Q, S, N = Role.IDENTIFYING, Role.QUASI_IDENTIFYING, Role.SENSITIVE, Role.INSENSITIVE

IDENTIFYING_NAMES = (
    "name|Full Name|lastName|SURNAME|ssn|SSN_2|e-mail|EMailAddress|phone2|IBAN|patientID|patient_id"
    "|Patient-No.|PATIENT|customer name|MRN|medicalRecordNumber|ip_address|license plate|Nachname|prénom"
    "|apellidos|BSN|codice_fiscale|numéro de sécurité sociale|фамилия|姓名"
)
QUASI_IDENTIFYING_NAMES = (
    "age|ages|Age_Group|dob|DoB|dateOfBirth|birthdate|Gender|zip|ZIPCODE|zipCode5|post_code|city|race|nationality"
    "|Nationalität|native-country|marital.status|PLZ|Familienstand|código postal|leeftijd|Größe|возраст|性别"
    "|country_name|admission_date"
)
SENSITIVE_NAMES = (
    "disease|diseases|primary_diagnosis|ICD10|icd_10_code|HbA1c|salary_level|annualIncome|religion|hiv|hiv_status"
    "|sexual_orientation|disease_name|maladie|Gehalt|工资|диагноз"
)
NAMES_THAT_SAY_NOTHING = (
    "average|mileage|stage|page|package|Image|usage|message|capacity|manage|essex|unisex_size|zipper|unzipped"
    "|racer|terrace|brace|product_name|file name|columnName|store_id|valid|grid|video|identity_matrix|v_in"
    "|i_p|update|candidate|validated|fnlwgt|hours-per-week|x|_||7"
)

generator = np.random.default_rng(5)


def propose_role(name: str, values: object) -> RoleProposal:
    """The proposal for one column; a second column shows that columns are judged apart."""
    frame = pl.DataFrame({name: values, "another": None})
    return propose_roles(frame)[0]


def by_name(name: str) -> Role:
    return propose_roles(pl.DataFrame({name: pl.Series([], dtype=pl.String)}))[0].role


def says_nothing(name: str) -> bool:
    return "does not show" in propose_roles(pl.DataFrame({name: pl.Series([], dtype=pl.String)}))[0].reason


class TestWholeTables:
    def test_population(self) -> None:
        proposed = {proposal.column: proposal.role.value for proposal in propose_roles(generate_population(5_000))}
        assert proposed == list_population_roles()

    def test_adult(self) -> None:
        """Adult's columns, with values of their kinds: 5,000 rows."""
        rows = 5_000
        small = [f"group {number}" for number in generator.integers(0, 7, rows)]
        expected = {
            "age": (generator.integers(17, 91, rows), Q),
            "workclass": (small, Q),
            "fnlwgt": (generator.integers(12_285, 20_000, rows), Q),
            "education": (small, Q),
            "education-num": (generator.integers(1, 17, rows), Q),
            "marital-status": (small, Q),
            "occupation": (small, Q),
            "relationship": (small, Q),
            "race": (small, Q),
            "sex": (small, Q),
            "capital-gain": (generator.integers(0, 90, rows) * 100, S),
            "capital-loss": (generator.integers(0, 90, rows) * 50, S),
            "hours-per-week": (generator.integers(1, 99, rows), Q),
            "native-country": (small, Q),
            "salary-class": (small, S),
        }
        frame = pl.DataFrame({name: values for name, (values, _) in expected.items()})
        proposed = {proposal.column: proposal.role for proposal in propose_roles(frame)}
        assert proposed == {name: role for name, (_, role) in expected.items()}

    def test_wide_tables(self) -> None:
        words = [f"{number:03}" for number in generator.integers(0, 500, 1_000)]
        numbers = generator.random(1_000)
        frame = pl.DataFrame({f"c{index}": words if index % 2 else numbers for index in range(2_000)})
        proposed = propose_roles(frame)
        assert [proposal.column for proposal in proposed] == frame.columns

    def test_nothing_is_changed(self) -> None:
        frame = pl.DataFrame({"age": [1.5, float("nan"), None], "name": ["a", "b", "c"]})
        original = frame.clone()
        propose_roles(frame)
        assert frame.equals(original)

    def test_no_columns(self) -> None:
        assert propose_roles(pl.DataFrame()) == ()


class TestNames:
    @pytest.mark.parametrize("name", IDENTIFYING_NAMES.split("|"))
    def test_identifying(self, name: str) -> None:
        assert by_name(name) is ID

    @pytest.mark.parametrize("name", QUASI_IDENTIFYING_NAMES.split("|"))
    def test_quasi_identifying(self, name: str) -> None:
        assert by_name(name) is Q
        assert not says_nothing(name)

    @pytest.mark.parametrize("name", SENSITIVE_NAMES.split("|"))
    def test_sensitive(self, name: str) -> None:
        assert by_name(name) is S

    @pytest.mark.parametrize("name", NAMES_THAT_SAY_NOTHING.split("|"))
    def test_words_inside_words_do_not_count(self, name: str) -> None:
        assert says_nothing(name)

    def test_a_switch_is_not_the_thing(self) -> None:
        flags = generator.integers(0, 2, 100)
        assert propose_role("has_email", flags.astype(bool)).role is Q
        assert propose_role("email_verified", flags).role is Q
        assert propose_role("email", [f"someone {n}" for n in flags]).role is ID
        assert propose_role("hiv", flags.astype(bool)).role is S

    @pytest.mark.parametrize(("name", "role"), [("spouse_income", S), ("email_date", ID), ("salary_city", S)])
    def test_two_words(self, name: str, role: Role) -> None:
        assert by_name(name) is role

    @given(st.text(max_size=30))
    def test_any_name_will_do(self, name: str) -> None:
        assert by_name(name) in (ID, Q, S)


class TestShapes:
    @pytest.mark.parametrize(
        ("role", "words", "values"),
        [
            (ID, "e-mail", ["ada.l@example.org", "x+y@mail.example.com", "b@c.de"]),
            (ID, "IBAN", ["DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432"]),
            (ID, "social security", ["123-45-6789", "987-65-4321"]),
            (ID, "network", ["192.168.0.1", "10.20.30.40"]),
            (ID, "web", ["https://example.org/a", "www.example.com"]),
            (ID, "UUID", ["123e4567-e89b-12d3-a456-426614174000", "00000000-0000-0000-0000-000000000001"]),
            (ID, "card", ["4111 1111 1111 1111", "5500005555555559"]),
            (ID, "phone", ["+39 055 123456", "(555) 123-4567", "020 7946 0018", "+4915112345678"]),
            (Q, "dates", ["1987-05-12", "1987-05-13 12:30:00", "1990-12-01T08:00"]),
            (Q, "dates", ["12.05.1987", "1/2/1990", "31/12/99"]),
            (Q, "postcodes", ["02139", "13053", "13068-1234"]),
            (Q, "postcodes", ["SW1A 1AA", "M1 1AE", "EC1A1BB"]),
        ],
    )  # fmt: skip
    def test_known(self, role: Role, words: str, values: list[str]) -> None:
        proposal = propose_role("x", values * 10)
        assert proposal.role is role
        assert words in proposal.reason

    def test_some_exceptions_are_allowed(self) -> None:
        assert propose_role("x", ["a@b.de", "c@d.de", "unknown"] * 2 + ["e@f.de"] * 4).role is ID
        assert "e-mail" not in propose_role("x", ["a@b.de", "unknown"] * 10).reason

    def test_wrong_check_digits(self) -> None:
        assert "IBAN" not in propose_role("x", ["DE88 3704 0044 0532 0130 00"] * 5 + ["a"]).reason
        assert "card" not in propose_role("x", ["4111 1111 1111 1112"] * 5 + ["a"]).reason

    def test_free_text(self) -> None:
        notes = [f"Came in on a Monday with visitor {n} and was sent home again" for n in range(30)]
        assert propose_role("x", notes).role is ID
        assert "free text" in propose_role("x", notes).reason
        assert "free text" not in propose_role("x", notes[:2] * 50).reason

    def test_a_telling_shape_beats_the_name(self) -> None:
        assert propose_role("city", ["a@b.de", "c@d.de"] * 10).role is ID

    def test_the_name_beats_a_shape_that_many_things_have(self) -> None:
        assert propose_role("salary", ["1 250 000", "2 100 500"] * 10).role is S
        assert propose_role("amount", ["1 250 000", "2 100 500"] * 10).role is ID
        assert propose_role("diagnosis_date", ["1987-05-12", "1987-05-13"] * 10).role is S

    def test_the_sample_is_spread_over_a_sorted_column(self) -> None:
        values = sorted(["a@b.de"] * 300 + [f"z {n}" for n in range(2_700)])
        assert "e-mail" not in propose_role("x", values).reason

    @pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["a@b.de", "c@d.de"])])
    def test_categories_are_words(self, dtype: pl.DataType) -> None:
        assert propose_role("x", pl.Series(["a@b.de", "c@d.de"] * 10, dtype=dtype)).role is ID


class TestCountsAndTypes:
    def test_nearly_unique_words_and_whole_numbers_are_identifiers(self) -> None:
        assert propose_role("x", [f"k{n}" for n in range(100)]).role is ID
        assert propose_role("x", list(range(100))).role is ID
        assert propose_role("x", [float(n) for n in range(100)]).role is ID
        assert propose_role("x", [f"k{n % 94}" for n in range(100)]).role is Q

    def test_nearly_unique_five_digit_words_are_no_postcodes(self) -> None:
        assert propose_role("x", [f"{n:05}" for n in range(100)]).role is ID

    def test_nearly_unique_fractions_are_measurements(self) -> None:
        proposal = propose_role("x", generator.random(500))
        assert proposal.role is Q
        assert "measurement" in proposal.reason

    def test_a_few_different_values_mean_nothing(self) -> None:
        assert propose_role("x", ["a", "b", "c"]).role is Q

    def test_a_quasi_identifier_that_is_nearly_unique_is_questioned(self) -> None:
        many = [f"place {n}" for n in range(100)]
        assert "identifies the person directly" in propose_role("city", many).reason
        assert "identifies the person directly" not in propose_role("city", many[:5] * 20).reason
        assert "identifies the person directly" not in propose_role("weight", generator.random(100)).reason

    @pytest.mark.parametrize("unit", [datetime.timedelta(days=1), datetime.timedelta(minutes=7)])
    def test_dates(self, unit: datetime.timedelta) -> None:
        assert propose_role("x", [datetime.datetime(2020, 1, 1) + n * unit for n in range(50)]).role is Q

    def test_few_groups(self) -> None:
        assert "few groups" in propose_role("x", ["a", "b", "c"] * 50).reason
        assert "few groups" not in propose_role("x", [f"v{n % 60}" for n in range(1_000)]).reason

    @pytest.mark.parametrize("values", [[None, None], [float("nan"), None]])
    def test_all_missing(self, values: list[float | None]) -> None:
        proposal = propose_role("email", values)
        assert proposal.role is N
        assert (proposal.distinct, proposal.distinct_share, proposal.missing) == (0, 0.0, 2)

    def test_one_value(self) -> None:
        assert propose_role("x", ["a"] * 30).role is N
        assert "discloses nothing about anyone" in propose_role("age", [40] * 30).reason

    def test_one_value_told_about_everyone(self) -> None:
        """A ward's list with one diagnosis, or one patient's visits: sameness protects nobody."""
        assert propose_role("diagnosis", ["a"] * 30).role is S
        assert propose_role("surname", ["a"] * 30).role is ID
        assert propose_role("x", ["a@b.de"] * 30).role is ID

    def test_one_value_or_none_tells_people_apart(self) -> None:
        assert propose_role("x", ["yes", None] * 20).role is Q
        assert propose_role("x", ["a"]).role is Q

    def test_counts(self) -> None:
        proposal = propose_role("x", ["a", "b", "a", None, None])
        assert (proposal.distinct, proposal.missing) == (2, 2)
        assert proposal.distinct_share == pytest.approx(2 / 3)
        assert "2 different among 3 values, 2 missing" in proposal.reason

    def test_not_a_number_is_missing(self) -> None:
        assert propose_role("x", [1.0, float("nan"), None, 2.0]).missing == 2

    def test_no_rows(self) -> None:
        frame = pl.DataFrame(schema={"email": pl.String, "x": pl.Float64, "salary": pl.Int64})
        proposed = propose_roles(frame)
        assert [proposal.role for proposal in proposed] == [ID, Q, S]
        assert all("no rows" in proposal.reason for proposal in proposed)

    @pytest.mark.parametrize(
        "values",
        [
            [[1], [2], [1]],
            [{"a": 1}, {"a": 2}, {"a": 1}],
            [b"a", b"b", b"a"],
            [datetime.timedelta(1), datetime.timedelta(2), datetime.timedelta(1)],
        ],
    )
    def test_other_types(self, values: list[object]) -> None:
        proposal = propose_role("x", values)
        assert (proposal.role, proposal.distinct, proposal.missing) == (Q, 2, 0)

    def test_objects(self) -> None:
        assert propose_role("x", pl.Series([object(), object()], dtype=pl.Object)).distinct == 2


def test_reasons_hold_no_value() -> None:
    people = generate_population(300)
    values = {str(value) for column in people for value in column.drop_nulls() if len(str(value)) > 2}
    frame = people.rename({name: f"c{index}" for index, name in enumerate(people.columns)})
    for proposal in (*propose_roles(people), *propose_roles(frame)):
        # "nurse" is a value, and a word's part is not: compare whole words
        reason = f" {proposal.reason} "
        assert not [value for value in values if f" {value} " in reason or f'"{value}"' in reason]
        assert proposal.reason.endswith(".")


def test_a_proposal_cannot_be_changed() -> None:
    proposal = propose_role("age", [1, 2])
    with pytest.raises(FrozenInstanceError):
        proposal.role = S  # type: ignore[misc]


@pytest.mark.parametrize(
    ("cells", "is_told"),
    [
        (["34", "forty", *map(str, range(20, 38))], True),
        (["1.5", "n/a", *map(str, range(30, 50))], True),
        (["0213", "forty", *map(str, range(2000, 2030))], False),
        (["a", "b", "1", "2"], False),
        (["34", "35", "36"] * 4, True),
    ],
)
def test_text_of_numbers_is_told(cells: list[str], is_told: bool) -> None:
    (proposal,) = propose_roles(pl.DataFrame({"age": pl.Series(cells, dtype=pl.String)}))
    assert ("Most of its values look like numbers, and it is read as text" in proposal.reason) == is_told
    hint = "If the others say that a value is missing, name them under missing_marks."
    assert (hint in proposal.reason) == is_told
    assert "forty" not in proposal.reason
