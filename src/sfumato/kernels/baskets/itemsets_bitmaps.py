# SPDX-License-Identifier: MIT
"""Depth-first search for itemsets over bitmaps: one bit a basket, one bitmap an item, intersected word by word.

The root is a set of baskets and, for each item that is still frequent among them, a bitmap. Items numbered below
`ROOT_BEFORE` are not branched on; they and the branches already taken are the excluded items. A set that is wholly
inside the baskets of an excluded item is not closed, and neither is any set below it (Lucchese, Orlando and Perego's
order-preserving check): no set already found has to be remembered, and branches can be searched apart. Maximal sets
are remembered all the same, as bitmaps of items, to leave branches that lie inside one of them (Gouda and Zaki's
progressive focusing); what is left out decides nothing but the time taken.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, IntGrid, Ints, UnsignedInts, Words
from sfumato.kernels.baskets.itemsets_bits import count_common_bits, intersect_bitmaps, is_within, is_within_few

from sfumato.kernels.baskets.itemsets_output import (  # isort: skip
    ALL_PATTERNS, DEPTH, SEARCH_DONE, EXCLUDED_COUNT, FOLD, FOUND_COUNT, FULL, GROW, KIND, LEAST, LISTED_COUNT,
    MAX_LENGTH, MAXIMAL_PATTERNS, PATH_PERFECT, PATH_ROWS, SEARCH_PAUSED, IS_PENDING, PENDING_LENGTH, PENDING_MASK,
    PENDING_ROW, PENDING_SUPPORT, PERFECT, ROOT_BEFORE, ROOT_EXACT, ROOT_ITEMS, ROOT_ROW, ROOT_WORDS, STACK_BITS,
    STACK_EXCLUDED, STACK_EXTENSIONS, STACK_FOUND,
    STACK_FRAMES, STACK_LISTED, STACK_MASKS, STRIDE, WORK_LEFT, extend_row, give_set, give_subsets, has_room, is_short,
    widen_row,
)  # fmt: skip
from sfumato.kernels.bits import popcount
from sfumato.kernels.compilation import compile_cached, part, record


@record
class SearchRoot(NamedTuple):
    """The items of the root."""

    codes: Codes
    supports: Ints


@record
class BitmapStack(NamedTuple):
    """Frames, and what they hold."""

    items: UnsignedInts
    """The extensions: items, supports, places of bitmaps."""
    supports: Ints
    slots: Words
    bits: Words
    """Bitmaps, the root's first."""
    frames: IntGrid
    excluded_items: UnsignedInts
    """Excluded items."""
    masks: Words
    """Masks of tails and sets."""
    maximal_sets: Words
    """Maximal sets."""
    listed_sets: UnsignedInts
    """Those of them that hold the set of a frame."""
    support_bounds: Ints
    """An upper bound of each excluded item's support within the set of the frame."""


(
    BRANCH_INDEX, BRANCH_END, BRANCH_STOP, BRANCH_TOP, PERFECT_BEFORE, EXCLUDED_BEFORE, EXCLUDED_BEGIN, LENGTH,
    LISTED_BEGIN, LISTED_END, FOUND_BEFORE,
    IS_CHECKED, BRANCH_FRAME,
) = range(13)  # fmt: skip
LONGEST_SORTED = 64
MANY_EXCLUDED = 24
FEW_BRANCHES = 3


@part
def _is_bitmap_covered(state, stack, depth, bitmap, support):
    """Whether some excluded item is in all of these baskets: it must be in as many of the frame's."""
    bits, excluded_items, support_bounds = stack.bits, stack.excluded_items, stack.support_bounds
    words = np.uint64(state[ROOT_WORDS])
    for number in range(stack.frames[depth, EXCLUDED_BEGIN], state[EXCLUDED_COUNT]):
        if support_bounds[number] >= support and is_within(
            bits, bitmap, bits, np.uint64(excluded_items[number]) * words, words
        ):
            return True
    return False


