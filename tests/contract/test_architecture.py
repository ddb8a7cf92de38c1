# SPDX-License-Identifier: MIT
"""The import rule: a protector cannot grade itself. And what every function and module looks like."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

import sfumato
from sfumato.details import list_families
from tests.contract.plain_names import list_avoided

SOURCE = Path(sfumato.__file__).parent
VOCABULARY = {
    "arrays", "baskets", "bound_words", "change", "change_kinds", "description", "details", "errors",
    "frame_conversion", "key", "losses", "notebook", "patterns", "published_law", "randomness", "release", "rules",
    "sequences", "suppression", "table",
}  # fmt: skip
FOUNDATIONS = {"fields", "private", "runtime"}
"""Packages that the vocabulary itself stands on."""
TOOLS = {"data", "engine", "kernels", "mine", "public"}
SEES_EVERYTHING = {"cli", "report", "workflow"}
ALLOWED = {
    "protect": VOCABULARY | FOUNDATIONS | TOOLS | {"protect"},
    "attack": VOCABULARY | FOUNDATIONS | TOOLS | {"attack"},
    "measure": VOCABULARY | FOUNDATIONS | TOOLS | {"measure"},
    "mine": VOCABULARY | FOUNDATIONS | TOOLS,
    "parties": VOCABULARY | FOUNDATIONS | TOOLS | {"parties"},
    "public": VOCABULARY | FOUNDATIONS | {"data", "engine", "kernels", "public"},
    "engine": VOCABULARY | FOUNDATIONS | {"data", "kernels", "engine"},
    "kernels": {"arrays", "kernels"},
    "data": {"arrays", "data", "description", "errors", "fields", "notebook", "runtime"},
    "fields": VOCABULARY | FOUNDATIONS,
    "private": VOCABULARY | FOUNDATIONS,
    "runtime": VOCABULARY | FOUNDATIONS,
}


def imported(path: Path, tree: ast.Module) -> set[str]:
    """The parts of sfumato that a module imports, lazily or not, for types or not."""
    modules: set[str] = set()
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [node.module or ""]
            if node.module == "sfumato":
                names = [f"sfumato.{alias.name}" for alias in node.names]
        modules |= {name.split(".")[1] for name in names if name.startswith("sfumato.")}
    return modules


MOST_ARGUMENTS = 10
MODULES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_is_built_by_the_rules(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    check_imports(path, tree)
    assert text.startswith("# SPDX-License-Identifier: MIT\n"), "begin it with # SPDX-License-Identifier: MIT"
    assert ast.get_docstring(tree), "let a docstring below the SPDX line say what the module does"
    check_arguments(tree)
    check_names(tree)
    check_named_results(tree)
    check_reasons(text)
    if path.parent != SOURCE / "kernels":
        check_compiler(tree)
        check_results(text)
    if path != SOURCE / "arrays.py":
        check_kinds_of_arrays(tree)
    if path.is_relative_to(SOURCE / "protect"):
        check_outputs(tree)
        check_chance(tree, may_seed=str(path.relative_to(SOURCE)) in OWN_SEEDS)


MOST_MODULES = 30


def test_a_package_can_be_surveyed() -> None:
    for folder in sorted(path.parent for path in MODULES if path.name == "__init__.py"):
        count = len(list(folder.glob("*.py"))) - 1
        assert count <= MOST_MODULES, (
            f"{folder.relative_to(SOURCE.parent)} has {count} modules: put what belongs to one idea into a package of "
            "its own, and leave the steps or methods that a newcomer looks for at the top"
        )


def check_imports(path: Path, tree: ast.Module) -> None:
    """Stop if a module imports what it may not."""
    parts = path.relative_to(SOURCE).parts
    if (len(parts) == 1 and path.stem not in VOCABULARY) or parts[0] in SEES_EVERYTHING:
        return
    strange = imported(path, tree) - (ALLOWED[parts[0]] if len(parts) > 1 else VOCABULARY | FOUNDATIONS | {"data"})
    assert not strange, (
        f"{'/'.join(parts)} imports from {', '.join(sorted(strange))}: protect, attack and measure must not share "
        "code, or a mistake would check itself. Reimplement it there; what both must know of a release belongs to "
        "public/, what is found in data to mine/, what reads data to data/"
    )


def check_arguments(tree: ast.Module) -> None:
    """Stop if a function takes more than ten arguments."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            arguments = node.args
            named_arguments = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            # The options of a command are what typer finds in its arguments.
            annotations = [ast.unparse(argument.annotation or ast.Constant(0)) for argument in named_arguments]
            count = sum(not ("typer." in text or text.startswith("options.")) for text in annotations)
            count += (arguments.vararg is not None) + (arguments.kwarg is not None)
            assert count <= MOST_ARGUMENTS, f"line {node.lineno}: {count} arguments; group them in a named tuple"


