# SPDX-License-Identifier: MIT
"""Commands that write results replace none of the files that they read, least of all a key, and write no half."""

from __future__ import annotations

from pathlib import Path

import pytest

import sfumato as sf
from tests.command_line import Invoke

SHOP = sf.Baskets.of([["bread", "beer"], ["bread"], ["beer", "bread"], ["nuts"]] * 5)


def keep_bloom_key(folder: Path) -> Path:
    return sf.EncodeBloom(bits=24, hashes=2).new_key(SHOP).save(folder / "bloom.json")


def find_codes(folder: Path) -> tuple[Path, Path]:
    method = sf.EncodeItems(k=2)
    key = method.new_key(SHOP)
    sf.mine.save_itemsets(sf.mine.frequent_itemsets(method.protect(SHOP, key).data, 5), folder / "found.txt")
    return folder / "found.txt", key.save(folder / "items.json")


def test_a_key_is_not_replaced_by_its_requests(tmp_path: Path, invoke: Invoke) -> None:
    key = keep_bloom_key(tmp_path)
    key_bytes = key.read_bytes()
    ran = invoke("requests", key, "--out", tmp_path / "." / "bloom.json")
    assert (ran.code, key.read_bytes()) == (2, key_bytes)
    assert "write elsewhere" in ran.err


@pytest.mark.parametrize("file_name", ["found.txt", "items.json", "shop.dat"])
def test_decoding_replaces_nothing_that_it_reads(tmp_path: Path, invoke: Invoke, file_name: str) -> None:
    itemset_file, key = find_codes(tmp_path)
    SHOP.write(tmp_path / "shop.dat")
    original_bytes = (tmp_path / file_name).read_bytes()
    for option in ("--out", "--rules-out"):
        ran = invoke(
            "decode", itemset_file, key, tmp_path / "shop.dat", "--min-support", "5", option, tmp_path / file_name
        )
        assert ran.code == 2 and "write elsewhere" in ran.err
    assert (tmp_path / file_name).read_bytes() == original_bytes


def test_two_results_are_both_written_or_none(tmp_path: Path, invoke: Invoke) -> None:
    itemset_file, key = find_codes(tmp_path)
    out_file, other = tmp_path / "one.txt", tmp_path / "no" / "rules.txt"
    arguments = ("decode", itemset_file, key, "--min-support", "5", "--out", out_file, "--rules-out")
    assert invoke(*arguments, other).code == 2 and not out_file.exists()
    assert "give each its own" in invoke(*arguments, out_file).err and not out_file.exists()


def test_mining_and_regions_leave_their_inputs(tmp_path: Path, invoke: Invoke) -> None:
    shop, points = tmp_path / "shop.dat", tmp_path / "points.csv"
    SHOP.write(shop)
    points.write_text("id,time,x,y\na,1,0,0\na,2,5,5\nb,1,5,5\n")
    original_bytes = shop.read_bytes(), points.read_bytes()
    assert invoke("mine", shop, "--min-support", "5", "--out", shop).code == 2
    assert invoke("regions", points, "--out", points).code == 2
    assert (shop.read_bytes(), points.read_bytes()) == original_bytes


@pytest.mark.parametrize("count", ["9" * 19, "²"])
def test_counts_that_no_provider_has_are_refused(tmp_path: Path, invoke: Invoke, count: str) -> None:
    itemset_file, key = find_codes(tmp_path)
    itemset_file.write_text(f"1 #SUP: {count}\n", encoding="utf-8")
    ran = invoke("decode", itemset_file, key, "--min-support", "5")
    assert ran.code == 2 and "line 1 is not an itemset" in ran.err


@pytest.mark.parametrize("out", [".", "there", "/", ""])
def test_a_result_is_written_to_a_file_and_not_to_a_folder(
    tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    SHOP.write(tmp_path / "shop.dat")
    itemset_file, key = find_codes(tmp_path)
    for command in (
        ("mine", "shop.dat", "--min-support", "5"),
        ("channels", "shop.dat", "--k", "6", "--min-support", "5"),
        ("decode", itemset_file, key, "--min-support", "5"),
    ):
        ran = invoke(*command, "--out", out)
        assert ran.code == 2 and "this is a folder; name a file in it, as in --out" in ran.err, command


def test_channels_leave_the_baskets_and_need_a_folder_that_exists(tmp_path: Path, invoke: Invoke) -> None:
    shop = tmp_path / "shop.dat"
    SHOP.write(shop)
    original_bytes = shop.read_bytes()
    for out, words in ((shop, "write elsewhere"), (tmp_path / "no" / "channels.csv", "create it")):
        ran = invoke("channels", shop, "--k", "6", "--min-support", "5", "--out", out)
        assert ran.code == 2 and words in ran.err
    assert shop.read_bytes() == original_bytes


def test_one_spot_check_is_one_larger_itemset(tmp_path: Path, invoke: Invoke) -> None:
    itemset_file, key = find_codes(tmp_path)
    ran = invoke("decode", itemset_file, key, "--min-support", "5")
    assert ran.code == 0 and "and 1 larger itemset of known support" in ran.out
