# SPDX-License-Identifier: MIT
"""The documentation keeps its word: examples run, shown output is real, generated pages are up to date.

A fenced block's info string says what is done with it: `python` is executed; `text output` is compared with
what the block before it printed; `text file NAME` and `toml policy NAME` are written to the page's folder (a
policy is parsed, too); `console` runs each `$ sfumato …`, ending in `# exit N` if not in 0, and compares what
is shown under it. In shown output, `…` stands for anything, and blanks and line ends are all alike.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

import sfumato as sf
from sfumato.attack import ATTACKS
from sfumato.attack.attack import Attack
from sfumato.cli import commands as cli
from sfumato.protect import METHODS, MODELS
from sfumato.protect.stored_method import list_stored_methods

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(p for p in DOCS.rglob("*.md") if not {"_build", "_templates"} & {*p.parts})]
ALL_PROSE = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", ROOT / "CHANGELOG.md"]
_FENCE = re.compile(r"^(?P<ticks>```+)(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=ticks)$", re.MULTILINE | re.DOTALL)
_KINDS = {"python", "console", "sh", "text", "toml", "json"}


@dataclass(frozen=True)
class Block:
    kind: str
    words: tuple[str, ...]
    text: str
    place: str


@dataclass
class Reader:
    """Someone who works through a page from top to bottom."""

    folder: Path
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "example"})
    printed: str = ""

    def do(self, block: Block) -> None:
        match (block.kind, *block.words):
            case ("python",):
                self._execute(block)
            case ("text", "output"):
                _compare(block.text, self.printed, block.place)
            case ("text", "file", name):
                (self.folder / name).write_text(block.text, encoding="utf-8")
            case ("toml", "policy", *names):
                path = self.folder / (names[0] if names else "policy.toml")
                sf.Policy.parse(block.text, path)
                path.write_text(block.text, encoding="utf-8")
            case ("toml",):
                tomllib.loads(block.text)
            case ("console",):
                self._type(block)

    def _execute(self, block: Block) -> None:
        assert not block.text.startswith("# not run"), f"{block.place}: every example runs"
        buffer = io.StringIO()
        with contextlib.redirect_stdout(buffer):
            exec(compile(block.text, block.place, "exec"), self.names)
        self.printed = buffer.getvalue()

    def _type(self, block: Block) -> None:
        parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
        assert parts[0].strip() == "" and len(parts) > 1, f'{block.place}: a console example begins with "$ "'
        for part in parts[1:]:
            command, _, expected_output = part.partition("\n")
            code, self.printed = _run(command)
            exit_match = re.search(r"# exit (\d+)\s*$", command)
            assert code == (int(exit_match[1]) if exit_match else 0), (
                f"{block.place}: {command}: {code}\n{self.printed}"
            )
            if expected_output.strip():
                _compare(expected_output, self.printed, f"{block.place}: {command}")


def _run(command: str) -> tuple[int, str]:
    """Run a command through the real entry point, which turns errors into sentences and exit codes."""
    words = shlex.split(command, comments=True)
    assert words[0] == "sfumato", f'only sfumato is run in the documentation, not "{words[0]}"'
    buffer, old_argv = io.StringIO(), sys.argv
    sys.argv = words
    try:
        with contextlib.redirect_stdout(buffer), contextlib.redirect_stderr(buffer), pytest.raises(SystemExit) as ended:
            cli.run_commands()
    finally:
        sys.argv = old_argv
    return int(ended.value.code or 0), buffer.getvalue()


def _compare(expected_text: str, printed: str, source: str) -> None:
    if not re.fullmatch(rf"\s*{_build_pattern(expected_text)}\s*", printed, re.DOTALL):
        pytest.fail(_explain_difference(expected_text, printed, source), pytrace=False)


def _build_pattern(expected_text: str) -> str:
    return r"\s+".join(".*?".join(map(re.escape, word.split("…"))) for word in expected_text.split())


def _explain_difference(expected_text: str, printed: str, source: str) -> str:
    """The first shown line that was not printed, what came instead, and the cure."""
    lines, line_index, end = expected_text.strip().splitlines(), 0, 0
    while line_index < len(lines):
        match = re.match(rf"\s*{_build_pattern(chr(10).join(lines[: line_index + 1]))}(?!\S)", printed, re.DOTALL)
        if match is None:
            break
        line_index, end = line_index + 1, match.end()
    came = [line.strip() for line in printed[end:].splitlines() if line.strip()]
    missing_lines = [line.strip() for line in lines[line_index:]]
    few = printed if len(printed) < 1500 else f"{printed[:1500]}\n(and {len(printed) - 1500} characters more)"
    return (
        f"{source}: line {line_index + 1} of what is shown is not what was printed\n"
        f"  shown:   {(missing_lines or ['(nothing more)'])[0]}\n  printed: {(came or ['(nothing more)'])[0]}\n"
        "Work out by hand which of the two is right. If what is shown is, repair the code: a number that should be a "
        "limit, and is printed a little below it, tells of a check that forgives too much. Only if the code is right, "
        "copy what was printed into this fence, with … for what may differ between machines; tests/docs runs it again. "
        f"All that was printed:\n{few}"
    )


def test_a_difference_is_explained_by_its_first_line() -> None:
    explanation = _explain_difference("a 1\nb … c\nd 2", "a 1\nb x\ny c\nd 3\n", "docs/some.md, line 7")
    assert "docs/some.md, line 7: line 3 of" in explanation and "shown:   d 2\n  printed: d 3\n" in explanation
    assert "shown:   (nothing more)\n  printed: more" in _explain_difference("a", "a\nmore", "")
    assert "shown:   b\n  printed: (nothing more)" in _explain_difference("a\nb", "a", "")


def _blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for match in _FENCE.finditer(text):
        if match["info"].startswith("{"):
            continue
        kind, *words = match["info"].split() or [""]
        source = f"{page.relative_to(ROOT)}, line {text.count(chr(10), 0, match.start()) + 1}"
        assert kind in _KINDS, f'{source}: "{match["info"]}" says nothing about how to check the block'
        yield Block(kind, tuple(words), match["text"], source)


def _name_page(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=_name_page)
def test_the_examples_of_a_page_do_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "100")
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    reader = Reader(folder)
    for block in _blocks(page):
        reader.do(block)


def _load_generator() -> Any:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _generated_pages() -> dict[str, str]:
    return dict(_load_generator().generate_pages())


def test_the_change_log_gets_a_line_for_a_method_that_it_does_not_name() -> None:
    log = "# Changes\n\n## [0.2.0] – unreleased\n\n### Added\n\n- `partition` is quicker.\n\n### Added\n\n- old\n"
    log_text = _load_generator().tell_new_methods(log, (sf.TopCode, sf.Partition))
    new = [line for line in log_text.splitlines() if line not in log.splitlines()]
    assert log_text.splitlines()[6].startswith("- `TopCode`: ") and "docs/methods/top_code.md" in log_text
    assert "\n".join(line for line in log_text.splitlines() if line not in new) == log.strip()
    assert _load_generator().tell_new_methods(log_text, (sf.TopCode, sf.Partition)) == log_text


def test_the_generated_pages_are_up_to_date() -> None:
    stale = [name for name, text in _generated_pages().items() if (DOCS / name).read_text(encoding="utf-8") != text]
    assert stale == [], "run `python docs/generate.py` (or `make docs`) and commit what it writes"


def test_the_policy_page_has_a_row_for_every_field_of_every_method_model_and_attack() -> None:
    text = (DOCS / "policy.md").read_text(encoding="utf-8")
    for kind in (*METHODS, *MODELS, *ATTACKS):
        tag = next(tag for tag in ("method", "model", "attack") if tag in kind.model_fields)
        section = re.search(rf"^### `{kind.model_fields[tag].default}`$(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
        assert section, f"docs/policy.md has no section for {kind.__name__}"
        rows = re.findall(r"^\| `(\w+)` \| .* \| .+ \|$", section[1], re.MULTILINE)
        assert rows == [name for name in kind.model_fields if name != tag]


def test_the_page_about_scale_has_every_method_that_runs_on_stored_rows() -> None:
    text = (DOCS / "scale.md").read_text(encoding="utf-8")
    stored = {words.split()[0] for words in list_stored_methods("table")}
    assert stored == set(re.findall(r"^\| … `(\w+)` \|", text, re.MULTILINE))


def test_every_model_has_a_section_whose_policy_line_is_right() -> None:
    models = [
        model
        for block in _blocks(DOCS / "models.md")
        if block.kind == "toml"
        for model in sf.Generalize.model_validate(tomllib.loads(block.text)).models
    ]
    assert {type(model) for model in models} == set(MODELS)


def test_the_overviews_have_every_method_attack_and_model() -> None:
    for kinds, tag, folder in ((METHODS, "method", "methods"), (ATTACKS, "attack", "attacks")):
        text = (DOCS / folder / "index.md").read_text(encoding="utf-8")
        pages = [f"{kind.model_fields[tag].default}.md" for kind in kinds]
        assert [page for page in pages if f"]({page})" not in text] == []
    text = (DOCS / "models.md").read_text(encoding="utf-8")
    assert [kind.__name__ for kind in MODELS if f"`{kind.__name__}`" not in text] == []


@pytest.mark.parametrize(
    ("kind", "tag", "folder"),
    [*((kind, "method", "methods") for kind in METHODS), *((kind, "attack", "attacks") for kind in ATTACKS)],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_every_method_and_attack_has_a_page(kind: type[sf.Method] | type[Attack], tag: str, folder: str) -> None:
    page = f"{kind.model_fields[tag].default}.md"
    assert (DOCS / folder / page).is_file(), f"write docs/{folder}/{page}"
    text = (DOCS / folder / page).read_text(encoding="utf-8")
    cure = f"link [its fields](../policy.md#{page.removesuffix('.md')}), which are generated"
    assert "| default |" not in text, f"docs/{folder}/{page} has a table of fields, which may become false: {cure}"
    assert folder == "attacks" or "](../attacks/" in text, (
        f"docs/{folder}/{page} does not say which attacks to run against it: link their pages, ../attacks/…"
    )


def test_every_public_name_is_in_the_documentation() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES if page.is_relative_to(DOCS))
    words = set(re.findall(r"\w+", text))
    assert set(dir(sf)) - words == set()


@pytest.mark.parametrize("package", ["attack", "measure", "protect"])
def test_every_name_of_a_package_is_in_the_documentation(package: Literal["attack", "measure", "protect"]) -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert set(dir(getattr(sf, package))) - set(re.findall(r"\w+", text)) == set()


@pytest.mark.parametrize("page", ALL_PROSE, ids=_name_page)
def test_links_lead_to_files_that_are_there(page: Path) -> None:
    prose = _FENCE.sub("", page.read_text(encoding="utf-8"))
    targets = re.findall(r"(?<!!)\[[^\]]*\]\(([^)#:]+)(?:#[^)]*)?\)", prose)
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert not missing, f"{page.name} links to {missing}, which are no files: correct the paths, or leave the links out"
