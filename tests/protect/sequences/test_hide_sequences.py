# SPDX-License-Identifier: MIT
"""Hiding patterns: the course's matching set and marks, and random databases against brute force."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

import sfumato as sf
from sfumato.measure.sequences.pattern_places import ItemPlaces
from sfumato.protect.sequences import exact_marks, hide_sequences, new_patterns, replacements, row_options
from sfumato.protect.sequences.edited_sequences import SequenceDraft
from tests.brute_sequences import mine
from tests.protect.sequences.small_sequences import Elements, as_elements, count_matches, draw_elements

ABC = (("a",), ("b",), ("c",))
EXAMPLE = sf.Sequences.of([list("aabccbae")])


def test_the_matching_set_of_the_course() -> None:
    """(1,3,4), (1,3,5), (2,3,4), (2,3,5): four matches, all through position 3 (Abul et al. 2007)."""
    draft = SequenceDraft(EXAMPLE, [ABC])
    assert draft.totals.tolist() == [[4]]
    assert draft.weigh(0, [0]).tolist() == [2, 2, 4, 2, 2, 0, 0, 0]


@pytest.mark.parametrize(("mark", "published"), [("Δ", "aaΔccbae"), ("delete", "aaccbae")])
def test_the_marks_of_the_course(mark: Any, published: str) -> None:
    release = sf.HideSequences(patterns=[list("abc")], threshold=0, mark=mark).protect(EXAMPLE)
    assert release.data.to_lists() == [list(published)]
    assert release.details["marks"] == [(0, 2, "b")]
    assert release.losses["changes"] == 1


def test_sequences_with_the_fewest_matches_are_changed_first() -> None:
    data = sf.Sequences.of([list("aabb"), list("ab"), list("abb"), list("ba")])
    release = sf.HideSequences(patterns=[["a", "b"]], threshold=1, mark="Δ").protect(data)
    assert ["".join(row) for row in release.data.to_lists()] == ["aabb", "Δb", "Δbb", "ba"]


def draw_case(chance: np.random.Generator) -> tuple[list[Elements], list[Elements], int | None, int | None]:
    sets = bool(chance.integers(2))
    rows = [draw_elements(chance, 6, sets=sets) for _ in range(chance.integers(1, 8))]
    patterns = [draw_elements(chance, 3, sets=sets) or [["a"]] for _ in range(chance.integers(1, 4))]
    gap = None if chance.integers(2) else int(chance.integers(0, 3))
    known_items = {"a", *(item for row in rows for element in row for item in element)}  # others are refused
    patterns = [
        [list({i if i in known_items else "a": i for i in element}) for element in pattern] for pattern in patterns
    ]
    longest = max(map(len, patterns))  # a shorter window is refused
    return [[["a"]], *rows], patterns, gap, None if chance.integers(2) else int(chance.integers(longest, 5))


def test_a_pattern_that_no_window_holds_is_refused() -> None:
    method = sf.HideSequences(patterns=[list("abc"), list("ab"), list("abcc")], threshold=0, window=2)
    with pytest.raises(sf.PolicyError, match=r"2 patterns have more elements than window = 2.*at least 4"):
        method.protect(EXAMPLE)
    wide = method.model_copy(update={"window": 4})
    assert wide.protect(EXAMPLE).losses["changes"] > 0


def test_counts_equal_brute_force() -> None:
    chance = np.random.default_rng(1)
    for _ in range(150):
        rows, patterns, gap, window = draw_case(chance)
        data = sf.Sequences.of(rows)
        draft = SequenceDraft(data, [tuple(map(tuple, pattern)) for pattern in patterns], gap, window)
        expected = [[count_matches(row, pattern, gap, window) for row in rows] for pattern in patterns]
        assert draft.totals.tolist() == expected
        places = ItemPlaces(data)
        matching_counts = [places.count_matching(pattern, gap, window) for pattern in patterns]
        assert matching_counts == [sum(count > 0 for count in counts) for counts in expected]


@pytest.mark.parametrize("mark", ["delete", "Δ"])
@pytest.mark.parametrize("strategy", ["HH", "HR", "RH", "RR"])
def test_thresholds_are_kept_in_random_databases(strategy: Any, mark: Any) -> None:
    chance = np.random.default_rng(2)
    for seed in range(40):
        rows, patterns, gap, window = draw_case(chance)
        limits = tuple(chance.integers(0, 3, len(patterns)).tolist())
        method = sf.HideSequences(
            patterns=patterns, threshold=limits, strategy=strategy, mark=mark, max_gap=gap, window=window
        )
        data = sf.Sequences.of(rows)
        release = method.protect(data, sf.Randomness.seeded(seed))
        published = as_elements(release.data.to_lists())
        for pattern, most in zip(patterns, limits, strict=True):
            assert sum(count_matches(row, pattern, gap, window) > 0 for row in published) <= most
        assert all(finding.holds for finding in sf.check(release, data))


def test_the_exact_strategy_makes_the_fewest_changes() -> None:
    chance = np.random.default_rng(3)
    case_count = 0
    for _ in range(30):
        rows, patterns, gap, window = draw_case(chance)
        limits = tuple(chance.integers(0, 2, len(patterns)).tolist())
        arguments: dict[str, Any] = {
            "patterns": patterns,
            "threshold": limits,
            "mark": "Δ",
            "max_gap": gap,
            "window": window,
        }
        release = sf.HideSequences(**arguments, strategy="exact").protect(sf.Sequences.of(rows))
        objective = release.details["objective"]
        assert release.details["proven"]
        assert objective <= sf.HideSequences(**arguments).protect(sf.Sequences.of(rows)).losses["changes"]
        if not 1 <= objective <= 3:
            continue
        case_count += 1
        places = [(row, position, item) for row, s in enumerate(rows) for position, e in enumerate(s) for item in e]
        for removals in map(set, combinations(places, int(objective) - 1)):
            remaining_rows = [
                [[i for i in e if (row, position, i) not in removals] for position, e in enumerate(s)]
                for row, s in enumerate(rows)
            ]
            supports = [
                sum(count_matches(row, pattern, gap, window) > 0 for row in remaining_rows) for pattern in patterns
            ]
            assert any(support > most for support, most in zip(supports, limits, strict=True))
    assert case_count > 8


def test_many_sequences_that_are_alike_are_solved_together() -> None:
    """Only what belongs to a pattern matters: 800 sequences, of which few are different in that."""
    chance = np.random.default_rng(8)
    rows = [list(chance.choice(list("abcdefuvwxyz"), chance.integers(2, 9))) for _ in range(800)]
    patterns = [list(pattern) for pattern in ("ab", "bc", "cd", "def", "fa", "ea")]
    data = sf.Sequences.of(rows)
    release = sf.HideSequences(patterns=patterns, threshold=20, strategy="exact", seconds=20).protect(data)
    greedy = sf.HideSequences(patterns=patterns, threshold=20).protect(data)
    assert release.details["proven"]
    assert release.losses["changes"] == release.details["objective"] < greedy.losses["changes"]
    assert all(finding.holds for finding in sf.check(release, data))


def test_out_of_time_the_exact_strategy_gives_a_bound() -> None:
    chance = np.random.default_rng(4)
    data = sf.Sequences.of([list(chance.choice(list("abcdef"), 30)) for _ in range(120)])
    patterns = [list("abc"), list("bcd"), list("fed")]
    release = sf.HideSequences(patterns=patterns, threshold=20, strategy="exact", seconds=0.1).protect(data)
    details = release.details
    assert 0 < details["bound"] <= details["objective"] == len(details["marks"])
    assert all(finding.holds for finding in sf.check(release, data))


def test_one_long_sequence_does_not_outlast_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is the number of matches looked for: 5 of 10 seconds are for them, and one sequence took thousands."""
    clock = 0

    class CountedDraft(SequenceDraft):
        def find_match(self, row: int, index: int) -> Any:
            nonlocal clock
            clock += 1
            return super().find_match(row, index)

    monkeypatch.setattr(hide_sequences, "SequenceDraft", CountedDraft)
    for module in (exact_marks, row_options):
        monkeypatch.setattr(module, "monotonic", lambda: clock)
    chance = np.random.default_rng(4)
    data = sf.Sequences.of([list(chance.choice(list("abcd"), 60)) for _ in range(3)])
    method = sf.HideSequences(patterns=[list("abc"), list("dcb")], threshold=1, strategy="exact", seconds=10)
    release = method.protect(data)
    assert clock == 6
    assert release.losses["changes"] == method.model_copy(update={"strategy": "HH"}).protect(data).losses["changes"]
    assert all(finding.holds for finding in sf.check(release, data))


