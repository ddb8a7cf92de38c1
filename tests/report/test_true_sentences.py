# SPDX-License-Identifier: MIT
"""Every sentence of a report is true for the method that made the release."""

from __future__ import annotations

import html
import random
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import sfumato as sf
from sfumato.report.sections.entry_section import _describe_blanking
from sfumato.report.words import loss_words, wording
from sfumato.workflow import pipeline
from sfumato.workflow.outgoing import STEP
from sfumato.workflow.policy import Policy

PEOPLE = {"quasi_identifying": ["age", "job"], "sensitive": ["ill"], "insensitive": ["pay"]}
MODELS = [{"model": "k_anonymity", "k": 4}]
RUNS: dict[str, dict[str, Any]] = {
    "generalize": {"roles": PEOPLE, "protect": [{"method": "generalize", "models": MODELS, "suppression_limit": 0.1}]},
    "partition": {"roles": PEOPLE, "protect": [{"method": "partition", "models": MODELS}]},
    "microaggregate": {"roles": PEOPLE, "protect": [{"method": "microaggregate", "k": 4}]},
    "suppress_entries": {
        "roles": {"quasi_identifying": ["job"], "sensitive": ["ill"], "insensitive": ["age", "pay"]},
        "protect": [
            {
                "method": "suppress_entries",
                "private": {"columns": ["ill"], "share": 0.1},
                "confidence": 0.7,
                "min_support": 2,
                "search": "grades",
            }
        ],
    },
    "add_noise": {
        "roles": PEOPLE,
        "protect": [{"method": "add_noise", "columns": ["age"], "privacy": 0.5, "ranges": {"age": [0, 100]}}],
    },
    "synthesize": {"roles": PEOPLE, "protect": [{"method": "synthesize"}]},
    "hide_rules": {
        "protect": [{"method": "hide_rules", "rules": ["a ==> b"], "min_support": 0.1, "min_confidence": 0.6}]
    },
    "publish_patterns": {"protect": [{"method": "publish_patterns", "k": 3, "min_support": 10}]},
}


class Pages(NamedTuple):
    """A record, and the text of both reports."""

    record: dict[str, Any]
    leaving: str
    internal: str


def read_text(page: Path) -> str:
    bare = re.sub(r"<style>.*?</style>|<svg.*?</svg>", "", page.read_text(encoding="utf-8"), flags=re.S)
    return re.sub(r"[ \n]+", " ", re.sub(r"<[^>]+>", " ", bare))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pages]:
    root = tmp_path_factory.mktemp("true")
    draw = random.Random(3)
    people = [
        f"{draw.randint(20, 70)},{draw.choice(['clerk', 'nurse'])},{draw.choice(['flu', 'cold'])},{draw.randint(1, 99)}"
        for _ in range(240)
    ]
    (root / "people.csv").write_text("age,job,ill,pay\n" + "\n".join(people) + "\n")
    purchases = [f"{n},{item}" for n in range(60) for item in "abcd" if draw.random() < 0.6 or (item == "b" and n % 2)]
    (root / "bought.csv").write_text("id,item\n" + "\n".join(purchases) + "\n")
    run_pages = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SFUMATO_HOME", str(root / "home"))
        for name, fields in RUNS.items():
            data = "people.csv" if "roles" in fields else "bought.csv"
            loose = fields.get("roles", {}).get("insensitive", ())
            accept = dict.fromkeys(loose, "invented people")
            policy = Policy.model_validate(
                {"title": name, "data": {"path": str(root / data)}, "accept": accept, **fields}
            )
            result = pipeline.run_policy(policy, root / name, sf.Randomness.seeded(1))
            sides = (read_text(root / name / side / "report.html") for side in ("release", "private"))
            run_pages[name] = Pages(dict(result.record), *sides)
    return run_pages


@pytest.mark.parametrize("name", ["suppress_entries", "add_noise", "synthesize", "hide_rules", "publish_patterns"])
def test_only_methods_that_form_classes_speak_of_them(pages: dict[str, Pages], name: str) -> None:
    for page in pages[name][1:]:
        assert "equivalence class" not in page.lower()
    assert "smallest class" in pages["generalize"].leaving
    assert "An equivalence class hides which row" in pages["partition"].leaving


@pytest.mark.parametrize("name", ["partition", "microaggregate", "suppress_entries", "add_noise", "hide_rules"])
def test_suppression_is_told_only_where_rows_may_be_suppressed(pages: dict[str, Pages], name: str) -> None:
    for page in pages[name][1:]:
        for words in ("rows suppressed 0", "No row was suppressed", "Suppressed rows are not counted"):
            assert words not in page
    suppressed = pages["generalize"].record["suppression"]["rows"]
    assert f"rows suppressed {suppressed}" in pages["generalize"].leaving


