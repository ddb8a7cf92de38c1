# SPDX-License-Identifier: MIT
"""Every attack with a naive version of itself, written in a few plain lines, on a small random release.

A naive attacker has the knowledge of the attack and tries the first thing that comes to mind. It counts only what it
gets without luck: where several answers are equally good to it, it gets nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

import numpy as np
import polars as pl

import sfumato as sf
from sfumato.attack import Attack
from sfumato.details import Details, SequenceDetails
from sfumato.mine.codes.bloom_filters import hash_item
from sfumato.public.noise_law import Noise
from sfumato.published_law import read_laws

Chance = np.random.Generator
Row = dict[str, Any]
PEOPLE = 40
KNOWN = ("age", "sex", "town")


@dataclass(frozen=True)
class Trial:
    """An attack on a release, and how often a naive version of it is right."""

    attack: Attack
    release: sf.Release
    truth: Any
    naive: float


def draw_people(chance: Chance, rows: int = PEOPLE) -> sf.Table:
    """People of few ages and towns, so that some are alone and some are not."""
    town = chance.choice(["A", "B", "C"], rows)
    ill = np.where(
        chance.random(rows) < 0.6, np.where(town == "A", "flu", "cold"), chance.choice(["flu", "gout"], rows)
    )
    frame = {"age": chance.integers(30, 38, rows), "sex": chance.choice(["f", "m"], rows), "town": town, "ill": ill}
    frame["job"] = chance.choice([f"j{n}" for n in range(12)], rows)
    roles = dict.fromkeys(KNOWN, "quasi_identifying") | {"ill": "sensitive", "job": "insensitive"}
    return sf.Table.of(frame, roles)


def shuffle(chance: Chance, truth: sf.Table) -> sf.Release:
    """The people as they are, in another order."""
    rows = chance.permutation(len(truth))
    return sf.Release(truth.replace_frame(truth.frame[rows]), None, (), {}, Details(rows=rows))


def list_rows(table: sf.Table) -> list[Row]:
    return table.frame.to_dicts()


def find_matches(row: Row, rows: Sequence[Row], names: Sequence[str] = KNOWN) -> list[int]:
    return [index for index, other in enumerate(rows) if all(row[name] == other[name] for name in names)]


def find_only_commonest(values: Sequence[Any]) -> Any:
    """The most common value; None if two are equally common."""
    counts = Counter(values).most_common(2)
    return None if not counts or (len(counts) > 1 and counts[0][1] == counts[1][1]) else counts[0][0]


def forget_towns(chance: Chance, truth: sf.Table) -> sf.Table:
    """Some towns are not known, and count as the custodian likes: whoever reads the file sees that they are missing."""
    towns = truth.frame["town"].scatter(np.flatnonzero(chance.random(len(truth)) < 0.2), None)
    meaning = chance.choice(["own_value", "matches_any", "never_matches"])
    return sf.Table.of(truth.frame.with_columns(towns), truth.roles, missing=str(meaning))


def list_trial(chance: Chance) -> tuple[sf.Table, sf.Release, list[Row], list[Row]]:
    truth = forget_towns(chance, draw_people(chance))
    release = shuffle(chance, truth)
    return truth, release, list_rows(truth), list_rows(release.data)


def try_linking(chance: Chance) -> Trial:
    """The only row with the same cells, but for the column that was randomized."""
    truth, known_columns = forget_towns(chance, draw_people(chance)), ("sex", "town", "job")
    answers = sf.RandomizeResponse(column="sex", p=float(chance.uniform(0.5, 0.9)), categories="from_data")
    release = answers.protect(truth, randomness=sf.Randomness.seeded(int(chance.integers(1 << 30))))
    rows = list_rows(release.data)
    naive = sum(
        find_matches(row, rows, known_columns[1:]) == [row_index] for row_index, row in enumerate(list_rows(truth))
    )
    return Trial(sf.attack.Linking(knowledge=known_columns), release, truth, naive)


def try_homogeneity(chance: Chance) -> Trial:
    """All rows with the same cells have one illness."""
    truth, release, people, rows = list_trial(chance)
    naive = sum({rows[row_index]["ill"] for row_index in find_matches(row, rows)} == {row["ill"]} for row in people)
    return Trial(sf.attack.Homogeneity(), release, truth, naive)


def try_similarity(chance: Chance) -> Trial:
    """All rows with the same cells have an illness of one kind."""
    truth, release, people, rows = list_trial(chance)
    kinds = {"flu": "airways", "cold": "airways", "gout": "joints"}
    naive = sum(
        {kinds[rows[row_index]["ill"]] for row_index in find_matches(row, rows)} == {kinds[row["ill"]]}
        for row in people
    )
    groups = {"airways": ("flu", "cold"), "joints": ("gout",)}
    return Trial(sf.attack.Similarity(column="ill", groups=groups), release, truth, naive)


def try_background_knowledge(chance: Chance) -> Trial:
    """Strikes out the most common wrong illness of the rows with the same cells, and takes the most common left."""
    truth, release, people, rows = list_trial(chance)
    naive = 0
    for row in people:
        illnesses = [rows[row_index]["ill"] for row_index in find_matches(row, rows)]
        wrong = Counter(ill for ill in illnesses if ill != row["ill"]).most_common(1)
        naive += find_only_commonest([ill for ill in illnesses if not wrong or ill != wrong[0][0]]) == row["ill"]
    return Trial(sf.attack.BackgroundKnowledge(), release, truth, naive)


def try_minimality(chance: Chance) -> Trial:
    """All rows with the same cells have one illness: that is certain without asking why."""
    trial = try_homogeneity(chance)
    return Trial(sf.attack.Minimality(column="ill", l=2), trial.release, trial.truth, trial.naive)


def try_composition(chance: Chance) -> Trial:
    """One illness is in the matching rows of both releases; the other one holds strangers too."""
    truth, release, people, rows = list_trial(chance)
    other = truth.replace_frame(pl.concat([truth.frame, forget_towns(chance, draw_people(chance)).frame]))
    other_rows = list_rows(other)
    naive = 0
    for row in people:
        shared_illnesses = {rows[row_index]["ill"] for row_index in find_matches(row, rows)} & {
            other_rows[row_index]["ill"] for row_index in find_matches(row, other_rows)
        }
        naive += shared_illnesses == {row["ill"]}
    return Trial(sf.attack.Composition().add_releases(other), release, truth, naive)


def try_singling_out(chance: Chance) -> Trial:
    """Three columns of random rows, kept if they fit one published row; as many as the attack makes."""
    truth, release, people, rows = list_trial(chance)
    attack = sf.attack.SinglingOut(columns_per_guess=3)
    guesses = attack.run(release, truth).attempts
    naive, tries = 0, 0
    while tries < guesses:
        names, row = chance.choice([*KNOWN, "ill"], 3, replace=False).tolist(), rows[int(chance.integers(len(rows)))]
        tries += 1
        naive += len(find_matches(row, rows, names)) == 1 == len(find_matches(row, people, names))
    return Trial(attack, release, truth, naive)


def try_linkability(chance: Chance) -> Trial:
    """The only row with the left cells is the only row with the right cells."""
    truth, release, people, rows = list_trial(chance)
    halves = (("age", "town"), ("sex", "job"))
    naive = 0
    for row in people:
        left, right = (find_matches(row, rows, names) for names in halves)
        naive += len(left) == 1 and left == right
    return Trial(sf.attack.Linkability(known=halves), release, truth, naive)


def try_inference(chance: Chance) -> Trial:
    """The most common illness for everybody, or of all rows that cover the person; ages are ranges that overlap."""
    truth = forget_towns(chance, draw_people(chance))
    people = list_rows(truth)
    lows = [int(row["age"] - chance.integers(0, 5)) for row in people]
    highs = [int(row["age"] + chance.integers(0, 5)) for row in people]
    ages = pl.Series("age", [f"[{low}, {high}]" for low, high in zip(lows, highs, strict=True)])
    release = sf.Release(truth.replace_frame(truth.frame.with_columns(ages)), None, (), {})
    by_rows = 0
    for row in people:
        fits = [lows[index] <= row["age"] <= highs[index] for index in range(PEOPLE)]
        illnesses = [
            other["ill"] for other, fit in zip(people, fits, strict=True) if fit and row["town"] == other["town"]
        ]
        by_rows += find_only_commonest(illnesses) == row["ill"]
    naive = max(by_rows, Counter(row["ill"] for row in people).most_common(1)[0][1])
    return Trial(sf.attack.Inference(column="ill", known=("age", "town")), release, truth, naive)


def try_swap_linkage(chance: Chance) -> Trial:
    """What most rows with the same cells say, after a third of the illnesses changed places."""
    truth, _, people, _ = list_trial(chance)
    moved = np.arange(PEOPLE)
    row_sample = chance.permutation(PEOPLE)[: PEOPLE // 3]
    moved[row_sample] = np.roll(row_sample, 1)
    release = sf.Release(truth.replace_frame(truth.frame.with_columns(truth.frame["ill"].gather(moved))), None, (), {})
    rows = list_rows(release.data)
    naive = sum(
        find_only_commonest([rows[row_index]["ill"] for row_index in find_matches(row, rows)]) == row["ill"]
        for row in people
    )
    return Trial(sf.attack.SwapLinkage(column="ill"), release, truth, naive)


def try_copied_records(chance: Chance) -> Trial:
    """The only row with the same cells, read as a copy; its illness is what counts."""
    truth, release, people, rows = list_trial(chance)
    naive = 0
    for row in people:
        matches = find_matches(row, rows)
        naive += len(matches) == 1 and rows[matches[0]]["ill"] == row["ill"]
    return Trial(sf.attack.CopiedRecords(columns="ill"), release, truth, naive)


def blank_entries(chance: Chance) -> tuple[sf.Table, sf.Release, list[Row], list[int]]:
    """A third of the illnesses is blank."""
    truth = draw_people(chance, 60)
    blank_rows = np.sort(chance.permutation(60)[:20])
    ill = truth.frame["ill"].scatter(blank_rows.tolist(), None)
    release = sf.Release(truth.replace_frame(truth.frame.with_columns(ill)), None, (), {})
    return truth, release, list_rows(release.data), blank_rows.tolist()


def try_rule_inference(chance: Chance) -> Trial:
    """The most common illness of all."""
    truth, release, rows, blank_rows = blank_entries(chance)
    people = list_rows(truth)
    illnesses = [row["ill"] for row in rows if row["ill"] is not None]
    everyday = find_only_commonest(illnesses)
    return Trial(
        sf.attack.RuleInference(), release, truth, sum(people[row_index]["ill"] == everyday for row_index in blank_rows)
    )


def try_learned_inference(chance: Chance) -> Trial:
    """The most common illness of all."""
    trial = try_rule_inference(chance)
    return Trial(sf.attack.LearnedInference(learners=("bayes",)), trial.release, trial.truth, trial.naive)


def encode(chance: Chance) -> tuple[sf.Table, sf.Release, Any, Any]:
    """Ages from 20 on without a gap as codes that rise or fall along a curve, beside a number with many codes."""
    ages = np.concatenate([np.arange(20, 50), chance.integers(20, 50, 90)]).astype(np.float64)
    codes = np.round((ages - 10) ** chance.uniform(0.5, 2) * float(chance.choice([-1.0, 1.0])), 6)
    other = chance.permutation(len(ages)) * 1.5
    truth = sf.Table.of({"age": ages, "other": chance.uniform(0, 1000, len(ages)).round(2)})
    return truth, sf.Release(sf.Table.of({"age": codes, "other": other}), None, (), {}), ages, codes


def count_near(guesses: Any, ages: Any, radius: float = 0.02) -> int:
    return int((np.abs(guesses - ages) <= radius * np.ptp(ages) + 1e-9).sum())


def try_stretching(chance: Chance) -> Trial:
    """Amounts with gaps as codes along a line or a flat curve: shifted and stretched to the known ends, up or down."""
    amounts = np.round(chance.exponential(50, int(chance.integers(10, 120))), int(chance.integers(0, 2)))
    codes = (amounts + 5) ** chance.uniform(0.9, 1.1) * float(chance.choice([-3.0, 0.5]))
    shares = (codes - codes.min()) / np.ptp(codes)
    naive = max(count_near(amounts.min() + np.ptp(amounts) * side, amounts) for side in (shares, 1 - shares))
    release = sf.Release(sf.Table.of({"amount": codes}), None, (), {})
    return Trial(sf.attack.Sorting(), release, sf.Table.of({"amount": amounts}), naive)


def try_sorting(chance: Chance) -> Trial:
    """The first code is the smallest age, the next one the age after it; or the other way round."""
    if chance.random() < 0.5:
        return try_stretching(chance)
    truth, release, ages, codes = encode(chance)
    rank = np.unique(codes, return_inverse=True)[1]
    naive = max(count_near(ages.min() + rank, ages), count_near(ages.max() - rank, ages))
    return Trial(sf.attack.Sorting(), release, truth, naive)


def permute_runs(chance: Chance) -> tuple[sf.Table, sf.Release, Any, Any]:
    """Ages with gaps as codes that keep the order of runs of neighbours, but not the order within a run."""
    domain, run = np.sort(chance.choice(60, 24, replace=False)), int(chance.integers(2, 7))
    places = np.concatenate([chance.permutation(np.arange(at, min(at + run, 24))) for at in range(0, 24, run)])
    rows = np.concatenate([np.arange(24), chance.integers(0, 24, int(chance.integers(10, 60)))])
    ages, codes = domain[rows].astype(np.float64), places[rows] * 2.5
    return sf.Table.of({"age": ages}), sf.Release(sf.Table.of({"age": codes}), None, (), {}), ages, codes


def lay_side_by_side(codes: Any, ages: Any) -> int:
    """The first person by code has the smallest age, and so on; or the largest. All people of a code have one age."""
    order = np.argsort(codes, kind="stable")
    guesses = np.empty_like(ages), np.empty_like(ages)
    guesses[0][order], guesses[1][order] = np.sort(ages), np.sort(ages)[::-1]
    return max(count_near(guess, ages) for guess in guesses)


def try_rank_matching(chance: Chance) -> Trial:
    """The sorted ages; a code stands for the one at the middle rank of its rows, or people and ages side by side."""
    truth, release, ages, codes = permute_runs(chance)
    naive = lay_side_by_side(codes, ages)
    for side in (codes, -codes):
        order = np.sort(side).tolist()
        ranks = [order.index(code) + order.count(code) // 2 for code in side.tolist()]
        naive = max(naive, count_near(np.sort(ages)[ranks], ages))
    return Trial(sf.attack.QuantileMatching(share=1.0), release, truth, naive)


def try_quantile_matching(chance: Chance) -> Trial:
    """Sorts codes and ages, and lays them side by side."""
    if chance.random() < 0.5:
        return try_rank_matching(chance)
    truth, release, ages, codes = encode(chance)
    return Trial(sf.attack.QuantileMatching(share=1.0), release, truth, lay_side_by_side(codes, ages))


def try_family_matching(chance: Chance) -> Trial:
    """Two codes whose ages it knows, and a straight line by rank; in the median of many, far below it by chance."""
    truth, release, ages, codes = encode(chance)
    rank = np.array([(codes < code).sum() + (codes == code).sum() / 2 for code in codes])
    counts = []
    for _ in range(200):
        first, other = chance.permutation(np.unique(codes, return_index=True)[1])[:2]
        known_ages = ages[[first, other]] + np.ptp(ages) * chance.uniform(-0.02, 0.02, 2)
        slope = (known_ages[1] - known_ages[0]) / (rank[other] - rank[first])
        counts.append(count_near(known_ages[0] + slope * (rank - rank[first]), ages))
    return Trial(sf.attack.FamilyMatching(family="uniform", trials=200), release, truth, sorted(counts)[60])


def try_frequency_matching(chance: Chance) -> Trial:
    """The most common code is the most common age, if no two are equally common; or codes and ages side by side."""
    if chance.random() < 0.5:
        trial = try_quantile_matching(chance)
        return Trial(sf.attack.FrequencyMatching(share=1.0), trial.release, trial.truth, trial.naive)
    ages = np.repeat(np.arange(12.0), chance.permutation(np.arange(1, 13)))
    codes = chance.permutation(12)[ages.astype(np.int64)] * 2.0
    order = [[value for value, _ in Counter(column.tolist()).most_common()] for column in (codes, ages)]
    guess = dict(zip(*order, strict=True))
    naive = count_near(np.array([guess[code] for code in codes.tolist()]), ages)
    release = sf.Release(sf.Table.of({"age": codes}), None, (), {})
    return Trial(sf.attack.FrequencyMatching(share=1.0), release, sf.Table.of({"age": ages}), naive)


def try_curve_fitting(chance: Chance) -> Trial:
    """A polyline through four codes whose ages it knows, in the median of many; far below it by chance is allowed."""
    truth, release, ages, codes = encode(chance)
    distinct, first = np.unique(codes, return_index=True)
    counts = []
    for _ in range(200):
        known_ranks = np.sort(chance.choice(len(distinct), 4, replace=False))
        values = ages[first[known_ranks]] + chance.uniform(-0.02, 0.02, 4) * np.ptp(ages)
        counts.append(count_near(np.interp(codes, distinct[known_ranks], values), ages))
    # The 60th of 200 is 5.7 deviations below the median.
    return Trial(sf.attack.CurveFitting(trials=200), release, truth, sorted(counts)[60])


def try_curve_combination(chance: Chance) -> Trial:
    """The same polyline."""
    trial = try_curve_fitting(chance)
    return Trial(sf.attack.CurveCombination(trials=200), trial.release, trial.truth, trial.naive)


def draw_baskets(chance: Chance, rows: int = 150, items: int = 8) -> sf.Baskets:
    """Items of different frequency; each even one brings the next."""
    purchases = chance.random((rows, items)) < np.linspace(0.5, 0.1, items) * chance.uniform(0.8, 1.2, items)
    for even in range(0, items - 1, 2):
        purchases[:, even + 1] |= purchases[:, even] & (chance.random(rows) < 0.6)
    return sf.Baskets.of([[f"i{code}" for code in np.flatnonzero(row)] for row in purchases])


def list_holders(lists: Sequence[Any]) -> dict[Any, set[int]]:
    """The rows that hold each item."""
    holders: dict[Any, set[int]] = {}
    for row_index, row in enumerate(lists):
        for item in row:
            holders.setdefault(item, set()).add(row_index)
    return holders


Holders = dict[Any, set[int]]


def count_nearest(items: Holders, codes: Holders, is_right: Callable[[Any, Any], bool], chance: Chance) -> int:
    """Each item, most common first, takes the unused code of nearest support; of ten orders of ties, the unluckiest."""
    counts = []
    for _ in range(10):
        names, free = ([list(side)[at] for at in chance.permutation(len(side))] for side in (items, codes))
        naive = 0
        for item in sorted(names, key=lambda item: -len(items[item]))[: len(codes)]:
            code = min(free, key=lambda code: abs(len(codes[code]) - len(items[item])))
            free.remove(code)
            naive += is_right(item, code)
        counts.append(naive)
    return min(counts)


def try_nearest_codes(chance: Chance) -> Trial:
    """Each item takes the unused code of nearest support, if that is no luck."""
    baskets = draw_baskets(chance, int(chance.integers(30, 80)), int(chance.integers(3, 9)))
    method = sf.EncodeItems(kind="one_to_n", n=2)
    release = method.protect(baskets, method.new_key(baskets, sf.Randomness.seeded(int(chance.integers(1 << 30)))))
    items, codes = list_holders(baskets.to_lists()), list_holders(release.data.to_lists())

    def is_right(item: Any, code: Any) -> bool:
        larger = [rows for rows in items.values() if len(rows) > len(items[item])]
        return items[item] <= codes[code] and not any(rows <= codes[code] for rows in larger)

    naive = count_nearest(items, codes, is_right, chance)
    attack = sf.attack.ItemFrequency(
        knowledge=str(chance.choice(["supports", "pairs"])), clean=bool(chance.random() < 0.5)
    )
    return Trial(attack, release, baskets, naive)


def try_every_matching(chance: Chance) -> Trial:
    """Of all ways to give each item a code, that with the nearest supports of pairs; of equals, the unluckiest."""
    baskets = draw_baskets(chance, int(chance.integers(30, 120)), int(chance.integers(3, 6)))
    method = sf.EncodeItems(k=int(chance.integers(2, 4)))
    release = method.protect(baskets, method.new_key(baskets, sf.Randomness.seeded(int(chance.integers(1 << 30)))))
    items, codes = list_holders(baskets.to_lists()), list_holders(release.data.to_lists())
    rows = release.details.trace_rows(len(release.data)).tolist()
    origins = {code: {rows[at] for at in holders if rows[at] >= 0} for code, holders in codes.items()}

    def measure_distance(matching: Sequence[Any]) -> int:
        pairs = [(a, b) for a in zip(items, matching, strict=True) for b in zip(items, matching, strict=True)]
        return sum(abs(len(items[a] & items[b]) - len(codes[c] & codes[d])) for (a, c), (b, d) in pairs)

    distances = {matching: measure_distance(matching) for matching in permutations(codes, len(items))}
    nearest = [matching for matching, distance in distances.items() if distance == min(distances.values())]
    naive = min(sum(items[a] == origins[c] for a, c in zip(items, matching, strict=True)) for matching in nearest)
    return Trial(sf.attack.ItemFrequency(knowledge="pairs"), release, baskets, naive)


def try_item_frequency(chance: Chance) -> Trial:
    """The most common code is the most common item, and so on."""
    draw = chance.random()
    if draw < 0.6:
        return try_nearest_codes(chance) if draw < 0.3 else try_every_matching(chance)
    baskets = draw_baskets(chance)
    names = dict(zip(baskets.items, chance.permutation(len(baskets.items)).tolist(), strict=True))
    encoded = sf.Baskets.of([[names[item] for item in row] for row in baskets.to_lists()])
    order = [Counter(item for row in side.to_lists() for item in row) for side in (baskets, encoded)]
    distinct = len(set(order[0].values())) == len(order[0])
    pairs = zip(*(sorted(counts, key=counts.__getitem__) for counts in order), strict=True)
    naive = sum(names[item] == code for item, code in pairs) if distinct else 0
    return Trial(sf.attack.ItemFrequency(knowledge="supports"), sf.Release(encoded, None, (), {}), baskets, naive)


def try_nearest_bits(chance: Chance) -> Trial:
    """Each item takes the unused bit of nearest support, if that is no luck."""
    baskets = draw_baskets(chance, int(chance.integers(40, 100)), int(chance.integers(3, 9)))
    method = sf.EncodeBloom(bits=int(chance.choice([16, 64])), hashes=int(chance.choice([1, 2, 4])))
    release = method.protect(baskets, method.new_key(baskets, sf.Randomness.seeded(int(chance.integers(1 << 30)))))
    items, bits = list_holders(baskets.to_lists()), list_holders(release.data.to_lists())

    def is_right(item: Any, bit: Any) -> bool:
        return len(items[item] & bits[bit]) >= 0.9 * len(items[item] | bits[bit])

    naive = count_nearest(items, bits, is_right, chance)
    return Trial(sf.attack.BloomDictionary(knowledge="supports"), release, baskets, naive)


def try_shared_bits(chance: Chance) -> Trial:
    """For each item the bit of nearest support, whatever other items take; right if all that are as near are right."""
    baskets = draw_baskets(chance, int(chance.integers(30, 120)), int(chance.integers(3, 10)))
    method = sf.EncodeBloom(bits=8, hashes=1)
    release = method.protect(baskets, method.new_key(baskets, sf.Randomness.seeded(int(chance.integers(1 << 30)))))
    bits, naive = list_holders(release.data.to_lists()), 0
    for holders in list_holders(baskets.to_lists()).values():
        least = min(abs(len(bit) - len(holders)) for bit in bits.values())
        nearest = [bit for bit in bits.values() if abs(len(bit) - len(holders)) == least]
        naive += all(len(bit & holders) >= 0.9 * len(bit | holders) for bit in nearest)
    return Trial(sf.attack.BloomDictionary(knowledge="supports"), release, baskets, naive)


def try_bloom_dictionary(chance: Chance) -> Trial:
    """Names the baskets whose filter holds all bits of an item."""
    draw = chance.random()
    if draw < 0.6:
        return try_nearest_bits(chance) if draw < 0.3 else try_shared_bits(chance)
    baskets = draw_baskets(chance, 60)
    lists = baskets.to_lists()
    filters = [sorted({bit for item in row for bit in hash_item(item, 64, 2)}) for row in lists]
    naive = 0
    for item in baskets.items:
        named_rows = {row_index for row_index, bits in enumerate(filters) if set(hash_item(item, 64, 2)) <= set(bits)}
        true = {row_index for row_index, row in enumerate(lists) if item in row}
        naive += len(named_rows & true) >= 0.9 * len(named_rows | true)
    attack = sf.attack.BloomDictionary(bits=64, hashes=2)
    return Trial(attack, sf.Release(sf.Baskets.of(filters), None, (), {}), baskets, naive)


def try_item_breach(chance: Chance) -> Trial:
    """Bayes' rule for each item alone, with the shares that undoing the randomness gives."""
    baskets = draw_baskets(chance, 120)
    keep, add = float(chance.uniform(0.7, 0.95)), float(chance.uniform(0.02, 0.2))
    method = sf.RandomizeBaskets(keep=keep, add=add)
    release = method.protect(baskets, sf.Randomness.seeded(int(chance.integers(1 << 30))))
    true, published_lists = baskets.to_lists(), release.data.to_lists()
    naive = 0
    for item in baskets.items:
        prior = (sum(item in row for row in published_lists) / len(published_lists) - add) / (keep - add)
        if 0 < prior <= 0.5:
            yes = prior * keep / (prior * keep + (1 - prior) * add)
            no = prior * (1 - keep) / (prior * (1 - keep) + (1 - prior) * (1 - add))
            pairs = zip(true, published_lists, strict=True)
            naive += sum(item in row and (yes if item in published_row else no) >= 0.6 for row, published_row in pairs)
    return Trial(sf.attack.ItemBreach(prior=0.5, posterior=0.6), release, baskets, naive)