def test_deleting_creates_no_match_of_a_secret_pattern() -> None:
    """To hide x, it is deleted; then a and b are neighbours, which they were not before."""
    data = sf.Sequences.of([["a", "x", "b"]])
    release = sf.HideSequences(patterns=[["x"], ["a", "b"]], threshold=0, max_gap=0).protect(data)
    assert release.data.to_lists() == [["b"]]
    marked = sf.HideSequences(patterns=[["x"], ["a", "b"]], threshold=0, max_gap=0, mark="Δ").protect(data)
    assert marked.data.to_lists() == [["a", "Δ", "b"]]


@pytest.mark.parametrize(
    ("limits", "closeness"),
    [
        ({"max_gap": 0, "window": 3}, ", with at most 0 elements between two neighbours and within 3 elements,"),
        ({"max_gap": 1}, ", with at most 1 element between two neighbours,"),
        ({"window": 2}, ", within 2 elements,"),
        ({}, ""),
    ],
)
def test_the_claim_says_which_matches_count(limits: dict[str, int], closeness: str) -> None:
    """The secret a, b is in the published "acdb" if gaps may be longer."""
    data = sf.Sequences.of([list("acdb"), list("ab")])
    release = sf.HideSequences(patterns=[["a", "b"]], threshold=0, **limits).protect(data)
    assert bool(ItemPlaces(release.data).count_matching(ABC[:2])) == bool(limits)
    end = "; other matches do not count." if limits else "."
    assert release.claims[0].meaning == (
        f"No pattern that was to be hidden is contained{closeness} in more published sequences than its threshold{end}"
    )