def test_levels_are_told_only_where_there_are_levels(pages: dict[str, Pages]) -> None:
    for name, (_, leaving, internal) in pages.items():
        for page in (leaving, internal):
            assert ("Each step of the scale" in page) == (name == "generalize")
        assert ("Sum of the levels chosen" in internal) == (name == "generalize")
        assert ("Why these levels" in internal) == (name == "generalize")


@pytest.mark.parametrize("name", list(RUNS))
def test_the_loss_is_that_of_the_method(pages: dict[str, Pages], name: str) -> None:
    record, _, internal = pages[name]
    words = loss_words.describe_loss(record)
    kept_share = wording.format_percent(max(0.0, 1 - record["utility"]["loss"]))
    assert f"{words.caption} {kept_share} {words.scope}" in internal
    assert words.meaning.replace('"', "&#34;").replace("'", "&#39;") in internal
    assert ("detail kept" in internal) == (name in ("generalize", "partition"))
    assert ("how much detail the cells lost" in internal.lower()) == (name in ("generalize", "partition"))


@pytest.mark.parametrize("name", ["hide_rules", "publish_patterns", "microaggregate", "add_noise"])
def test_the_loss_is_told_as_the_method_states_it_and_as_measured(pages: dict[str, Pages], name: str) -> None:
    record = pages[name].record
    stated_loss, measured = (wording.format_percent(record[part]["loss"]) for part in ("losses", "utility"))
    assert f"{loss_words.describe_loss(record).meaning} {stated_loss} {measured}" in pages[name].internal


def test_figures_that_leave_in_steps_are_called_rounded(pages: dict[str, Pages]) -> None:
    assert STEP == 0.05
    for name in ("generalize", "partition"):
        assert "rounded to steps of 5" in pages[name].leaving
        assert "Measured on the file" not in pages[name].leaving
        assert "rounded to steps" not in pages[name].internal


@pytest.mark.parametrize("name", ["synthesize", "hide_rules", "publish_patterns"])
def test_where_no_attack_ran_none_is_announced(pages: dict[str, Pages], name: str) -> None:
    for page in pages[name][1:]:
        assert "No attack was run." in page
        assert "also attacked" not in page
    assert "was also attacked" in pages["generalize"].leaving


def test_baskets_have_no_missing_values_and_patterns_come_from_baskets(pages: dict[str, Pages]) -> None:
    for name in ("hide_rules", "publish_patterns"):
        assert "missing value" not in pages[name].leaving
        assert "Baskets in the originals 59" in pages[name].internal
    assert "missing value" in pages["generalize"].leaving


def test_the_order_of_rows_is_told_where_rows_are_peoples(pages: dict[str, Pages]) -> None:
    for name in ("generalize", "partition", "suppress_entries", "add_noise"):
        assert "Rows keep the order of the input" in pages[name].internal
    for name in ("synthesize", "hide_rules", "publish_patterns"):
        assert "Rows keep the order" not in pages[name].internal


def test_originals_are_counted_as_the_page_states(pages: dict[str, Pages]) -> None:
    for name in ("generalize", "partition", "add_noise", "suppress_entries"):
        assert "what differs was suppressed" not in pages[name].internal
        assert "Original values next to published ones." in pages[name].internal
    assert "Original values next to synthetic ones." in pages["synthesize"].internal


def test_cells_that_are_blank_need_not_be_private(pages: dict[str, Pages]) -> None:
    for page in pages["suppress_entries"][1:]:
        assert "some cells may be blanked" in page
        assert "private cells blanked" not in page


def test_an_attack_that_did_not_run_is_recommended_not_cited(pages: dict[str, Pages]) -> None:
    assert "Run the attack learned_inference" in pages["suppress_entries"].internal
    assert "Check the attack" not in pages["suppress_entries"].internal


def test_blanking_is_told_as_it_went() -> None:
    assert "That alone would not be enough" in _describe_blanking(5, 2, 3, 0)
    assert _describe_blanking(1, 0, 0, 0) == (
        "1 entry was private and blanked. No rule of the given length, confidence and support is right about at least "
        "that share of the private entries it fits. "
        "0 further entries were blanked; 0 such rules are left."
    )


def test_the_blanking_curve_counts_what_was_blanked_to_protect(pages: dict[str, Pages]) -> None:
    assert "In all" not in pages["suppress_entries"].internal
    assert "At a time Blanked to protect" in pages["suppress_entries"].internal


