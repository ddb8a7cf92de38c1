# SPDX-License-Identifier: MIT
"""Attacks on a stored release take the policy that made it, and refuse one that would look up the wrong people."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.workflow.attack_run import attack_again

POLICY = """
[data]
path = "people.csv"
[roles]
quasi_identifying = ["age", "zip"]
sensitive = ["ill"]
insensitive = ["job"]
[hierarchies]
age = { kind = "intervals", widths = [5, 10, 20] }
zip = "zip.csv"
[[protect]]
method = "generalize"
models = [{ model = "k_anonymity", k = 3 }]
suppression_limit = 0.1
[[attack]]
attack = "linking"
[output]
path = "out"
"""
ZIPS = ("10115", "10117", "20095", "20097", "80331", "80333")


def write_zips(path: Path, digits: int) -> None:
    path.write_text("".join(f"{code},{code[:digits]}{'*' * (5 - digits)},*\n" for code in ZIPS))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on a file of people, some of whom are alone with their age and zip."""
    root = tmp_path_factory.mktemp("again")
    people = {
        "age": [20 + n * n * 7 % 41 for n in range(120)],
        "zip": [ZIPS[n * 5 % 6 if n % 7 else n % 2] for n in range(120)],
        "ill": [("flu", "cold", "gout")[n * n % 5 % 3] for n in range(120)],
        "job": [f"j{n % 9}" for n in range(120)],
    }
    frame = pl.DataFrame(people)
    frame.write_csv(root / "people.csv")
    frame.sample(fraction=1.0, shuffle=True, seed=3).write_csv(root / "shuffled.csv")
    write_zips(root / "zip.csv", 3)
    (root / "policy.toml").write_text(POLICY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SFUMATO_HOME", str(root / "home"))
        sf.run(sf.Policy.read(root / "policy.toml"))
    return root


def count_links(folder: Path, policy: str) -> int:
    (folder / "other.toml").write_text(policy)
    ((_, outcome),) = attack_again(folder / "out", folder / "other.toml")
    return int(outcome.successes)


OTHERS = {
    "widths": ("[5, 10, 20]", "[7, 14, 28]", 'other hierarchies of "age"'),
    "no hierarchy": ('zip = "zip.csv"', "", 'other hierarchies of "zip"'),
    "another file": ("zip.csv", "digits.csv", 'other hierarchies of "zip"'),
    "a description": ('"zip.csv"', '{ kind = "prefix", keep = [2] }', 'other hierarchies of "zip"'),
    "roles": ('["ill"]\ninsensitive = ["job"]', '["job"]\ninsensitive = ["ill"]', 'other roles of "ill", "job"'),
    "missing": ("[roles]", 'missing = "matches_any"\n[roles]', "another missing under"),
    "missing marks": ("[roles]", 'missing_marks = ["gout"]\n[roles]', "another missing_marks under"),
    "order of rows": ("people.csv", "shuffled.csv", "other data, or the same rows in another order, than .*shuffled"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_policy_is_refused_by_what_differs(folder: Path, name: str) -> None:
    """Linking of 12 % was said to be no better than guessing."""
    write_zips(folder / "digits.csv", 2)
    before, after, words = OTHERS[name]
    assert before in POLICY
    with pytest.raises(sf.PolicyError, match=f"made with {words}.*give the policy that made the release"):
        count_links(folder, POLICY.replace(before, after))


SAME: dict[str, Callable[[str], str]] = {
    "as it was": lambda policy: policy,
    "data and hierarchy elsewhere": lambda policy: policy.replace("people.csv", "copy.csv").replace("zip.csv", "z.csv"),
    "a description of the same hierarchy": lambda policy: policy.replace(
        '"zip.csv"', '{ kind = "prefix", keep = [3] }'
    ),
    "another order of roles": lambda policy: policy.replace('["age", "zip"]', '["zip", "age"]'),
    "another title and gate": lambda policy: f'title = "Again"\n{policy}[gate]\nmax_linking_risk = 0.5\n',
}


@pytest.mark.parametrize("name", SAME)
def test_the_same_policy_in_other_words_is_taken(folder: Path, name: str) -> None:
    (folder / "copy.csv").write_bytes((folder / "people.csv").read_bytes())
    (folder / "z.csv").write_bytes((folder / "zip.csv").read_bytes())
    assert count_links(folder, SAME[name](POLICY)) == count_links(folder, POLICY) > 0


def test_a_hierarchy_file_that_changed_is_noticed(folder: Path) -> None:
    write_zips(folder / "zip.csv", 1)
    try:
        with pytest.raises(sf.PolicyError, match='other hierarchies of "zip"'):
            count_links(folder, POLICY)
    finally:
        write_zips(folder / "zip.csv", 3)


def test_a_policy_for_data_that_was_given_in_memory(tmp_path: Path) -> None:
    """The commitment is to the file that the table would be written to, and hierarchies may be the table's own."""
    frame = pl.DataFrame({"age": [n * n % 37 + 20 for n in range(90)], "ill": ["flu", "cold", "gout"] * 30})
    hierarchies = {"age": {"kind": "intervals", "widths": [5, 10, 20]}}
    table = sf.Table.of(frame, {"age": "quasi_identifying", "ill": "sensitive"}, hierarchies)
    sf.run(table, sf.Generalize(models=[sf.KAnonymity(k=3)], suppression_limit=0.1), out=tmp_path / "out")
    policy = POLICY.replace('"age", "zip"', '"age"').replace('insensitive = ["job"]\n', "")
    policy = policy.replace('zip = "zip.csv"\n', "")
    table.frame.write_csv(tmp_path / "people.csv")
    assert count_links(tmp_path, policy) > 0
    frame.reverse().write_csv(tmp_path / "people.csv")
    with pytest.raises(sf.PolicyError, match=r"as table\.frame\.write_csv or baskets\.write does"):
        count_links(tmp_path, policy)


def test_private_parameters_of_a_method_must_be_the_same(tmp_path: Path) -> None:
    """Rules to hide are not certified: the attack would look for those of the policy."""
    rows = [f"{n},{item}" for n in range(60) for item in ("bread", *["milk"] * (n % 3 < 2), *["nuts"] * (n % 4 < 3))]
    (tmp_path / "bought.csv").write_text("id,item\n" + "\n".join(rows) + "\n")
    policy = (
        '[data]\npath = "bought.csv"\n[[protect]]\nmethod = "hide_rules"\nmin_support = 0.1\nmin_confidence = 0.6\n'
        'rules = ["milk ==> bread"]\n[[attack]]\nattack = "remining"\n[output]\npath = "out"\n'
    )
    (tmp_path / "policy.toml").write_text(policy)
    sf.run(sf.Policy.read(tmp_path / "policy.toml"))
    count_links(tmp_path, policy)
    with pytest.raises(sf.PolicyError, match="other parameters of hide_rules"):
        count_links(tmp_path, policy.replace("milk ==>", "nuts ==>"))


def test_a_misspelled_column_is_named_with_its_field(folder: Path) -> None:
    (folder / "slip.toml").write_text(POLICY.replace('attack = "linking"', 'attack = "linking"\nknowledge = ["agee"]'))
    with pytest.raises(sf.PolicyError, match=r'attack\[0\]\.knowledge names "agee".* "age"'):
        attack_again(folder / "out", folder / "slip.toml")


def test_a_policy_without_attacks_is_named(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "quiet.toml"
    file.write_text(POLICY.replace('[[attack]]\nattack = "linking"\n', ""))
    with pytest.raises(sf.PolicyError, match=f"^{file}: the policy names no attack"):
        attack_again(folder / "out", file)