def test_replacements_bring_nothing_back() -> None:
    chance = np.random.default_rng(9)
    replaced = 0
    for seed in range(25):
        rows, patterns, gap, window = draw_case(chance)
        data = sf.Sequences.of(rows * 2)
        method = sf.HideSequences(
            patterns=patterns, threshold=1, mark="replace", min_support=2, max_gap=gap, window=window
        )
        release = method.protect(data, sf.Randomness.seeded(seed))
        published = as_elements(release.data.to_lists())
        for pattern in patterns:
            assert sum(count_matches(row, pattern, gap, window) > 0 for row in published) <= 1
        assert all(finding.holds for finding in sf.check(release, data))
        before, after = (
            set(map(str, sf.mine.frequent_subsequences(source, 2)["pattern"].to_list()))
            for source in (data, release.data)
        )
        assert after <= before
        replaced += sum(len(old) == len(new) and old != new for old, new in zip(rows * 2, published, strict=True))
    assert replaced > 20


def test_a_sequence_may_become_empty_and_keeps_its_place() -> None:
    release = sf.HideSequences(patterns=[["a"]], threshold=0).protect(sf.Sequences.of([["b"], ["a"], ["b"]]))
    assert release.data.to_lists() == [["b"], [], ["b"]]


@pytest.mark.parametrize("strategy", ["HH", "HR", "RH", "RR", "exact"])
def test_a_long_sequence_of_one_hidden_item_becomes_empty(strategy: Any) -> None:
    data = sf.Sequences.of([list("aaaaa"), list("b"), list("aabaaaa")])
    release = sf.HideSequences(patterns=[["a"]], threshold=0, strategy=strategy).protect(data)
    assert release.data.to_lists() == [[], ["b"], ["b"]]


def test_patterns_that_never_occur_change_nothing() -> None:
    data = sf.Sequences.of([["a", "b"], [], ["b"]])
    release = sf.HideSequences(patterns=[["b", "a"]], threshold=0, strategy="exact").protect(data)
    assert release.data == data
    assert release.losses["loss"] == 0