@part
def _is_extended(state, stack, depth, bitmap):
    """Whether some excluded item is in enough of these baskets for a larger frequent set."""
    bits, excluded_items = stack.bits, stack.excluded_items
    words = np.uint64(state[ROOT_WORDS])
    for number in range(stack.frames[depth, EXCLUDED_BEGIN], state[EXCLUDED_COUNT]):
        if count_common_bits(bits, bitmap, np.uint64(excluded_items[number]) * words, words) >= state[LEAST]:
            return True
    return False


@part
def _exclude_branch(state, stack, branch):
    """Exclude a branch that is taken."""
    stack.excluded_items[state[EXCLUDED_COUNT]] = stack.items[branch]
    stack.support_bounds[state[EXCLUDED_COUNT]] = stack.supports[branch]
    state[EXCLUDED_COUNT] += 1


@part
def _exclude_again(state, stack, depth, bitmap):
    """Give the next frame its excluded items: only those that are in enough of its baskets to matter.

    That pays if they are asked often, and for maximal sets, which ask at their ends only, if they are many.
    """
    bits, frames, excluded_items, support_bounds = stack.bits, stack.frames, stack.excluded_items, stack.support_bounds
    words = np.uint64(state[ROOT_WORDS])
    begin, end = frames[depth, EXCLUDED_BEGIN], state[EXCLUDED_COUNT]
    frames[depth + 1, EXCLUDED_BEFORE] = end
    frames[depth + 1, EXCLUDED_BEGIN] = begin
    branches = frames[depth + 1, BRANCH_END] - frames[depth + 1, BRANCH_INDEX]
    if branches < FEW_BRANCHES or (state[KIND] == MAXIMAL_PATTERNS and end - begin < MANY_EXCLUDED):
        return
    excluded_end = end
    for number in range(begin, end):
        common_count = count_common_bits(bits, bitmap, np.uint64(excluded_items[number]) * words, words)
        excluded_items[excluded_end], support_bounds[excluded_end] = excluded_items[number], common_count
        excluded_end += common_count >= state[LEAST]
    frames[depth + 1, EXCLUDED_BEGIN] = end
    state[EXCLUDED_COUNT] = excluded_end


@part
def _is_known(state, stack, depth, mask):
    """Whether a maximal set found before holds all items of a mask, besides the set of a frame."""
    frames, masks, maximal_sets, listed_sets = stack.frames, stack.masks, stack.maximal_sets, stack.listed_sets
    words = np.uint64((state[ROOT_ITEMS] + 63) >> 6)
    for number in range(frames[depth, LISTED_BEGIN], frames[depth, LISTED_END]):
        if is_within_few(masks, mask, maximal_sets, np.uint64(listed_sets[number]) * words, words):
            return True
    for number in range(frames[depth, FOUND_BEFORE], state[FOUND_COUNT]):
        if is_within_few(masks, mask, maximal_sets, np.uint64(number) * words, words):
            return True
    return False


@part
def _list_known(state, stack, depth, mask):
    """Give the next frame the maximal sets of this one that hold its set."""
    frames, masks, maximal_sets, listed_sets = stack.frames, stack.masks, stack.maximal_sets, stack.listed_sets
    words = np.uint64((state[ROOT_ITEMS] + 63) >> 6)
    listed_end = state[LISTED_COUNT]
    for number in range(frames[depth, LISTED_BEGIN], frames[depth, LISTED_END]):
        listed_sets[listed_end] = listed_sets[number]
        listed_end += is_within_few(masks, mask, maximal_sets, np.uint64(listed_sets[number]) * words, words)
    for number in range(frames[depth, FOUND_BEFORE], state[FOUND_COUNT]):
        listed_sets[listed_end] = np.uint32(number)
        listed_end += is_within_few(masks, mask, maximal_sets, np.uint64(number) * words, words)
    frames[depth + 1, LISTED_BEGIN] = state[LISTED_COUNT]
    frames[depth + 1, LISTED_END] = listed_end
    frames[depth + 1, FOUND_BEFORE] = state[FOUND_COUNT]
    state[LISTED_COUNT] = listed_end


