# SPDX-License-Identifier: MIT
"""Policies for sequences, from file to certificate, report, verification and comparison."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.workflow.attack_run import attack_again
from sfumato.workflow.summary.sequence_utility import choose_compared_support
from sfumato.workflow.verification import read_release
from tests.contract.examples import walks
from tests.faults.test_tampering import resign

HIDE = """
[data]
path = "walks.txt"

[[protect]]
method = "hide_sequences"
patterns = [["station", "clinic"], ["school", "park"]]
threshold = [3, 0]
mark = "Δ"

[output]
path = "hidden"
"""
ANONYMIZE = """
[data]
path = "walks.csv"
id = "person"
item = "place"
time = "hour"

[[protect]]
method = "anonymize_sequences"
k = 5

[measure]
min_support = 20

[output]
path = "anonymous"
format = "long"
order = "shuffled"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    walks().write(tmp_path / "walks.txt")
    walks().write(tmp_path / "walks.csv", id="person", item="place", time="hour")
    (tmp_path / "hide.toml").write_text(HIDE, encoding="utf-8")
    (tmp_path / "anonymize.toml").write_text(ANONYMIZE, encoding="utf-8")
    return tmp_path


def test_both_methods_run_from_policies_and_can_be_verified_and_compared(folder: Path) -> None:
    hiding_run = sf.run(sf.Policy.read(folder / "hide.toml"))
    anonymous = sf.run(sf.Policy.read(folder / "anonymize.toml"), randomness=sf.Randomness.seeded(3))
    for run in (hiding_run, anonymous):
        assert run.published
        assert sf.verify(run.out).holds
        for name in ("release", "private"):
            assert "<svg" in (run.out / name / "report.html").read_text(encoding="utf-8")
    body = json.loads((hiding_run.out / "release" / "certificate.json").read_text(encoding="utf-8"))
    assert body["data"]["shape"] == "sequences"
    assert body["methods"][0]["threshold"] == 3
    assert "patterns" not in body["methods"][0]
    assert not body["losses"]
    assert not body["utility"]
    assert sf.compare(hiding_run.out, anonymous.out).rows


def test_what_is_hidden_is_named_inside_and_not_outside(folder: Path) -> None:
    run = sf.run(sf.Policy.read(folder / "hide.toml"))
    internal = (run.out / "private" / "report.html").read_text(encoding="utf-8")
    assert "station → clinic" in internal
    for path in (run.out / "release").iterdir():
        assert "→ clinic" not in path.read_text(encoding="utf-8")
    assert run.record["utility"]["ghost_patterns"] == 0
    assert run.record["utility"]["loss"] == pytest.approx(run.record["losses"]["loss"])


def test_patterns_are_compared_at_the_support_at_which_none_may_become_frequent(folder: Path) -> None:
    """Compared at another support, the report named ghosts beside the claim that there are none."""
    text = HIDE.replace('mark = "Δ"', 'mark = "replace"\nmin_support = 5')
    for extra_text, expected in (("", 5), ("[measure]\nmin_support = 0.2\n", 0.2)):
        policy = sf.Policy.parse(text + extra_text, folder / "replace.toml")
        assert choose_compared_support(policy, sf.run(policy, randomness=sf.Randomness.seeded(1)).release) == expected
    policy = sf.Policy.read(folder / "hide.toml")
    assert choose_compared_support(policy, sf.run(policy).release) == 0.1
    run = sf.run(sf.Policy.parse(text, folder / "replace.toml"), randomness=sf.Randomness.seeded(1))
    assert run.record["utility"]["ghost_patterns"] == 0


def _move_time(out: Path, new_time: str) -> Path:
    """Change the time of the second row of a published file in the long form."""
    path = out / "release" / "data.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[2] = lines[2].rpartition(",")[0] + f",{new_time}"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("time", ["0", "1.0", "99", "-1", "", "later"])
def test_a_changed_time_is_noticed(folder: Path, time: str) -> None:
    """One place later or earlier is another walk; 1.0 for 1 is not, but the file is no longer the certified one."""
    out = sf.run(sf.Policy.read(folder / "anonymize.toml"), randomness=sf.Randomness.seeded(3)).out
    assert sf.verify(out).holds
    _move_time(out, time)
    verification = sf.verify(out)
    assert not verification.holds
    assert any("data.csv" in problem for problem in verification.problems)


def test_a_changed_time_that_is_signed_again_breaks_the_claim(folder: Path) -> None:
    """A forger who fits the checksums still publishes a walk that nobody else has."""
    out = sf.run(sf.Policy.read(folder / "anonymize.toml"), randomness=sf.Randomness.seeded(3)).out
    _move_time(out, "99")
    resign(out, lambda body: None)
    verification = sf.verify(out)
    assert not verification.holds
    assert not any("checksum" in problem or "signature" in problem for problem in verification.problems)
    assert any("sequence_anonymity" in problem or "occurs" in problem for problem in verification.problems)