def test_a_misspelt_item_is_not_called_hidden(tmp_path: Any) -> None:
    data = sf.Sequences.of([["home", "clinic"]] * 3)
    with pytest.raises(sf.PolicyError, match="an item that no sequence holds"):
        sf.HideSequences(patterns=[["home", "clinics"]], threshold=0).protect(data)
    (tmp_path / "secret.txt").write_text("-2\n")
    with pytest.raises(sf.PolicyError, match="lists no pattern"):
        sf.HideSequences(file=str(tmp_path / "secret.txt"), threshold=0).protect(data)


def test_numbers_are_items_too() -> None:
    release = sf.HideSequences(patterns=[[7, 8]], threshold=0, mark="Δ").protect(sf.Sequences.of([[7, 9, 8], [9]]))
    assert release.data.to_lists() == [["Δ", "9", "8"], ["9"]]


def test_a_sequence_of_ten_thousand_elements() -> None:
    chance = np.random.default_rng(5)
    data = sf.Sequences.of([chance.integers(0, 200, 10_000).tolist(), [1]])
    release = sf.HideSequences(patterns=[list(range(8))], threshold=0).protect(data)
    assert all(finding.holds for finding in sf.check(release, data))
    assert 0 < release.losses["changes"] <= 80


def test_a_share_is_rounded_down_and_thresholds_may_differ() -> None:
    data = sf.Sequences.of([["a", "b"]] * 10)
    half = sf.HideSequences(patterns=[["a"], ["b"]], threshold=(0.35, 0)).protect(data)
    assert [sum(item in row for row in half.data.to_lists()) for item in "ab"] == [3, 0]


def test_a_file_lists_patterns(tmp_path: Any) -> None:
    sf.Sequences.of([["a", "b"]]).write(tmp_path / "secret.txt")
    method = sf.HideSequences(file=str(tmp_path / "secret.txt"), threshold=0)
    assert method.protect(sf.Sequences.of([["a", "b"]])).data.to_lists() == [["b"]]
    assert "secret" not in str(method.describe())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"threshold": 1}, "there is nothing to hide"),
        ({"patterns": [[]], "threshold": 1}, "is empty"),
        ({"patterns": [["a"]], "threshold": (1, 2)}, "2 thresholds for 1 pattern: give"),
        ({"patterns": [["a"]], "threshold": 1, "strategy": "exact", "max_gap": 1}, "take the mark Δ"),
        ({"patterns": [["a"]], "threshold": 1.5}, "less than 1"),
        ({"patterns": [["a"]], "threshold": 1, "mark": "replace"}, "needs min_support"),
        ({"patterns": [["a"]], "threshold": 1, "min_support": 2}, "no other mark has it"),
    ],
)
def test_bad_input_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        sf.HideSequences(**arguments)


def test_the_mark_cannot_be_an_item() -> None:
    with pytest.raises(sf.DataError, match="cannot mark"):
        sf.HideSequences(patterns=[["a"]], threshold=0, mark="Δ").protect(sf.Sequences.of([["a", "Δ"]]))


def test_marks_name_every_item_that_a_replacement_with_limits_changes() -> None:
    """What could not be replaced is deleted, neighbours move together, and more items may have to go."""
    chance = np.random.default_rng(3)
    unmarked_rows = 0
    for seed in range(40):
        rows = [list(chance.choice(list("abc"), size=chance.integers(2, 9))) for _ in range(6)]
        secrets, limits = [["a", "b"], ["b", "c"], ["c", "a"]], {"max_gap": 0}
        method = sf.HideSequences(patterns=secrets, threshold=0, mark="replace", min_support=2, **limits)
        release = method.protect(sf.Sequences.of(rows), sf.Randomness.seeded(seed))
        marks = {(row, position) for row, position, _ in release.details["marks"]}
        assert len(marks) == release.losses["changes"]
        assert all(rows[row][position] == item for row, position, item in release.details["marks"])
        for number, (before, after) in enumerate(zip(rows, release.data.to_lists(), strict=True)):
            row_pattern = [".?" if (number, position) in marks else item for position, item in enumerate(before)]
            assert re.fullmatch("".join(row_pattern), "".join(after)), (seed, number)
            unmarked_rows += before == after
        differ = sum(before != after for before, after in zip(rows, release.data.to_lists(), strict=True))
        assert release.losses["changed_sequences"] == differ
    assert unmarked_rows