def check_names(tree: ast.Module) -> None:
    """Stop at a name that is a participle, a preposition, a pronoun or an adverb: it does not say what the thing is."""
    names = [f'"{binding.name}" (line {binding.line})' for binding in list_avoided(tree)]
    assert not names, (
        f"{', '.join(names)} does not say what it is: name each by a noun, such as claims, row_index or kept_rows, a "
        "constant such as MOST_ROWS, a class such as ColumnPrices, a flag such as is_kept; "
        "what must be called so because users or files do, is listed in tests/contract/plain_names.py"
    )


_SILENCED = re.compile(r"# (type: ignore|noqa)\b(?>(?:\[[a-z, -]+\]|: [A-Z]+[0-9]+(?:, [A-Z]+[0-9]+)*)?)(?!  [#(])")


def check_reasons(text: str) -> None:
    """Stop if a type checker or a linter is silenced in one line, and nobody says why."""
    for line, words in enumerate(text.splitlines(), start=1):
        silenced = _SILENCED.search(words)
        assert silenced is None, (
            f"line {line}: say why # {silenced and silenced[1]} is right there, as in # type: ignore[arg-type]  # a "
            "column of numbers; better, write what needs no exception"
        )


UNNAMED = {
    "GroupLoss.rank": "sorts",
    "Patterns.to_lists": "plain lists of items and counts, for whoever has no frames",
    "find_tagged": "module and class of every tag",
    "pair_distance": "keys are pairs of columns",
}
"""Public functions whose results are unnamed tuples, and why."""