def try_fill_unknowns(chance: Chance) -> Trial:
    """Every unknown item is there, or none is: whichever is right more often. Or those next to the item that is most
    overrepresented in marked baskets."""
    if chance.random() < 0.5:
        return try_fill_blocked(chance)
    baskets = draw_baskets(chance, 80)
    lists, rows = baskets.to_lists(), np.sort(chance.permutation(80)[:30]).tolist()
    unknown = [[item for item in row if item != "i1" or row_index not in rows] for row_index, row in enumerate(lists)]
    marked = [[*row, "i1?"] if row_index in rows else row for row_index, row in enumerate(unknown)]
    holder_count = sum("i1" in lists[row_index] for row_index in rows)
    release = sf.Release(sf.Baskets.of(marked), None, (), {})
    return Trial(sf.attack.FillUnknowns(), release, baskets, max(holder_count, 30 - holder_count))


def try_fill_blocked(chance: Chance) -> Trial:
    """The item whose share of marked baskets exceeds that of others most; the unknown one is there where it is."""
    baskets = draw_baskets(chance)
    release = sf.HideRules(rules="i0 ==> i1", min_support=5, min_confidence=0.5, strategy="block").protect(baskets)
    published, true = release.data.to_lists(), baskets.to_lists()
    marked = [at for at, row in enumerate(published) if "i1?" in row]
    others = [at for at in range(len(published)) if at not in marked]
    excess = {
        item: sum(item in published[at] for at in marked) / max(len(marked), 1)
        - sum(item in published[at] for at in others) / max(len(others), 1)
        for item in baskets.items
        if item != "i1"
    }
    best = [item for item in excess if excess[item] == max(excess.values())]
    naive = sum((best[0] in published[at]) == ("i1" in true[at]) for at in marked) if len(best) == 1 else 0
    return Trial(sf.attack.FillUnknowns(), release, baskets, naive)