@pytest.mark.parametrize("seed", range(5))
def test_weights_of_single_items_are_equal_to_the_last_bit(seed: int) -> None:
    """Sequences and patterns of single items without limits take a shorter way through the dynamic program."""
    chance = np.random.Generator(np.random.PCG64(seed))
    rows = [chance.integers(0, 4, int(size)).tolist() for size in chance.integers(1, 400, 4)]
    patterns = [((0,), (1,)), ((2,), (2,), (2,)), ((1,), (0,), (1,), (3,)), tuple((i % 4,) for i in range(12))]
    data = sf.Sequences.of(rows)
    short, whole = SequenceDraft(data, patterns), SequenceDraft(data, patterns)
    assert all(short._is_plain)
    whole._is_plain = [False] * len(patterns)
    for row in range(len(rows)):
        for _ in range(30):
            weights = short.weigh(row, range(len(patterns)))
            assert weights.tobytes() == whole.weigh(row, range(len(patterns))).tobytes()
            assert short.totals[:, row].tobytes() == whole.totals[:, row].tobytes()
            if not weights.any():
                break
            mark = short.begin_of(row) + int(weights.argmax())
            short.alive[mark] = whole.alive[mark] = False


def test_limits_and_itemsets_take_the_whole_way() -> None:
    single, nested = sf.Sequences.of([[1, 2, 1]]), sf.Sequences.of([[[1, 2], [1]]])
    assert SequenceDraft(single, [((1,), (2,)), ((1, 2),)])._is_plain == [True, False]
    assert SequenceDraft(single, [((1,), (2,))], max_gap=3)._is_plain == [False]
    assert SequenceDraft(nested, [((1,), (1,))])._is_plain == [False]


@pytest.mark.parametrize(
    ("few", "advice"),
    [
        (["ab", "ab", "ab"], "set min_support to 4 or more, or choose the mark"),
        ([], 'no min_support is large enough: choose the mark "delete" or "Δ"'),
    ],
)
def test_too_many_patterns_to_replace_are_refused_with_what_helps_here(
    monkeypatch: pytest.MonkeyPatch, few: list[str], advice: str
) -> None:
    """The miner's own advice names fields that the method does not have."""
    monkeypatch.setattr(replacements, "MOST_PATTERNS", 100)
    monkeypatch.setattr(new_patterns, "MOST_VISITS", 1)
    data = sf.Sequences.of([list("abcdefghijkl")] * 3 + [list(row) for row in few])
    method = sf.HideSequences(patterns=[["a", "b"]], threshold=0, mark="replace", min_support=2)
    with pytest.raises(sf.PolicyError, match=advice) as error_info:
        method.protect(data)
    assert "kind" not in str(error_info.value) and "max_length" not in str(error_info.value)
    if few:
        method = sf.HideSequences(patterns=[["a", "b"]], threshold=0, mark="replace", min_support=4)
        assert len(method.protect(data).data) == len(data)