@part
def _lacks_bitmap_room(state, path, stack, depth):
    """Whether some array is too short for the steps from a frame."""
    frames = stack.frames
    more = frames[depth, BRANCH_END] - frames[depth, BRANCH_INDEX]
    set_words = (state[ROOT_ITEMS] + 63) >> 6
    return (
        is_short(state, PATH_ROWS, path.rows.shape[0], (state[ROOT_ROW] + depth + 3) * state[STRIDE])
        or is_short(state, PATH_PERFECT, path.perfect.shape[0], state[PERFECT] + more)
        or is_short(state, STACK_EXTENSIONS, stack.items.shape[0], frames[depth, BRANCH_END] + more)
        or is_short(state, STACK_BITS, stack.bits.shape[0], frames[depth, BRANCH_TOP] + more * state[ROOT_WORDS])
        or is_short(state, STACK_FRAMES, frames.shape[0], depth + 2)
        or is_short(state, STACK_EXCLUDED, stack.excluded_items.shape[0], 2 * (state[EXCLUDED_COUNT] + more) + 2)
        or is_short(state, STACK_MASKS, stack.masks.shape[0], 2 * (depth + 2) * set_words)
    )


@part
def _lacks_room_for_found(state, stack):
    """Whether there is no room for one more maximal set, or for a list of all."""
    set_words = (state[ROOT_ITEMS] + 63) >> 6
    return is_short(state, STACK_FOUND, stack.maximal_sets.shape[0], (state[FOUND_COUNT] + 1) * set_words) or is_short(
        state, STACK_LISTED, stack.listed_sets.shape[0], state[LISTED_COUNT] + state[FOUND_COUNT] + 1
    )


@part
def _leave_frame(state, stack, depth):
    """Go back to the frame above, for which the branch is now taken."""
    frames = stack.frames
    state[PERFECT] = frames[depth, PERFECT_BEFORE]
    state[DEPTH] = depth - 1
    if state[KIND] != ALL_PATTERNS:
        state[EXCLUDED_COUNT] = frames[depth, EXCLUDED_BEFORE]
        state[LISTED_COUNT] = frames[depth, LISTED_BEGIN]
        if depth:
            _exclude_branch(state, stack, frames[depth - 1, BRANCH_INDEX] - 1)


@part
def _extend_branch(state, path, root, stack, depth, branch):
    """Intersect a branch with its later siblings: perfect ones join the set, frequent ones are its extensions.

    Returns the length of the set; the next frame holds the extensions, if maximal sets are asked for by rising support.
    """
    rows, perfect = path.rows, path.perfect
    ids, counts, slots = stack.items, stack.supports, stack.slots
    bits, frames, masks = stack.bits, stack.frames, stack.masks
    kind, least, fold, words = state[KIND], state[LEAST], state[FOLD], np.uint64(state[ROOT_WORDS])
    own_slot, support = slots[branch], counts[branch]
    row = state[ROOT_ROW] + depth
    length = frames[depth, LENGTH] + 1
    extend_row(rows, state[STRIDE], row, length - 1, root.codes[ids[branch]])
    set_words = (state[ROOT_ITEMS] + 63) >> 6
    mask = (2 * depth + 3) * set_words
    if kind == MAXIMAL_PATTERNS:
        for word in range(set_words):
            masks[mask + word] = masks[mask - 2 * set_words + word]
        masks[mask + (ids[branch] >> 6)] |= np.uint64(1) << np.uint64(ids[branch] & 63)
    begin = frames[depth, BRANCH_END]
    end = begin
    top = np.uint64(frames[depth, BRANCH_TOP])
    last = begin if fold or length < state[MAX_LENGTH] else branch
    for other in range(branch + 1, last):
        if words == 1:
            bits[top] = bits[own_slot] & bits[slots[other]]
            common_count = np.int64(popcount(bits[top]))
        else:
            common_count = intersect_bitmaps(bits, own_slot, slots[other], top, words)
        if common_count < least:
            continue
        item = ids[other]
        if common_count == support and fold:
            if kind == ALL_PATTERNS:
                perfect[state[PERFECT]] = root.codes[item]
                state[PERFECT] += 1
            else:
                widen_row(rows, state[STRIDE], row + 1, length, root.codes[item])
                length += 1
                if kind == MAXIMAL_PATTERNS:
                    masks[mask + (item >> 6)] |= np.uint64(1) << np.uint64(item & 63)
            continue
        target = end
        if kind == MAXIMAL_PATTERNS and end - begin < LONGEST_SORTED:
            while target > begin and counts[target - 1] > common_count:
                ids[target], counts[target], slots[target] = ids[target - 1], counts[target - 1], slots[target - 1]
                target -= 1
        ids[target], counts[target], slots[target] = item, common_count, top
        end += 1
        top += words
    frames[depth + 1, BRANCH_INDEX], frames[depth + 1, BRANCH_END], frames[depth + 1, BRANCH_STOP] = begin, end, end
    frames[depth + 1, BRANCH_TOP], frames[depth + 1, LENGTH], frames[depth + 1, IS_CHECKED] = np.int64(top), length, 0
    return length