def test_shuffled_sequences_are_the_same_ones(folder: Path) -> None:
    run = sf.run(sf.Policy.read(folder / "anonymize.toml"))
    shuffled = read_release(run.out).data.to_lists()
    ordered = sf.AnonymizeSequences(k=5).protect(walks()).data.to_lists()
    assert shuffled != ordered
    assert sorted(shuffled) == sorted(ordered)
    assert run.record["utility"]["loss"] == pytest.approx(run.record["losses"]["loss"])
    assert 0 < run.record["utility"]["support_similarity"] <= 1


def test_rows_can_be_taken() -> None:
    data = sf.Sequences.of([[["a", "b"], ["c"]], [], [["c"]]], ids=["x", "y", "z"])
    selection = data.take(np.array([2, 0]))
    assert selection.to_lists() == [[["c"]], [["a", "b"], ["c"]]]
    assert selection.ids == ("z", "x")


def test_baskets_keep_their_order() -> None:
    with pytest.raises(ValueError, match="tables and sequences can be shuffled"):
        sf.Policy(
            data={"path": "x.dat"},
            protect=[{"method": "hide_items", "items": ["a"], "min_support": 2, "min_confidence": 0.5}],
            output={"order": "shuffled"},
        )


def test_a_certificate_does_not_deny_that_sequences_were_left_out(folder: Path) -> None:
    """Whether some were, or how many, is the custodian's: the sentence is the same for every release of the method."""
    policy = {"data": {"path": "in memory"}, "protect": [sf.AnonymizeSequences(k=2)]}
    suppressions = []
    for strangers in ([], [["nowhere else", "never"]]):
        run = sf.run(sf.Sequences.of([["home", "work"]] * 4 + strangers), policy)
        assert run.record["suppression"]["rows"] == len(strangers)
        suppressions.append(run.certificate.body["suppression"])
    assert suppressions[0] == suppressions[1]
    assert suppressions[0]["rows"] is None
    assert "not in the release" in suppressions[0]["why"]


def test_the_internal_page_counts_sequences_and_not_rows(folder: Path) -> None:
    sequences = sf.Sequences.of([["home", "work"]] * 5 + [["clinic"]])
    sequences.write(folder / "walks.csv", id="person", item="place", time="hour")
    run = sf.run(folder / "anonymize.toml")
    assert run.folder is not None
    text = (run.folder / "private" / "report.html").read_text(encoding="utf-8")
    assert "sequence left out" in text and "rows suppressed" not in text


def test_the_verdict_says_that_hiding_patterns_hides_no_people() -> None:
    walks = sf.Sequences.of([["home", "work"]] * 4)
    start = "No claim covers finding people by items that others know"
    for method, attacks, sentences in (
        (sf.HideSequences(patterns=[["home", "work"]], threshold=0), [], [f"{start}, and it was not tested."]),
        (sf.HideSequences(patterns=[["home", "work"]], threshold=0), ["sequence_linking"], [f"{start}."]),
        (sf.AnonymizeSequences(k=2), [], []),
    ):
        run = sf.run(walks, method, attacks=attacks)
        assert [line for line in run.certificate.body["verdict"]["unchecked"] if line.startswith(start)] == sentences


def test_marks_are_not_called_a_part_of_the_original() -> None:
    for mark, has_note in (("Δ", True), ("delete", False)):
        release = sf.HideSequences(patterns=[["a", "b"]], threshold=0, mark=mark).protect(sf.Sequences.of([["a", "b"]]))
        claim = next(claim for claim in release.claims if claim.property == "added_elements")
        assert ("apart from the marks Δ" in claim.meaning) == has_note


@pytest.mark.parametrize("form", ["spmf", "long"])
def test_the_form_of_the_items_does_not_tell_whether_a_hidden_one_was_a_number(form: str, folder: Path) -> None:
    """Items of a file are numbers only if all of them are: a name that is hidden would show in all others."""
    contents = []
    for secret_item in ("3", "zqclinic"):
        lines = "".join(f"{person},1,1\n{person},{secret_item},2\n{person},2,3\n" for person in "abc")
        (folder / "items.csv").write_text(f"id,item,time\n{lines}", encoding="utf-8")
        policy = {"data": {"path": str(folder / "items.csv")}, "output": {"format": form}}
        method = {"method": "hide_sequences", "patterns": [[secret_item]], "threshold": 0}
        run = sf.run(sf.Policy.model_validate({**policy, "protect": [method]}), folder / "out")
        contents.append((run.out / "release" / run.certificate.body["data"]["file"]).read_bytes())
    assert contents[0] == contents[1]
    assert b"CONVERTED_FROM_TEXT" not in contents[0]


def test_methods_for_baskets_say_that_a_file_holds_sequences(folder: Path) -> None:
    protect = 'method = "hide_items"\nitems = ["clinic"]\nmin_support = 2\nmin_confidence = 0.5'
    policy = f'[data]\npath = "walks.txt"\n\n[[protect]]\n{protect}\n\n[output]\npath = "baskets"\n'
    (folder / "baskets.toml").write_text(policy, encoding="utf-8")
    with pytest.raises(sf.DataError, match="not baskets but sequences: use anonymize_sequences or hide_sequences"):
        sf.run(folder / "baskets.toml")