def measure_rules(lists: Sequence[Any], items: Sequence[Any]) -> dict[tuple[Any, Any], float]:
    """The confidence of every rule of two items that five baskets hold."""
    sure = {}
    for left, right in permutations(items, 2):
        pair_count = sum(left in row and right in row for row in lists)
        if pair_count >= 5:
            sure[left, right] = pair_count / sum(left in row for row in lists)
    return sure


def try_remining(chance: Chance) -> Trial:
    """One of several naive versions, for rules that were hidden in different ways."""
    ways = (try_remining_below, try_remining_gaps, try_remining_marks)
    return ways[int(chance.integers(0, len(ways)))](chance)


def try_remining_gaps(chance: Chance) -> Trial:
    """Of the pairs below the support, the one whose items are most common compared with how often they meet."""
    baskets = draw_baskets(chance)
    left, right = (f"i{at}" for at in chance.permutation(5)[:2])
    least, as_rule = int(chance.integers(1, 4)), bool(chance.integers(0, 2))
    published = [set(row) for row in baskets.to_lists()]
    for row in [row for row in published if {left, right} <= row][least - 1 :]:
        row.discard(right)
    count = Counter(item for row in published for item in row)
    gaps = {}
    for pair in combinations(count, 2):
        both = sum(set(pair) <= row for row in published)
        if both < least:
            gaps[frozenset(pair)] = count[pair[0]] * count[pair[1]] - both * len(published)
    first = [pair for pair, gap in gaps.items() if gap == max(gaps.values())]
    hit = 1 / len(first) if frozenset((left, right)) in first else 0.0
    secret = {"rules": (((left,), (right,)),)} if as_rule else {"itemsets": ((left, right),)}
    attack = sf.attack.Remining(**secret, min_support=least, min_confidence=0.01 if as_rule else None)
    shown = sum({left, right} <= set(row) for row in baskets.to_lists()) >= least
    release = sf.Release(sf.Baskets.of([sorted(row) for row in published]), None, (), {})
    return Trial(attack, release, baskets, shown * (hit / 2 if as_rule else hit))