@part
def _opens_maximal(state, stack, depth):
    """Whether the next frame, with its whole tail, is not inside a maximal set found before; lists those it is near."""
    ids, frames, masks = stack.items, stack.frames, stack.masks
    set_words = (state[ROOT_ITEMS] + 63) >> 6
    tail = (2 * depth + 2) * set_words
    for word in range(set_words):
        masks[tail + word] = 0
    for position in range(frames[depth + 1, BRANCH_INDEX], frames[depth + 1, BRANCH_END]):
        masks[tail + (ids[position] >> 6)] |= np.uint64(1) << np.uint64(ids[position] & 63)
    listed_count = state[LISTED_COUNT]
    _list_known(state, stack, depth, np.uint64(tail + set_words))
    if _is_known(state, stack, depth + 1, np.uint64(tail)):
        state[LISTED_COUNT] = listed_count
        return False
    return True


@part
def _is_pruned(state, stack, depth, branch):
    """Whether nothing closed or maximal begins with this branch, or with any later one of its frame."""
    ids, counts, slots, frames, masks = stack.items, stack.supports, stack.slots, stack.frames, stack.masks
    if state[KIND] == MAXIMAL_PATTERNS:
        tail = 2 * depth * ((state[ROOT_ITEMS] + 63) >> 6)
        if _is_known(state, stack, depth, np.uint64(tail)):
            frames[depth, BRANCH_INDEX] = frames[depth, BRANCH_STOP]
            return True
        masks[tail + (ids[branch] >> 6)] &= ~(np.uint64(1) << np.uint64(ids[branch] & 63))
    words = np.uint64(state[ROOT_WORDS])
    # Baskets of the root that hold one item only may have been dropped; they are in no excluded item's.
    bits, own_slot = stack.bits, slots[branch]
    is_exact = depth > 0 or state[ROOT_EXACT] or count_common_bits(bits, own_slot, own_slot, words) == counts[branch]
    return is_exact and _is_bitmap_covered(state, stack, depth, slots[branch], counts[branch])


@part
def _take_branch(state, output, path, stack, depth, branch, length):
    """Give the set of a branch, if it is one that is asked for; returns whether there may be more below it."""
    counts, slots, frames = stack.supports, stack.slots, stack.frames
    masks, maximal_sets = stack.masks, stack.maximal_sets
    begin = (state[ROOT_ROW] + depth + 1) * state[STRIDE]
    is_leaf = frames[depth + 1, BRANCH_INDEX] == frames[depth + 1, BRANCH_END]
    if length > state[MAX_LENGTH]:
        return False
    if state[KIND] != MAXIMAL_PATTERNS:
        give_set(state, output, path.rows, begin, length, counts[branch])
        return not is_leaf and length < state[MAX_LENGTH]
    if not is_leaf:
        return _opens_maximal(state, stack, depth)
    set_words = (state[ROOT_ITEMS] + 63) >> 6
    mask = (2 * depth + 3) * set_words
    if not _is_known(state, stack, depth, np.uint64(mask)) and not _is_extended(state, stack, depth, slots[branch]):
        give_set(state, output, path.rows, begin, length, counts[branch])
        for word in range(set_words):
            maximal_sets[state[FOUND_COUNT] * set_words + word] = masks[mask + word]
        state[FOUND_COUNT] += 1
    return False


