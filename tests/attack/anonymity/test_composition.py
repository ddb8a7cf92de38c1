# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attack.anonymity.composition import Composition
from sfumato.data.writing.table_writer import write_frame
from tests.attack.anonymity.test_homogeneity import Mixed, mixed_releases
from tests.contract.examples import people
from tests.contract.test_attacks import as_is, noise

ROLES = {"zip": "quasi_identifying", "age": "quasi_identifying", "condition": "sensitive"}
ZIPS = [[f"130{end}", "130**"] for end in ("53", "12", "68")]
AGES = [[str(age), "<30" if age < 30 else "<35" if age < 35 else "≥35"] for age in (25, 28, 31, 33, 38, 45)]


def hospital_a() -> sf.Table:
    """As in Ganta, Kasiviswanathan, Smith 2008, Figure 1, in small: someone of 28 in 13012 is in both hospitals."""
    ages, conditions = ["25", "28", "31", "33"], ["AIDS", "heart disease", "cancer", "flu"]
    return sf.Table.of(
        {"zip": ["13053", "13012", "13068", "13053"], "age": ages, "condition": conditions},
        ROLES,
        {"zip": ZIPS, "age": AGES},
    )


def release_a() -> sf.Release:
    table = hospital_a()
    cells = [pl.Series("zip", ["130**"] * 4), pl.Series("age", ["<30", "<30", "<35", "<35"])]
    return as_is(table.replace_frame(table.frame.with_columns(cells)))


def release_b() -> sf.Table:
    """Another hospital's: the person of 28 among two, one of whom has what nobody under 30 has in the first."""
    return sf.Table.of(
        {
            "zip": ["130**"] * 4,
            "age": ["<30", "<30", "≥35", "≥35"],
            "condition": ["heart disease", "flu", "flu", "cancer"],
        }
    )


def test_two_releases_expose_who_neither_exposes() -> None:
    """Under 30: {AIDS, heart disease} in one, {heart disease, flu} in the other. The person of 25 is misled."""
    outcome = Composition().add_releases(release_b()).run(release_a(), hospital_a())
    assert (outcome.attempts, outcome.successes, outcome.baseline) == (4, 1, 1)
    assert outcome.facts == {
        "people_in_both": 2,
        "exposed_by_one": 0,
        "newly_exposed": 1,
        "average_candidates_before": 2.0,
        "average_candidates_after": 1.0,
        "columns": ["condition"],
    }


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(mixed=mixed_releases(), data=st.data())
def test_intersections_by_hand(mixed: Mixed, data: st.DataObject) -> None:
    """The same people again, each cell at another level, some of them left out and some values changed."""
    count = len(mixed.values)
    kept_rows = data.draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=count, unique=True))
    words = data.draw(
        st.lists(st.sampled_from(["a", "b", "d", None]), min_size=len(kept_rows), max_size=len(kept_rows))
    )
    names = mixed.table.quasi_identifying
    rows = {name: {row[0]: row for row in mixed.table.hierarchies[name].rows} for name in names}
    level = {name: data.draw(st.integers(0, mixed.table.hierarchies[name].height)) for name in names}
    cells = {name: [rows[name][mixed.table.frame[name][i]][level[name]] for i in kept_rows] for name in names}
    other = sf.Table.of(pl.DataFrame({**cells, "s": pl.Series(words, dtype=pl.String)}))

    def count_exposed(found: list[list[int]]) -> tuple[int, int, int, int, int]:
        right = new = both = before = after = 0
        for person, mine in enumerate(found):
            own = mixed.values[person]
            one = {mixed.values[i] for i in mine}
            labels = {name: {*rows[name][mixed.table.frame[name][person]], "*"} for name in names}
            fits = [i for i in range(len(kept_rows)) if all(cells[name][i] in labels[name] for name in names)]
            two = {words[i] for i in fits}
            common = (one & two) or one  # where nothing is in common, one release is not truthful: the first counts
            exposed, alone = own is not None and common == {own}, own is not None and one == {own}
            right += exposed
            new += exposed and not alone
            both += bool(fits)
            before += len(one) if fits else 0
            after += len(common) if fits else 0
        return right, new, both, before, after

    outcome = Composition().add_releases(other).run(mixed.release, mixed.table)
    right, new, overlap, before, after = count_exposed(mixed.choose(lambda found: count_exposed(found)[0]))
    assert (outcome.successes, outcome.facts["newly_exposed"], outcome.facts["people_in_both"]) == (right, new, overlap)
    assert outcome.facts["average_candidates_before"] == pytest.approx(before / overlap if overlap else 0)
    assert outcome.facts["average_candidates_after"] == pytest.approx(after / overlap if overlap else 0)


def test_who_has_no_value_in_common_is_judged_by_the_first_release() -> None:
    """The other release says of everybody what is not so; that does not hide what the first gives away."""
    roles = {"q": "quasi_identifying", "s": "sensitive"}
    truth = sf.Table.of({"q": ["a", "b"], "s": ["x", "y"]}, roles)
    other = sf.Table.of({"q": ["a", "b"], "s": ["z", "z"]}, roles)
    assert Composition().add_releases(other).run(sf.Release(truth, None, (), {}), truth).successes == 2