def try_remining_marks(chance: Chance) -> Trial:
    """The right side is the item that is marked, the left side what most of the marked baskets hold."""
    baskets = draw_baskets(chance)
    left, right = (f"i{at}" for at in chance.permutation(6)[:2])
    method = sf.HideRules(rules=(((left,), (right,)),), min_support=5, min_confidence=0.2, strategy="block")
    try:
        release = method.protect(baskets)
    except sf.ImpossibleRelease:
        return try_remining_marks(chance)
    marked = [set(row) for row in release.data.to_lists() if f"{right}?" in row]
    held = {item: sum(item in row for row in marked) for item in baskets.items if item != right}
    known = [{item for item in row if not str(item).endswith("?")} for row in release.data.to_lists()]
    shows = {
        item: (both := sum({item, right} <= row for row in known)) >= 5
        and both >= 0.2 * sum(item in row for row in known)
        for item in held
    }
    below = [item for item in held if not shows[item]]
    most = [item for item in below if held[item] == max(held[other] for other in below)]
    naive = int(most == [left]) if marked else 0
    return Trial(sf.attack.Remining(), release, baskets, naive)


def try_remining_below(chance: Chance) -> Trial:
    """Of the frequent rules of two items below the threshold, the surest are named, as many as were hidden."""
    baskets = draw_baskets(chance)
    rules = (("i0", "i1"), ("i2", "i3"))
    published = [set(row) for row in baskets.to_lists()]
    for left, right in rules:
        held = [row for row in published if {left, right} <= row]
        for row in held[: max(0, len(held) - (sum(left in row for row in published) - 1) // 2)]:
            row.discard(right)
    before, now = (measure_rules(lists, baskets.items) for lists in (baskets.to_lists(), published))
    targets = {rule for rule in rules if before.get(rule, 0) >= 0.5}
    shown = {rule for rule in targets if now.get(rule, 0) >= 0.5}
    below = sorted((sure for sure in now.values() if sure < 0.5), reverse=True)
    many = len(targets - shown)
    surest = {rule for rule, sure in now.items() if sure < 0.5 and (len(below) <= many or sure > below[many])}
    attack = sf.attack.Remining(rules=tuple(((a,), (b,)) for a, b in rules), min_support=5, min_confidence=0.5)
    release = sf.Release(sf.Baskets.of([sorted(row) for row in published]), None, (), {})
    return Trial(attack, release, baskets, len(shown) + len(targets & surest))


def draw_walks(chance: Chance, rows: int = PEOPLE, length: int = 4) -> list[list[str]]:
    """Walks over few places; whoever is at p0 mostly goes on to p1."""
    walks = [[f"p{code}" for code in chance.integers(0, 6, length)] for _ in range(rows)]
    for walk in walks:
        for step in range(length - 1):
            if walk[step] == "p0" and chance.random() < 0.8:
                walk[step + 1] = "p1"
    return walks


def is_part(pattern: Sequence[Any], row: Sequence[Any]) -> bool:
    rest = iter(row)
    return all(item in rest for item in pattern)


def try_sequence_linking(chance: Chance) -> Trial:
    """The shortest walk that passes through all of someone's places in their order, one of several by lot."""
    walks = [walk[: int(chance.integers(1, 5))] for walk in draw_walks(chance)]
    rows = chance.permutation(len(walks))
    published = [walks[row] for row in rows]
    published[0] = published[0][1:]
    release = sf.Release(sf.Sequences.of(published), None, (), {}, Details(rows=rows))
    naive = 0.0
    for person, walk in enumerate(walks):
        matches = [row_index for row_index, other in enumerate(published) if is_part(walk, other)]
        shortest = min((len(published[row_index]) for row_index in matches), default=0)
        owners = [rows[row_index] for row_index in matches if len(published[row_index]) == shortest]
        naive += owners.count(person) / max(len(owners), 1)
    return Trial(sf.attack.SequenceLinking(points=(4,)), release, sf.Sequences.of(walks), round(naive, 12) - 1e-9)


def try_sequence_remining(chance: Chance) -> Trial:
    """Of the pairs of places in some walks, at most fifteen, the one in most is named; of those in none, that of the
    most visited places."""
    walks = draw_walks(chance, rows=60)
    limits = {("p0", "p1"): 15, ("p2", "p3"): 0}
    published = [list(walk) for walk in walks]
    for pair, limit in limits.items():
        for walk in [walk for walk in published if is_part(pair, walk)][limit:]:
            walk[:] = [item for item in walk if item != pair[1]]
    pairs = [(a, b) for a in map("p{}".format, range(6)) for b in map("p{}".format, range(6))]
    true_counts, published_counts = (
        {pair: sum(is_part(pair, walk) for walk in side) for pair in pairs} for side in (walks, published)
    )
    targets = {pair for pair, limit in limits.items() if true_counts[pair] > limit}
    visits = {place: sum(place in walk for walk in published) for place, _ in pairs}
    kinds = [{pair: count for pair, count in published_counts.items() if 0 < count <= 15}]
    kinds += [{pair: visits[pair[0]] * visits[pair[1]] for pair, count in published_counts.items() if not count}]
    named = {pair for scores in kinds for pair, score in scores.items() if [*scores.values()].count(score) == 1}
    best = {pair for scores in kinds for pair, score in scores.items() if score == max(scores.values())}
    details = SequenceDetails(sensitive=tuple(limits.items()))
    release = sf.Release(sf.Sequences.of(published), None, (), {}, details)
    return Trial(sf.attack.SequenceRemining(), release, sf.Sequences.of(walks), len(targets & named & best))


def try_mark_guessing(chance: Chance) -> Trial:
    """The place that most often lies between the same two others."""
    walks = draw_walks(chance, rows=80, length=5)
    marks = [(row, 2, walks[row][2]) for row in range(0, len(walks), 8)]
    published = [list(walk) for walk in walks]
    for row, position, _ in marks:
        published[row][position] = "Δ"
    naive = 0
    for row, position, true_item in marks:
        neighbours = published[row][position - 1], published[row][position + 1]
        fillers = [
            walk[index]
            for walk in published
            for index in range(1, 4)
            if (walk[index - 1], walk[index + 1]) == neighbours
        ]
        naive += find_only_commonest([other for other in fillers if other != "Δ"]) == true_item
    release = sf.Release(sf.Sequences.of(published), None, (), {}, SequenceDetails(marks=marks))
    return Trial(sf.attack.MarkGuessing(), release, sf.Sequences.of(walks), naive)


def try_support_inference(chance: Chance) -> Trial:
    """Subtracts the support of a published pair from that of one of its items."""
    baskets = draw_baskets(chance, 40, 4)
    lists, k, least = baskets.to_lists(), 4, 4
    naive = 0
    for first_item, other in combinations(baskets.items, 2):
        pair_count = sum(first_item in row and other in row for row in lists)
        for item in (first_item, other):
            item_count = sum(item in row for row in lists)
            naive += pair_count >= least and 0 < item_count - pair_count < k
    patterns = sf.PublishPatterns(k=k, min_support=least, repair="none").protect(baskets)
    return Trial(sf.attack.SupportInference(k=k, min_support=least), patterns, baskets, naive)


def add_noise(chance: Chance, kind: str, rows: int = 120) -> tuple[sf.Table, sf.Release, Any, Any, float]:
    """Numbers in crowds or spread, with noise of a published law."""
    crowds = chance.choice(chance.uniform(0, 100, 4), rows) + chance.normal(0, 1, rows)
    true = np.where(chance.random() < 0.5, crowds, chance.uniform(0, 100, rows))
    scale = float(chance.uniform(3, 30))
    noisy_values = true + Noise(kind=kind, scale=scale).draw(chance, rows)
    law = {"kind": kind, "scale": scale, "step": 0, "range": [float(true.min()), float(true.max())]}
    release = sf.Release(sf.Table.of({"x": noisy_values}), None, (), {}, Details(public=read_laws({"x": law})))
    return sf.Table.of({"x": true}), release, true, noisy_values, scale


def count_close(guess: Any, true: Any) -> int:
    return int((np.abs(guess - true) <= 0.2 * true.std()).sum())


def try_spectral_filter(chance: Chance) -> Trial:
    """Reads the release, or guesses the mean."""
    truth, release, true, noisy_values, _ = add_noise(chance, "gaussian")
    return Trial(
        sf.attack.SpectralFilter(),
        release,
        truth,
        max(count_close(noisy_values, true), count_close(noisy_values.mean(), true)),
    )


def try_bayes_estimate(chance: Chance) -> Trial:
    """Shrinks each number towards the mean by the share of noise in the variance."""
    truth, release, true, noisy_values, scale = add_noise(chance, "gaussian")
    signal_share = max(0.0, 1 - scale**2 / noisy_values.var())
    naive = max(
        count_close(noisy_values.mean() + signal_share * (noisy_values - noisy_values.mean()), true),
        count_close(noisy_values, true),
    )
    # The last digits of a mean may decide about one person.
    return Trial(sf.attack.BayesEstimate(), release, truth, naive - 1)


def try_likeliest_value(chance: Chance) -> Trial:
    """Plain EM on 60 bins, and for each number the bin with most probability nearby; or reads the release."""
    truth, release, true, noisy_values, scale = add_noise(chance, str(chance.choice(["gaussian", "uniform"])))
    kind = release.public["x"]["kind"]
    bins = np.linspace(true.min(), true.max(), 61)
    bins = (bins[:-1] + bins[1:]) / 2
    likely = Noise(kind=kind, scale=scale).density(noisy_values[:, None] - bins) + 1e-300
    shares = np.full(60, 1 / 60)
    for _ in range(200):
        shares = (likely * shares / (likely @ shares)[:, None]).mean(axis=0)
    near_mask = np.abs(bins[:, None] - bins) <= 0.2 * np.sqrt(shares @ (bins - shares @ bins) ** 2)
    guess = bins[(likely * shares @ near_mask).argmax(axis=1)]
    # Bins lie elsewhere in two reconstructions, and of 120 people some fall on the other side: six are 5 %.
    naive = max(count_close(guess, true) - 6, count_close(noisy_values, true), count_close(noisy_values.mean(), true))
    return Trial(sf.attack.LikeliestValue(), release, truth, naive)


def try_range_reveal(chance: Chance) -> Trial:
    """Cuts the noise's reach off at the ends of the public range."""
    truth, release, true, noisy_values, scale = add_noise(chance, "uniform")
    widths = np.minimum(noisy_values + scale, true.max()) - np.maximum(noisy_values - scale, true.min())
    return Trial(sf.attack.RangeReveal(), release, truth, int((widths <= 0.75 * 2 * scale).sum()))


def randomize(chance: Chance) -> tuple[sf.Table, sf.Release, sf.RandomizeResponse]:
    truth = draw_people(chance)
    method = sf.RandomizeResponse(column="ill", p=float(chance.uniform(0.4, 0.9)), categories="from_data")
    return truth, method.protect(truth, randomness=sf.Randomness.seeded(int(chance.integers(1 << 30)))), method


def try_likeliest_answer(chance: Chance) -> Trial:
    """Believes the answer, or the most common answer."""
    truth, release, _ = randomize(chance)
    true, published_answers = truth.frame["ill"].to_list(), release.data.frame["ill"].to_list()
    naive = sum(map(str.__eq__, true, published_answers))
    return Trial(sf.attack.LikeliestAnswer(), release, truth, naive)


def try_repeated_answers(chance: Chance) -> Trial:
    """Believes what most of three answers say."""
    truth, release, method = randomize(chance)
    repeats = [method.protect(truth, randomness=sf.Randomness.seeded(int(chance.integers(1 << 30)))) for _ in range(2)]
    answers = [publication.data.frame["ill"].to_list() for publication in (release, *repeats)]
    true = truth.frame["ill"].to_list()
    votes = [find_only_commonest(person_answers) for person_answers in zip(*answers, strict=True)]
    naive = sum(vote == ill for vote, ill in zip(votes, true, strict=True))
    return Trial(sf.attack.RepeatedAnswers().add_releases(*repeats), release, truth, naive)


NAIVE: dict[type[Attack], Callable[[Chance], Trial]] = {
    sf.attack.BackgroundKnowledge: try_background_knowledge,
    sf.attack.BayesEstimate: try_bayes_estimate,
    sf.attack.BloomDictionary: try_bloom_dictionary,
    sf.attack.Composition: try_composition,
    sf.attack.CopiedRecords: try_copied_records,
    sf.attack.CurveCombination: try_curve_combination,
    sf.attack.CurveFitting: try_curve_fitting,
    sf.attack.FillUnknowns: try_fill_unknowns,
    sf.attack.FamilyMatching: try_family_matching,
    sf.attack.FrequencyMatching: try_frequency_matching,
    sf.attack.Homogeneity: try_homogeneity,
    sf.attack.Inference: try_inference,
    sf.attack.ItemBreach: try_item_breach,
    sf.attack.ItemFrequency: try_item_frequency,
    sf.attack.LearnedInference: try_learned_inference,
    sf.attack.LikeliestAnswer: try_likeliest_answer,
    sf.attack.LikeliestValue: try_likeliest_value,
    sf.attack.Linkability: try_linkability,
    sf.attack.Linking: try_linking,
    sf.attack.MarkGuessing: try_mark_guessing,
    sf.attack.Minimality: try_minimality,
    sf.attack.QuantileMatching: try_quantile_matching,
    sf.attack.RangeReveal: try_range_reveal,
    sf.attack.Remining: try_remining,
    sf.attack.RepeatedAnswers: try_repeated_answers,
    sf.attack.RuleInference: try_rule_inference,
    sf.attack.SequenceLinking: try_sequence_linking,
    sf.attack.SequenceRemining: try_sequence_remining,
    sf.attack.Similarity: try_similarity,
    sf.attack.SinglingOut: try_singling_out,
    sf.attack.Sorting: try_sorting,
    sf.attack.SpectralFilter: try_spectral_filter,
    sf.attack.SupportInference: try_support_inference,
    sf.attack.SwapLinkage: try_swap_linkage,
}
"""How a naive version of each attack is tried."""