def check_named_results(tree: ast.Module) -> None:
    """Stop if a public function or method returns several results without names; those inside functions may."""
    classes = [(f"{node.name}.", node.body) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    for owner, body in [("", tree.body), *classes]:
        for node in body:
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.returns is None:
                continue
            if node.name.startswith("_") or owner + node.name in UNNAMED:
                continue
            assert not has_unnamed_tuple(node.returns), (
                f'line {node.lineno}: "{owner}{node.name}" returns {ast.unparse(node.returns)}: nobody can tell the '
                "parts from each other; return a NamedTuple whose fields say what they hold, which unpacks the same"
            )


def has_unnamed_tuple(annotation: ast.expr) -> bool:
    """Whether an annotation holds a tuple of several parts; any number of the same, tuple[X, ...], is fine."""
    for node in ast.walk(annotation):
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "tuple":
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if len(parts) > 1 and ast.unparse(parts[-1]) != "...":
                return True
    return False


def check_compiler(tree: ast.Module) -> None:
    """Stop if a module imports numba by itself: a command would load parts of it that no kernel uses."""
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        direct = [name for name in names if name.split(".")[0] == "numba"]
        assert not direct, f"line {getattr(node, 'lineno', 0)}: import it from sfumato.kernels.compiler"


def check_results(text: str) -> None:
    """Stop if a kernel returns several results without names."""
    unnamed = re.search(r'@compile_\w+\(\s*f?"(Uni)?Tuple\(', text)
    assert unnamed is None, "a kernel returns a tuple: name its results in a NamedTuple under @record"


def check_kinds_of_arrays(tree: ast.Module) -> None:
    """Stop if a kind of array is named outside of arrays.py, alone or as a part of another type."""
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            kinds = [ast.unparse(part.value) for part in ast.walk(node.value) if isinstance(part, ast.Subscript)]
            assert not {kind.split(".")[-1] for kind in kinds} & {"NDArray", "ndarray"}, (
                f"line {node.lineno}: name it in arrays.py"
            )


OUTPUTS = {
    "print", "write_text", "write_bytes", "write_csv", "write_parquet", "write_json", "write_ndjson",
    "write_ipc", "write_excel", "to_csv", "to_parquet", "to_pickle", "tofile", "savetxt", "warn", "warning", "info",
    "debug",
}  # fmt: skip


def check_outputs(tree: ast.Module) -> None:
    """Stop if a method prints, logs or writes: originals would leave in a way that nobody checks."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func).split(".")
            is_output = called[-1] in OUTPUTS or called[-1].startswith("sink_") or called == ["open"]
            assert not is_output, (
                f"line {node.lineno}: a method calls {called[-1]}: it prints, logs and writes nothing, or originals "
                "would leave; it returns a Release, reports its steps by `report_progress`, and refuses by an error"
            )


CHANCE = {"random", "secrets", "uuid"}
"""Modules that draw from elsewhere than the randomness that a method is given."""
OWN_SEEDS = {
    "protect/anonymity/search/cut_search.py": "marks that tell sets apart, and the order in which cuts are tried",
    "protect/anonymity/search/lattice.py": "the order in which paths are tried",
    "protect/anonymity/search/live_rollup.py": "a sample by which the time of a search is estimated",
    "protect/swapping/swap_prices.py": "the order in which records are priced, which affects the time alone",
    "protect/codes/tree_transformer.py": "the random_state that its user gave, as in scikit-learn",
}
"""Modules that may have a seed of their own → what it decides; a fixed one decides no cell or row that is published."""


def check_chance(tree: ast.Module, *, may_seed: bool = False) -> None:
    """Stop if a method draws from anything but its randomness: nobody could make the release again, or anybody could.

    Some searches shuffle by a seed of their own: default_rng(7) gives everybody the same.
    """
    calls = [node for node in ast.walk(tree) if may_seed and isinstance(node, ast.Call) and node.args]
    seeded = [call.func for call in calls if ast.unparse(call.func) in ("np.random.default_rng", "Randomness.seeded")]
    for node in [node for node in ast.walk(tree) if node not in seeded]:
        names = [alias.name.split(".")[0] for alias in node.names] if isinstance(node, ast.Import) else []
        names += [(node.module or "").split(".")[0]] if isinstance(node, ast.ImportFrom) else []
        chance_names = [name for name in names if name in CHANCE]
        if isinstance(node, ast.Attribute):
            path = ast.unparse(node)
            is_numpy = re.fullmatch(r"(np|numpy)\.random\.\w+", path) is not None and node.attr != "Generator"
            chance_names += [path] if is_numpy or node.attr in ("default_rng", "seeded", "urandom") else []
        assert not chance_names, (
            f"line {getattr(node, 'lineno', 0)}: a method draws from {chance_names[0]}: draw from (randomness or "
            "Randomness.secure()).generator() alone, so that the same seed gives the same release, and nobody knows "
            "that of a real one"
        )


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("protect/noise/x.py", "from sfumato.measure.truth import cover_cells"),
        ("data/x.py", "import sfumato.protect.method"),
        ("kernels/x.py", "def f():\n    from sfumato import release"),
    ],
)
def test_an_import_against_the_rule_is_noticed(path: str, code: str) -> None:
    with pytest.raises(AssertionError, match="must not share code"):
        check_imports(SOURCE / path, ast.parse(code))


FIXED_SEEDS = (
    "shuffled_rows = np.random.default_rng(7).permutation(9)",
    "chance = (randomness or Randomness.seeded(0)).generator()",
)


def test_what_is_against_the_rules_is_noticed() -> None:
    with pytest.raises(AssertionError, match="11 arguments"):
        check_arguments(ast.parse(f"def f({', '.join('abcdefghijk')}): pass"))
    for code in (
        "found = 1",
        "def f(one): pass",
        "class A:\n    def told(self): pass",
        "self.place = 2",
        "def f(left): return left",
        "class A:\n    kept: int",
        "rows = [held for held in range(3)]",
        "def f():\n    def g():\n        blanked = 1",
        "mine, theirs = rows",
        "class A:\n    asking: int",
        "SHOWN = 20",
        "_OTHERS: str = '*'",
        "OTHER = 'other'",
        "FIRST, PAUSED = range(2)",
        "class Of:\n    pass",
        "Held = Annotated[str, 1]",
        "class A:\n    KNOWN = 1",
        "def f(of): pass",
        "def f(*others): pass",
        "def f(used, why): pass",
        "def f(given: Annotated[str, typer.Option('--input')]): pass",
        "try:\n    f()\nexcept ValueError as why:\n    pass",
    ):
        with pytest.raises(AssertionError, match="does not say what it is"):
            check_names(ast.parse(code))
    for code in (
        "class Moments:\n    before: int\n    after: int",
        "def f(left, right): return left",
        "class A:\n    def of(cls): pass",
        "class A(BackgroundKnowledge):\n    excluded = 1",
        "def mine(reading): pass",
        "seed = speed = kept_rows = 1",
        "SHOWN_ROWS = SEED = X = 1",
        "class ShownRows:\n    pass",
        "class Status(StrEnum):\n    PASSED = 'passed'",
        "def estimate_itemsets(release, of): pass",
        "def f(given: Annotated[str, typer.Option()], shown: options.Shown): pass",
    ):
        check_names(ast.parse(code))
    for code in ("x = 1  # noqa: E741", "x = 1  # type: ignore[arg-type]", "x = 1  # noqa", "x = 1  # type: ignore"):
        with pytest.raises(AssertionError, match="line 1: say why"):
            check_reasons(code)
    check_reasons("x = 1  # type: ignore[misc, valid-type]  # untyped\nx = 2  # noqa: E741, A002  (the paper's word)")
    for code in (
        "def count() -> tuple[int, str]: pass",
        "def count() -> Iterator[tuple[int, int, int]] | None: pass",
        "class A:\n    def count(self) -> tuple[int, int]: pass",
    ):
        with pytest.raises(AssertionError, match="return a NamedTuple"):
            check_named_results(ast.parse(code))
    check_named_results(ast.parse("def count() -> tuple[int, ...]:\n    def part() -> tuple[int, int]: pass"))
    check_named_results(ast.parse("class A:\n    def _part(self) -> tuple[int, int]: pass"))
    for code in (
        "Rows = npt.NDArray[np.int64]",
        "Numbers = pl.Series | NDArray[np.generic] | Sequence[float]",
        "Rank: TypeAlias = Callable[[int], tuple[npt.NDArray[Any], ...]]",
    ):
        with pytest.raises(AssertionError, match=r"name it in arrays\.py"):
            check_kinds_of_arrays(ast.parse(code))
    with pytest.raises(AssertionError, match="under @record"):
        check_results('@compile_cached(\n    "UniTuple(int64, 2)(int64[::1])"\n)')
    for code in ("print(data)", "frame.write_csv('x.csv')", "frame.lazy().sink_csv('x')", "log.warning(cell)"):
        with pytest.raises(AssertionError, match="prints, logs and writes nothing"):
            check_outputs(ast.parse(code))
    for code in (
        "import secrets",
        "from random import random",
        "x = np.random.default_rng()",
        "np.random.seed(3)",
        *FIXED_SEEDS,
    ):
        with pytest.raises(AssertionError, match="so that the same seed"):
            check_chance(ast.parse(code))
    check_chance(ast.parse("def draw(chance: np.random.Generator) -> float: return chance.random()"))
    check_chance(ast.parse(FIXED_SEEDS[0]), may_seed=True)
    with pytest.raises(AssertionError, match=r"sfumato\.kernels\.compiler"):
        check_compiler(ast.parse("from numba.extending import intrinsic"))


def test_no_kernel_serves_a_method_and_its_check() -> None:
    """What both use would be wrong in both."""
    used = {
        package: set(
            re.findall(r"from (sfumato\.kernels\.[\w.]+) import", "".join(map(Path.read_text, list_modules(package))))
        )
        for package in ("protect", "measure")
    }
    shared = used["protect"] & used["measure"]
    assert not shared, f"{sorted(shared)} serve methods and measures: write the array work of the measure anew"


def list_modules(package: str) -> list[Path]:
    return sorted((SOURCE / package).rglob("*.py"))


def test_no_two_classes_share_a_name() -> None:
    """A name that is looked for is found once, private ones included: an underscore is no difference."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in MODULES]
    names = [node.name.lstrip("_") for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    repeated_names = sorted(name for name, count in Counter(names).items() if count > 1)
    assert repeated_names == [], "call each class by a name of its own, so that a search finds one thing"


@pytest.mark.parametrize("folder", ["papers", "bench", "docs"])
def test_names_outside_the_package_say_what_things_are(folder: str) -> None:
    for path in sorted((SOURCE.parents[1] / folder).rglob("*.py")):
        check_names(ast.parse(path.read_text(encoding="utf-8")))


def test_constants_of_kernels_have_one_value() -> None:
    """Numbers of fields and of states: imported from the wrong module, another value would be silent."""
    values: dict[str, dict[object, str]] = {}
    for path in (SOURCE / "kernels").rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign):
                for name, value in list_constants(node):
                    values.setdefault(name, {})[value] = path.name
    assert len(values) > 100
    for name, modules in values.items():
        assert len(modules) == 1, f"{name} has other values in {' and '.join(sorted(modules.values()))}: rename one"


def list_constants(node: ast.Assign) -> list[tuple[str, object]]:
    """The public names that an assignment gives a number, and the numbers; none for anything else."""
    target, value = node.targets[0], node.value
    names = [ast.unparse(part) for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
    numbers: list[object] = []
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "range":
        numbers = list(range(ast.literal_eval(value.args[0])))
    elif all(isinstance(part, ast.Constant) for part in (value.elts if isinstance(value, ast.Tuple) else [value])):
        numbers = list(ast.literal_eval(value)) if isinstance(value, ast.Tuple) else [ast.literal_eval(value)]
    return [pair for pair in zip(names, numbers, strict=False) if not pair[0].startswith("_")]


def test_packages_are_known() -> None:
    """A new package needs a rule."""
    packages = {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert packages <= set(ALLOWED) | SEES_EVERYTHING


def test_the_wheel_is_sfumato_alone() -> None:
    """Papers, benchmarks and tests use the package; the package neither ships nor imports them."""
    project = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["src/sfumato"]
    pattern = re.compile(r"^\s*(from|import) (papers|bench|tests)\b", re.MULTILINE)
    assert [path for path in MODULES if pattern.search(path.read_text(encoding="utf-8"))] == []


def test_keys_of_details_are_fields_of_a_family() -> None:
    """A misspelled key reads as absent, and a report would say nothing where it must."""
    known_names = {name for family in list_families().values() for name in family._list_names()}
    for path in MODULES:
        for name in re.findall(r"\bdetails(?:\.get\(|\[)\"(\w+)\"", path.read_text(encoding="utf-8")):
            assert name in known_names, (
                f'{path.relative_to(SOURCE)} reads "{name}" of details, which no family of details.py has'
            )