def test_hidden_rules_that_are_left_are_counted(pages: dict[str, Pages]) -> None:
    assert "after the changes, 0 of them reach both thresholds" in pages["hide_rules"].internal


def test_blanked_columns_are_counted_for_the_custodian_alone(pages: dict[str, Pages]) -> None:
    _, leaving, internal = pages["suppress_entries"]
    match = re.search(r"Entries blanked by column: (.+?)\. ", internal)
    assert match
    assert re.search(r"&#34;ill&#34; \d+ \(24 private, \d+ to protect\)", match[1])
    counts = [int(number) for number in re.findall(r"&#34; (\d+) \(", match[1])]
    assert counts == sorted(counts, reverse=True)
    assert re.search(rf"Cells that became empty, by column .*{max(counts)}", internal)
    for words in ("blanked by column", "Cells that became empty", "to protect)"):
        assert words not in leaving


def test_a_star_that_somebody_holds_is_a_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unchanged column had one value fewer in the release than before: a value that reads "*" was left out."""
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    rows = [f"{20 + n},{'*' if n % 2 else 'Aton'}" for n in range(10)]
    (tmp_path / "people.csv").write_text("\n".join(["age,town", *rows]))
    policy = """
    data = { path = "people.csv" }
    roles = { quasi_identifying = ["age"], insensitive = ["town"] }
    protect = [{ method = "top_code", columns = ["age"], k = 3 }]
    accept = { age = "a test", town = "a test" }
    """
    pipeline.run_policy(Policy.parse(policy, tmp_path / "policy.toml"), tmp_path / "out")
    text = read_text(tmp_path / "out" / "private" / "report.html")
    assert re.search(r"town insensitive unchanged – 2 2 ", text), text[text.find("town insensitive") :][:60]


def test_a_star_is_no_value_of_a_column_that_is_unchanged_but_for_suppressed_rows() -> None:
    people = sf.Table.of(
        {"sex": ["f", "f", "f", "f", "m", "m", "m", "m", "f", "x"], "note": list(range(10))},
        roles={"sex": "quasi_identifying", "note": "sensitive"},
    )
    run = sf.run(people, sf.Generalize(models=[sf.KAnonymity(k=2)], suppression_limit=0.2))
    assert sorted(run.release.data.frame["sex"].unique()) == ["*", "f", "m"]
    assert run.files is not None
    page = html.unescape(re.sub(r"<[^>]+>", " ", run.files.contents["release/report.html"].decode("utf-8")))
    assert re.search(r"sex\s+quasi-identifying\s+unchanged, suppressed rows starred\s+2\s+f\s+m\s", page)


@pytest.mark.parametrize(
    ("file_name", "text", "method", "words"),
    [
        (
            "shop.dat",
            "a b\n",
            {"method": "hide_items", "items": ["a"], "min_support": 2, "min_confidence": 0.5},
            "basket",
        ),
        ("shop.dat", "a\na\n", {"method": "publish_patterns", "k": 2, "min_support": 2}, "pattern"),
        ("walk.txt", "1 -1 2 -1 -2\n", {"method": "hide_sequences", "patterns": [[1]], "threshold": 0}, "sequence"),
    ],
)
def test_one_thing_in_a_file_is_in_the_singular(
    tmp_path: Path, file_name: str, text: str, method: dict[str, Any], words: str
) -> None:
    (tmp_path / file_name).write_text(text, encoding="utf-8")
    data = {"format": "spmf" if file_name == "walk.txt" else "fimi"}
    policy = Policy.model_validate(
        {"data": {**data, "path": str(tmp_path / file_name)}, "protect": [method], "output": {"path": "out"}}
    )
    assert pipeline.run_policy(policy, tmp_path / "out").published
    for page in ("release/report.html", "private/report.html"):
        text = read_text(tmp_path / "out" / page)
        assert (
            f", 1 {words}, " in text
            and f" {words} in the release " in text
            and f"{words}s in the release 1" not in text
        )


def test_one_change_is_in_the_singular(tmp_path: Path) -> None:
    (tmp_path / "shop.dat").write_text("a b\na b\na\n", encoding="utf-8")
    method = {"method": "hide_rules", "itemsets": ["a, b"], "min_support": 2}
    data = {"path": str(tmp_path / "shop.dat"), "format": "fimi"}
    policy = Policy.model_validate({"data": data, "protect": [method], "output": {"path": "out"}})
    assert pipeline.run_policy(policy, tmp_path / "out").published
    text = read_text(tmp_path / "out" / "private" / "report.html")
    assert " change items added" in text.replace(" 1 ", " ") and " changes items added" not in text.replace(" 1 ", " ")