@compile_cached("int64(int64[::1], SetBuffer, SetPath, SearchRoot, BitmapStack)", allocates=False)
def search_bitmaps(state, output, path, root, stack):
    """Search below the root until it is done, the buffer full, an array too short, or so much work done."""
    counts, slots, frames = stack.supports, stack.slots, stack.frames
    while state[DEPTH] >= 0:
        if state[IS_PENDING]:
            status = give_subsets(state, output, path, state[PERFECT])
            if status != SEARCH_DONE:
                return status
        depth = state[DEPTH]
        branch = frames[depth, BRANCH_INDEX]
        if branch == frames[depth, BRANCH_STOP]:
            _leave_frame(state, stack, depth)
            continue
        if state[WORK_LEFT] <= 0:
            return SEARCH_PAUSED
        if not has_room(state, output, 1, state[STRIDE]):
            return FULL
        if not frames[depth, IS_CHECKED]:
            if _lacks_bitmap_room(state, path, stack, depth):
                return GROW
            frames[depth, IS_CHECKED] = 1
        if state[KIND] == MAXIMAL_PATTERNS and _lacks_room_for_found(state, stack):
            return GROW
        state[WORK_LEFT] -= (frames[depth, BRANCH_END] - branch) * (8 + state[ROOT_WORDS])
        frames[depth, BRANCH_INDEX] = branch + 1
        perfect_before = state[PERFECT]
        is_open = False
        if state[KIND] == ALL_PATTERNS or not _is_pruned(state, stack, depth, branch):
            length = _extend_branch(state, path, root, stack, depth, branch)
            if state[PERFECT] and state[KIND] == ALL_PATTERNS:
                state[IS_PENDING], state[PENDING_MASK], state[PENDING_SUPPORT] = 1, 0, counts[branch]
                state[PENDING_ROW], state[PENDING_LENGTH] = state[ROOT_ROW] + depth + 1, length
                is_open = True
            else:
                is_open = _take_branch(state, output, path, stack, depth, branch, length)
        if is_open:
            frames[depth + 1, PERFECT_BEFORE] = perfect_before
            if state[KIND] != ALL_PATTERNS:
                _exclude_again(state, stack, depth, slots[branch])
            state[DEPTH] = depth + 1
        elif state[KIND] != ALL_PATTERNS:
            _exclude_branch(state, stack, branch)
    return SEARCH_DONE


@compile_cached("void(int64[::1], SearchRoot, BitmapStack, int64, int64, int64, int64)", allocates=False)
def open_root(state, root, stack, length, perfect_before, first, stop):
    """Make the bottom frame: branches `first` to `stop` of the root, laid out at the bottom of the stack."""
    ids, frames, excluded_items, masks, support_bounds = (
        stack.items,
        stack.frames,
        stack.excluded_items,
        stack.masks,
        stack.support_bounds,
    )
    branches = state[ROOT_ITEMS] - state[ROOT_BEFORE]
    frames[0, BRANCH_INDEX], frames[0, BRANCH_STOP], frames[0, BRANCH_END] = first, stop, branches
    frames[0, BRANCH_TOP] = state[ROOT_ITEMS] * state[ROOT_WORDS]
    frames[0, LENGTH], frames[0, PERFECT_BEFORE] = length, perfect_before
    frames[0, EXCLUDED_BEGIN], frames[0, IS_CHECKED] = 0, 0
    frames[0, EXCLUDED_BEFORE], frames[0, LISTED_BEGIN], frames[0, LISTED_END] = (
        0,
        state[LISTED_COUNT],
        state[LISTED_COUNT],
    )
    frames[0, FOUND_BEFORE] = 0
    state[DEPTH] = 0
    state[EXCLUDED_COUNT] = 0
    if state[KIND] != ALL_PATTERNS:
        for item in range(state[ROOT_BEFORE]):
            excluded_items[item], support_bounds[item] = np.uint32(item), root.supports[item]
        state[EXCLUDED_COUNT] = state[ROOT_BEFORE]
        for position in range(first):
            _exclude_branch(state, stack, position)
    if state[KIND] != MAXIMAL_PATTERNS:
        return
    set_words = (state[ROOT_ITEMS] + 63) >> 6
    for word in range(2 * set_words):
        masks[word] = 0
    for position in range(first, branches):
        masks[ids[position] >> 6] |= np.uint64(1) << np.uint64(ids[position] & 63)