TABLE = """
[data]
path = "walks.txt"
{roles}
[[protect]]
method = "generalize"
models = [{{ model = "k_anonymity", k = 2 }}]

[output]
path = "out"
"""


@pytest.mark.parametrize("roles", ["", '[roles]\nquasi_identifying = ["age"]\n'])
def test_methods_for_tables_say_that_a_file_holds_sequences(folder: Path, roles: str) -> None:
    (folder / "table.toml").write_text(TABLE.format(roles=roles), encoding="utf-8")
    with pytest.raises(sf.DataError, match=r"holds sequences.*generalize takes a table.*anonymize_sequences"):
        sf.run(folder / "table.toml")


def test_methods_for_baskets_do_not_ignore_a_time_column_silently(folder: Path) -> None:
    policy_text = ANONYMIZE.replace("anonymize_sequences", "hide_items").replace(
        "k = 5", 'items = ["clinic"]\nmin_support = 2\nmin_confidence = 0.5'
    )
    (folder / "baskets.toml").write_text(policy_text, encoding="utf-8")
    with pytest.raises(sf.PolicyError, match=r"hide_items takes baskets, whose items have no order.*remove time"):
        sf.run(folder / "baskets.toml")


def test_a_form_without_empty_sequences_is_refused_with_the_line_to_change(folder: Path) -> None:
    sf.Sequences.of([["clinic"], ["home", "work"]]).write(folder / "walks.txt")
    text = HIDE.replace('[["station", "clinic"], ["school", "park"]]', '[["clinic"]]').replace("[3, 0]", "0")
    text = text.replace('mark = "Δ"', "") + 'format = "long"\n'
    (folder / "hide.toml").write_text(text, encoding="utf-8")
    with pytest.raises(sf.PolicyError) as error_info:
        sf.run(folder / "hide.toml")
    assert str(error_info.value).endswith(
        '1 of 2 published sequences is empty, and the long form has no row for an empty sequence; set format = "spmf" '
        "in [output]"
    )
    assert str(folder) not in str(error_info.value)


@pytest.mark.parametrize(("mark", "limit"), [("Δ", ""), ("delete", ""), ("Δ", "max_gap = 0")])
def test_marks_of_a_release_folder_are_guessed_again(folder: Path, mark: str, limit: str) -> None:
    """`attack` said "give the items to guess" of what the run itself had guessed."""
    attacks = '[[attack]]\nattack = "mark_guessing"\n[[attack]]\nattack = "sequence_remining"\n[output]'
    text = HIDE.replace("[output]", attacks).replace('mark = "Δ"', f'mark = "{mark}"\n{limit}')
    (folder / "again.toml").write_text(text, encoding="utf-8")
    result = sf.run(sf.Policy.read(folder / "again.toml"))
    attack_counts = [(attack["attempts"], attack["successes"]) for attack in result.record["attacks"]]
    second_attacks = attack_again(result.out, folder / "again.toml")
    assert [(outcome.attempts, outcome.successes) for _, outcome in second_attacks] == attack_counts
    assert attack_counts[0][0] > 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("threshold = [3, 0]", "threshold = -1"), "protect[0].threshold: must be at least 0"),
        (("threshold = [3, 0]", "threshold = 1.5"), "protect[0].threshold: must be less than 1: it is a share"),
        (
            ("[[protect]]", "[data.points]\nsplit = -5\n[[protect]]"),
            'data.points.split: must be "day", or a pause as a number of seconds above 0',
        ),
    ],
)
def test_a_number_out_of_bounds_is_told_once(folder: Path, change: tuple[str, str], words: str) -> None:
    """It was told three times: constrained-int, constrained-float, and that it must be a list."""
    with pytest.raises(sf.PolicyError) as error_info:
        sf.Policy.parse(HIDE.replace(*change), folder / "hide.toml")
    assert words in str(error_info.value)
    assert "constrained" not in str(error_info.value) and ";" not in str(error_info.value)


@pytest.mark.parametrize(
    "option", ['missing_marks = ["NA"]', 'encoding = "latin-1"', 'decimal = ","', "header = false", "trim = false"]
)
def test_what_sequences_are_read_without_is_refused(folder: Path, option: str) -> None:
    """It was passed over: who said that NA is missing published it as a place."""
    text = ANONYMIZE.replace('id = "person"', f'id = "person"\n{option}')
    with pytest.raises(sf.PolicyError, match=f"read without `{option.split(maxsplit=1)[0]}`"):
        sf.run(sf.Policy.parse(text, folder / "anonymize.toml"))


def test_figures_do_not_depend_on_the_name_of_an_item() -> None:
    """Items are deleted and nothing is marked: an item called Δ is mined and compared like any other."""
    rows = [list("aqb"), list("qac"), list("bqa"), list("cq")] * 10
    records = []
    for name in ("Δ", "ω"):
        data = sf.Sequences.of([[name if item == "q" else item for item in row] for row in rows])
        method = sf.HideSequences(patterns=[[name, "a"]], threshold=5)
        result = sf.run(data, [method], sf.Randomness.seeded(0), attacks=[{"attack": "sequence_remining"}])
        records.append([result.record[part] for part in ("utility", "losses", "attacks")])
    assert records[0] == records[1]