def test_the_other_release_from_a_file_and_from_a_folder(tmp_path: Path) -> None:
    expected = Composition().add_releases(release_b()).run(release_a(), hospital_a())
    file = tmp_path / "other.csv"
    write_frame(release_b().frame, file)
    assert Composition(other=str(file)).run(release_a(), hospital_a()) == expected
    folder = tmp_path / "out" / "release"
    folder.mkdir(parents=True)
    write_frame(release_b().frame, folder / "data.tsv", "tsv", "?")
    certificate = {"data": {"file": "data.tsv", "format": "tsv", "missing_mark": "?"}}
    (folder / "certificate.json").write_text(json.dumps(certificate), encoding="utf-8")
    assert Composition(other=str(folder)).run(release_a(), hospital_a()) == expected
    assert Composition(other=str(folder.parent)).run(release_a(), hospital_a()) == expected


def test_a_folder_that_a_run_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    hospital_a().frame.write_csv(tmp_path / "a.csv")
    (tmp_path / "zip.csv").write_text("\n".join(";".join(row) for row in ZIPS), encoding="utf-8")
    (tmp_path / "age.csv").write_text("\n".join(";".join(row) for row in AGES), encoding="utf-8")
    policy = """
        [data]
        path = "a.csv"
        [roles]
        quasi_identifying = ["zip", "age"]
        sensitive = ["condition"]
        [hierarchies]
        zip = "zip.csv"
        age = "age.csv"
        [[protect]]
        method = "generalize"
        models = [{ model = "k_anonymity", k = 2 }]
        [output]
        path = "out"
    """
    sf.run(sf.Policy.parse(policy, tmp_path / "policy.toml"))
    outcome = Composition(other=str(tmp_path / "out")).run(as_is(hospital_a()), hospital_a())
    assert (outcome.successes, outcome.facts["people_in_both"]) == (4, 4)
    repeat_outcome = Composition(other=str(tmp_path / "out" / "release")).run(release_a(), hospital_a())
    assert repeat_outcome.facts["average_candidates_after"] == repeat_outcome.facts["average_candidates_before"] == 2.0


def test_two_releases_of_the_same_people_say_more_than_one() -> None:
    table = people(400)
    first_release = sf.Generalize(models=(sf.KAnonymity(k=2),), suppression_limit=0.5).protect(table)
    coarse = {"age": 4, "sex": 0, "zip": 3, "education": 0, "occupation": 2, "marital_status": 0}
    labels = {name: [row[coarse[name]] for row in table.hierarchies[name].rows] for name in coarse}
    leaves = {name: table.hierarchies[name].leaves for name in coarse}
    other = table.replace_frame(
        table.frame.with_columns(
            pl.col(name).cast(pl.String).replace(leaves[name], labels[name]).alias(name) for name in coarse
        )
    )
    outcome = Composition(column="disease").add_releases(sf.Release(other, None, (), {})).run(first_release, table)
    assert outcome.facts["newly_exposed"] > 0
    assert outcome.successes == outcome.facts["exposed_by_one"] + outcome.facts["newly_exposed"]
    assert outcome.facts["average_candidates_after"] < outcome.facts["average_candidates_before"]


def test_people_who_are_not_there() -> None:
    strangers = sf.Table.of(
        {"zip": ["13068", "13068"], "age": ["25", "28"], "condition": ["heart disease", "cancer"]}, ROLES
    )
    outcome = Composition().add_releases(release_b()).run(release_a(), hospital_a(), control=strangers)
    assert outcome.control == 1


def test_it_succeeds_on_originals_and_fails_on_noise() -> None:
    data = people()
    other = sf.Generalize(models=(sf.KAnonymity(k=3),), suppression_limit=0.1).protect(data)
    attack = Composition().add_releases(other)
    assert attack.run(as_is(data), data).low > 0.5
    assert attack.run(noise(data), data).risk < 0.02
    assert Composition().add_releases(noise(data)).run(other, data).risk < 0.02


def test_json_round_trip() -> None:
    attack = Composition(other="out/release", column="disease")
    assert Composition.model_validate_json(attack.model_dump_json()) == attack
    armed_attack = attack.add_releases(release_b())
    assert attack._other is None and "_other" not in armed_attack.model_dump_json()
    assert armed_attack != attack


def test_bad_input_is_named(tmp_path: Path) -> None:
    run = (release_a(), hospital_a())
    with pytest.raises(sf.PolicyError, match="name the other release"):
        Composition().run(*run)
    with pytest.raises(sf.DataError, match="does not exist"):
        Composition(other=str(tmp_path / "nothing.csv")).run(*run)
    with pytest.raises(sf.DataError, match=r"no certificate\.json"):
        Composition(other=str(tmp_path)).run(*run)
    with pytest.raises(sf.DataError, match='"condition"'):
        Composition().add_releases(sf.Table.of({"zip": ["130**"]})).run(*run)
    with pytest.raises(sf.DataError, match="none of the quasi-identifying columns"):
        Composition().add_releases(sf.Table.of({"condition": ["flu"]})).run(*run)
    for certificate_text in ("{", "[]", '{"data": {"file": "../x.csv", "format": "csv", "missing_mark": ""}}'):
        (tmp_path / "certificate.json").write_text(certificate_text, encoding="utf-8")
        with pytest.raises(sf.DataError, match=r"certificate\.json"):
            Composition(other=str(tmp_path)).run(*run)