def test_very_long_sequences_are_refused_where_items_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them contains more patterns than could ever be compared."""
    monkeypatch.setattr(new_patterns, "MOST_VISITS", 1000)
    chance = np.random.default_rng(4)
    data = sf.Sequences.of(chance.integers(0, 20, size=(8, 2000)).tolist())
    method = sf.HideSequences(
        patterns=[[1, 2, 3]], threshold=0, mark="replace", min_support=2, max_gap=1, strategy="HH"
    )
    with pytest.raises(sf.PolicyError, match="no min_support is large enough"):
        method.protect(data)
    monkeypatch.setattr(new_patterns, "_LARGEST_TABLE", 1000)
    monkeypatch.setattr(replacements, "_replace_place", None)  # it is refused before
    with pytest.raises(sf.PolicyError, match="no min_support is large enough"):
        method.protect(data)


def test_new_patterns_are_found_without_listing_those_that_are_frequent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The release is the same as when all frequent patterns are compared, and some cases do take replacements back."""
    chance = np.random.default_rng(11)
    taken_back = 0
    for seed in range(120):
        rows = [chance.integers(0, 5, size=chance.integers(0, 9)).tolist() for _ in range(8)]
        data = sf.Sequences.of([[0, 1, 2, 3, 4], *rows])
        method = sf.HideSequences(
            patterns=[[0, 1], [2, 3, 1]], threshold=1, mark="replace", min_support=int(chance.integers(1, 5))
        )
        listed = method.protect(data, sf.Randomness.seeded(seed)).data
        with monkeypatch.context() as patched:
            patched.setattr(replacements, "MOST_PATTERNS", 0)
            searched = method.protect(data, sf.Randomness.seeded(seed)).data
        assert searched == listed
        with monkeypatch.context() as patched:
            patched.setattr(replacements, "_take_ghosts_back", lambda *_: None)
            taken_back += method.protect(data, sf.Randomness.seeded(seed)).data != listed
    assert taken_back > 10


def test_new_patterns_are_those_of_brute_force() -> None:
    chance = np.random.default_rng(12)
    ghost_count = 0
    for _ in range(200):
        before = [[[item] for item in chance.integers(0, 4, size=chance.integers(0, 7)).tolist()] for _ in range(6)]
        after = [[[chance.choice([*element, *range(4)])] for element in row if chance.random() < 0.8] for row in before]
        after = [[[int(item)] for (item,) in row] for row in after]
        least = int(chance.integers(1, 4))
        original = sf.Sequences.of([[0, 1, 2, 3], *([item for (item,) in row] for row in before)])
        published = sf.Sequences.of([[0, 1, 2, 3], *([item for (item,) in row] for row in after)])
        every = [[[0], [1], [2], [3]]]
        old, new = (mine([*every, *rows], least) for rows in (before, after))
        expected = {tuple(item for (item,) in pattern) for pattern in new.keys() - old.keys()}
        assert new_patterns.find_new_patterns(original, published, least) == expected
        ghost_count += len(expected)
    assert ghost_count > 100


def test_itemsets_have_no_search_for_new_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replacements, "MOST_PATTERNS", 3)
    data = sf.Sequences.of([[["a", "b"], ["c"]], [["a"], ["c"]], [["b", "c"], ["a"], ["c"]]] * 2)
    method = sf.HideSequences(patterns=[["a", "c"]], threshold=0, mark="replace", min_support=1)
    with pytest.raises(sf.PolicyError, match="too many to check"):
        method.protect(data, sf.Randomness.seeded(1))


def test_where_nothing_is_to_be_hidden_nothing_is_mined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replacements, "MOST_PATTERNS", 0)
    data = sf.Sequences.of([list("abc"), list("cba")])
    method = sf.HideSequences(patterns=[["a", "b"]], threshold=1, mark="replace", min_support=1)
    assert method.protect(data).data == data


@pytest.mark.parametrize("mark", ["Δ", "delete"])
def test_a_marked_element_is_lost_once(mark: Any) -> None:
    """Of 14 elements 2 are marked, and 12 are left; of 5 elements, a and b becomes b, and 4 are kept."""
    walks = sf.Sequences.of([list("aabccbae"), list("abc"), list("acb")])
    release = sf.HideSequences(patterns=[["a", "b", "c"]], threshold=0, mark=mark).protect(walks)
    assert release.losses["changes"] == 2
    assert release.losses["loss"] == pytest.approx(2 / (14 + 12))
    visits = sf.Sequences.of([[["a", "b"], ["c"]], [["a"], ["x"], ["c"]]])
    release = sf.HideSequences(patterns=[[["a", "b"], ["c"]]], threshold=0, mark=mark).protect(visits)
    assert release.losses["changes"] == 1
    assert release.losses["loss"] == pytest.approx(2 / (5 + 5))
