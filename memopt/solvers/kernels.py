"""The loops of the exact algorithm: plain Python that numba can compile.

Everything here is integers. A multiplier is the rational a / b; the score of an option at it is
``b * value - a * tokens``, and the loss of an option is how far its score lies below the best of its
block. Tokens are counted above the least of each block, so that ``room`` is what is left of the
budget once every block stands at its cheapest option. With b chosen by `memopt.solvers.bounds`,
every sum below stays within 62 bits (facts/solvers.md: "Guard b*p and a*w below 2^62").

All kernels live in this one file, because the compiler's disk cache notices edits of the file that
holds the entry point and of no other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memopt.program import Ints

Given = NDArray[np.int64]
"""Read only: arrays that may belong to a program."""
Nodes = NDArray[np.int32]

FAR = 2**62
"""Larger than every loss."""
DONE, PAUSED, FULL = 0, 1, 2
"""Why `grow` returned: nothing is left open; the work slice is used up; the state limit was hit."""


def gcd(a: int, b: int) -> int:
    """Return the greatest common divisor of two integers >= 0."""
    while b != 0:
        a, b = b, a % b
    return a


def survey(
    start: Given, tokens: Given, value: Given, budget: int, least: Ints, best: Ints
) -> tuple[int, ...]:
    """Look once at every option.

    Fills `least` (smallest tokens of a block) and `best` (its option of largest value, fewest
    tokens among those, first of those).

    Returns
    -------
    floor, heavy, gains, largest, token_step, value_step
        Sum of the least tokens; tokens of the best options; sum of the largest value gains over the
        cheapest options; largest absolute value; the steps (gcd) in which tokens and values move.
    """
    floor = 0
    for i in range(len(start) - 1):
        low = FAR
        for j in range(start[i], start[i + 1]):
            low = min(low, tokens[j])
        least[i] = low
        floor += low
    room = budget - floor
    heavy, gains, largest, token_step, value_step = 0, 0, 0, 0, 0
    for i in range(len(start) - 1):
        low, cheap, top = least[i], -FAR, -FAR
        chosen = -1
        for j in range(start[i], start[i + 1]):
            largest = max(largest, abs(value[j]))
            if tokens[j] == low and value[j] > cheap:
                cheap = value[j]
            if tokens[j] - low <= room and (
                value[j] > top or (value[j] == top and tokens[j] < tokens[chosen])
            ):
                top = value[j]
                chosen = j
        best[i] = chosen
        if chosen < 0:
            continue
        heavy += tokens[chosen]
        gains += top - cheap
        if token_step != 1 or value_step != 1:
            for j in range(start[i], start[i + 1]):
                if tokens[j] - low <= room:
                    token_step = gcd(tokens[j] - low, token_step)
                    value_step = gcd(abs(value[j] - cheap), value_step)
    return floor, heavy, gains, largest, max(token_step, 1), max(value_step, 1)


def score(
    start: Given, tokens: Given, value: Given, least: Ints, room: int, a: int, b: int, blocks: Ints,
    count: int, weights: Ints,
) -> tuple[int, int]:  # fmt: skip
    """Return tokens and value of the best options at a / b; fills `weights` with their tokens."""
    weight, worth = 0, 0
    for k in range(count):
        i = blocks[k]
        low = least[i]
        top, light, gain = -FAR, 0, 0
        for j in range(start[i], start[i + 1]):
            w = tokens[j] - low
            if w <= room:
                s = b * value[j] - a * w
                if s > top or (s == top and w < light):
                    top, light, gain = s, w, value[j]
        weights[k] = light
        weight += light
        worth += gain
    return weight, worth


def score_twice(
    start: Given, tokens: Given, value: Given, least: Ints, room: int, a: int, a2: int, b: int, blocks: Ints,
    weights: Ints, weights2: Ints,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Do what `score` does at a / b and a2 / b in one pass over the data."""
    weight, worth, weight2, worth2 = 0, 0, 0, 0
    for k in range(len(blocks)):
        i = blocks[k]
        low = least[i]
        top, light, gain = -FAR, 0, 0
        top2, light2, gain2 = -FAR, 0, 0
        for j in range(start[i], start[i + 1]):
            w = tokens[j] - low
            if w <= room:
                p = value[j]
                s = b * p - a * w
                if s > top or (s == top and w < light):
                    top, light, gain = s, w, p
                s = b * p - a2 * w
                if s > top2 or (s == top2 and w < light2):
                    top2, light2, gain2 = s, w, p
        weights[k], weights2[k] = light, light2
        weight += light
        worth += gain
        weight2 += light2
        worth2 += gain2
    return weight, worth, weight2, worth2


def multiplier(
    start: Given, tokens: Given, value: Given, least: Ints, room: int, b: int, top: int, blocks: Ints,
    below: int, above: int,
) -> tuple[int, int, Ints]:  # fmt: skip
    """Find the smallest a whose best options fit the room.

    Parameters
    ----------
    top
        An a that is large enough for sure; at a = 0 the best options must not fit.
    blocks
        Blocks that count.
    below, above
        A guess of the bracket (0 and `top` when there is none); a wrong one costs time only.

    Returns
    -------
    a, weight, open
        The multiplier, the tokens of its best options, and the blocks whose best option changes
        between a - 1 and a.
    """
    open_ = blocks.copy()
    count = len(blocks)
    at_low, at_high, trial = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64)
    low, high = below, above
    low_weight, low_worth, high_weight, high_worth = score_twice(
        start, tokens, value, least, room, low, high, b, open_, at_low, at_high
    )
    if low_weight <= room:
        high, high_weight, high_worth = low, low_weight, low_worth
        at_low, at_high = at_high, at_low
        low = 0
        low_weight, low_worth = score(start, tokens, value, least, room, low, b, open_, count, at_low)
    if high_weight > room:
        low, low_weight, low_worth = high, high_weight, high_worth
        at_low, at_high = at_high, at_low
        high = top
        high_weight, high_worth = score(start, tokens, value, least, room, high, b, open_, count, at_high)
    fixed_weight, fixed_worth = 0, 0
    turn = 0
    while True:
        kept = 0
        for k in range(count):
            if at_low[k] == at_high[k]:
                fixed_weight += at_low[k]
            else:
                open_[kept], at_low[kept], at_high[kept] = open_[k], at_low[k], at_high[k]
                kept += 1
        if kept < count:
            # What the open blocks do not explain of the worth belongs to the closed ones.
            count = kept
            _, part = score(start, tokens, value, least, room, high, b, open_, count, trial)
            fixed_worth = high_worth - part
        if high - low <= 1:
            return high, high_weight, open_[:count]
        # The chord between both vertices; now and then the middle, lest one end crawl.
        a = b * (low_worth - high_worth) // (low_weight - high_weight)
        if turn % 4 == 3:
            a = low + (high - low) // 2
        a = min(max(a, low + 1), high - 1)
        weight, worth = score(start, tokens, value, least, room, a, b, open_, count, trial)
        weight += fixed_weight
        worth += fixed_worth
        turn += 1
        if weight > room:
            low, low_weight, low_worth = a, weight, worth
            at_low, trial = trial, at_low
        else:
            high, high_weight, high_worth = a, weight, worth
            at_high, trial = trial, at_high


def settle(
    start: Given, tokens: Given, value: Given, least: Ints, room: int, a: int, b: int, open_: Ints,
    weight: int, base: Ints, key: Ints, nearest: Ints,
) -> tuple[int, int, int, int, int]:  # fmt: skip
    """Choose the base selection at a / b, fill ties into the room, find its best single change.

    Fills `base` (option of each block), `nearest` (its other option of smallest loss) and `key` (that
    loss; FAR if there is no other option).

    Returns
    -------
    left, lost, gain, extra, change
        Room left over by the base; its loss; value gain and extra tokens of the best single change that fits,
        and its option (-1 if none gains).
    """
    base[:] = -1
    left, lost = room - weight, 0
    for k in range(len(open_)):
        i = open_[k]
        low, chosen, richer = least[i], -1, -1
        top = top_below = -FAR
        for j in range(start[i], start[i + 1]):
            w = tokens[j] - low
            if w <= room:
                s = b * value[j] - a * w
                if s > top or (s == top and w < tokens[chosen] - low):
                    top, chosen = s, j
                s += w
                if s > top_below or (s == top_below and w < tokens[richer] - low):
                    top_below, richer = s, j
        extra = tokens[richer] - tokens[chosen]
        if 0 < extra <= left:
            left -= extra
            lost += top - (top_below - (tokens[richer] - low))
            base[i] = richer
    gain, extra, change = 0, 0, -1
    for i in range(len(start) - 1):
        low = least[i]
        top, chosen = -FAR, -1
        for j in range(start[i], start[i + 1]):
            w = tokens[j] - low
            if w <= room:
                s = b * value[j] - a * w
                if s > top or (s == top and w < tokens[chosen] - low):
                    top, chosen = s, j
        if base[i] < 0:
            base[i] = chosen
        chosen = base[i]
        near = FAR
        nearest[i] = chosen
        for j in range(start[i], start[i + 1]):
            w = tokens[j] - low
            if w <= room and j != chosen:
                off = top - (b * value[j] - a * w)
                if off < near:
                    near = off
                    nearest[i] = j
                dw, dp = tokens[j] - tokens[chosen], value[j] - value[chosen]
                if dw <= left and dp > 0 and (dp > gain or (dp == gain and dw < extra)):
                    gain, extra, change = dp, dw, j
        key[i] = near
    return left, lost, gain, extra, change


def gather(
    start: Given, tokens: Given, value: Given, least: Ints, room: int, a: int, b: int, base: Ints, core: Ints,
    most: int, first: Ints, option: Ints, loss: Ints, up: Ints, down: Ints,
) -> int:  # fmt: skip
    """Collect the open options of the core, block by block in the order given.

    Fills `first` (options of core block k are ``first[k]:first[k + 1]``, its base option first),
    `option` (index into the program's blocks), `loss`, and for every k the smallest loss a token by
    which the blocks after k can still take on tokens (`up`, at most a) or give them back (`down`).
    """
    filled = 0
    for k in range(len(core)):
        i = core[k]
        first[k] = filled
        low, top = least[i], -FAR
        for j in range(start[i], start[i + 1]):
            w = tokens[j] - low
            if w <= room:
                top = max(top, b * value[j] - a * w)
        option[filled] = base[i]
        loss[filled] = top - (b * value[base[i]] - a * (tokens[base[i]] - low))
        filled += 1
        for j in range(start[i], start[i + 1]):
            w = tokens[j] - low
            if w <= room and j != base[i]:
                off = top - (b * value[j] - a * w)
                if off <= most and tokens[j] != tokens[base[i]]:
                    option[filled] = j
                    loss[filled] = off
                    filled += 1
    first[len(core)] = filled
    rise, fall = a, FAR
    for k in range(len(core) - 1, -1, -1):
        up[k], down[k] = rise, fall
        for o in range(first[k] + 1, first[k + 1]):
            dw = tokens[option[o]] - tokens[option[first[k]]]
            if dw > 0:
                rise = min(rise, loss[o] // dw)
            else:
                fall = min(fall, loss[o] // -dw)
    return filled


def within(loss: int, spare: int, limit: int, rise: int, fall: int) -> bool:
    """Whether a state can still end with at most `limit` loss.

    A token of room left unused costs at least `rise`, a token too many at least `fall`.
    """
    if loss > limit:
        return False
    if spare >= 0:
        return loss + spare * rise <= limit
    if fall == 0:
        return True
    over = -spare
    return over <= limit // fall and loss + over * fall <= limit


def merge(
    weight: Ints, worth: Ints, origin: Ints, lo: int, mid: int, hi: int, to_weight: Ints, to_worth: Ints,
    to_origin: Ints, at: int,
) -> int:  # fmt: skip
    """Merge two runs sorted by weight, dropping dominated states; the earlier run wins ties."""
    x, y = lo, mid
    top = -FAR
    while x < mid or y < hi:
        if y >= hi:
            take_first = True
        elif x >= mid:
            take_first = False
        elif weight[x] != weight[y]:
            take_first = weight[x] < weight[y]
        else:
            take_first = worth[x] >= worth[y]
        if take_first:
            k = x
            x += 1
        else:
            k = y
            y += 1
        if worth[k] > top:
            top = worth[k]
            to_weight[at], to_worth[at], to_origin[at] = weight[k], top, origin[k]
            at += 1
    return at


def merge_runs(
    weight: Ints, worth: Ints, origin: Ints, ends: Ints, runs: int, weight2: Ints, worth2: Ints, origin2: Ints
) -> tuple[Ints, Ints, Ints, int]:
    """Merge all runs bottom up; ``ends[r]:ends[r + 1]`` is run r."""
    while runs > 1:
        at, made = 0, 0
        for r in range(0, runs, 2):
            lo, mid = ends[r], ends[r + 1]
            hi = ends[r + 2] if r + 1 < runs else mid
            ends[made] = at
            at = merge(weight, worth, origin, lo, mid, hi, weight2, worth2, origin2, at)
            made += 1
        ends[made] = at
        runs = made
        weight, weight2 = weight2, weight
        worth, worth2 = worth2, worth
        origin, origin2 = origin2, origin
    return weight, worth, origin, ends[1]


def combine(
    left_w: Given, left_p: Given, right_w: Given, right_p: Given, budget: int
) -> tuple[Ints, Ints, Ints]:
    """Return the undominated sums of two option lists within the budget, sorted by tokens.

    The third array tells where each came from: ``right index * len(left) + left index``.
    """
    size = len(left_w) * len(right_w)
    weight, worth, origin = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    ends = np.zeros(len(right_w) + 2, np.int64)
    at = 0
    for r in range(len(right_w)):
        for x in range(len(left_w)):
            if left_w[x] + right_w[r] <= budget:
                weight[at] = left_w[x] + right_w[r]
                worth[at] = left_p[x] + right_p[r]
                origin[at] = r * len(left_w) + x
                at += 1
        ends[r + 1] = at
    weight, worth, origin, count = merge_runs(
        weight, worth, origin, ends, len(right_w),
        np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64),
    )  # fmt: skip
    return weight[:count].copy(), worth[:count].copy(), origin[:count].copy()


def compact(node: Ints, count: int, found: int, parent: Nodes, change: Nodes, nodes: int) -> tuple[int, int]:
    """Drop the nodes that no live state and no incumbent descends from; returns nodes, incumbent."""
    place = np.zeros(nodes, np.int64)
    for s in range(count):
        place[node[s]] = 1
    place[found] = 1
    for v in range(nodes - 1, 0, -1):
        if place[v] == 1:
            place[parent[v]] = 1
    place[0] = 0
    kept = 1
    for v in range(1, nodes):
        if place[v] == 1:
            place[v] = kept
            parent[kept], change[kept] = place[parent[v]], change[v]
            kept += 1
    for s in range(count):
        node[s] = place[node[s]]
    return kept, place[found]


def grow(
    tokens: Given, value: Given, first: Ints, option: Ints, loss: Ints, key: Ints, up: Ints, down: Ints,
    a: int, b: int, left: int, lost: int, token_step: int, value_step: int, most_states: int, slice_: int,
    k: int, prefix: int, weight: Ints, worth: Ints, node: Ints, count: int,
    parent: Nodes, change: Nodes, nodes: int, best_worth: int, best_weight: int, found: int,
) -> tuple[Any, ...]:  # fmt: skip
    """Decide the core block by block, keeping the undominated states that may still beat the incumbent.

    A state is the tokens and value by which it differs from the base; the incumbent is better when it
    has more value, or as much with fewer tokens. Two conditions keep a state: it may reach one more
    step of value within the room, or the incumbent's value with a step fewer tokens.

    Returns
    -------
    why, k, prefix, weight, worth, node, count, parent, change, nodes, best_worth, best_weight, found, made
        Everything needed to go on, and the number of states made.
    """
    why, made = DONE, 0
    while True:
        limit = lost + a * left - b * (best_worth + value_step)
        tie_left = best_weight - token_step
        tie_limit = lost + a * tie_left - b * best_worth
        if count == 0 or k == len(key) or key[k] > max(limit, tie_limit):
            break
        if made >= slice_:
            why = PAUSED
            break
        begin, options = first[k], first[k + 1] - first[k]
        size = min(count * options, 4 * most_states)
        run_w, run_p, run_o = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
        ends = np.zeros(options + 2, np.int64)
        prefix += loss[begin]
        base_w, base_p = tokens[option[begin]], value[option[begin]]
        at = 0
        for o in range(options):
            dw, dp = tokens[option[begin + o]] - base_w, value[option[begin + o]] - base_p
            for s in range(count):
                w, p = weight[s] + dw, worth[s] + dp
                off = a * w - b * p + prefix
                if within(off, left - w, limit, up[k], down[k]) or within(
                    off, tie_left - w, tie_limit, up[k], down[k]
                ):
                    if at == size:
                        why = FULL
                        break
                    run_w[at], run_p[at], run_o[at] = w, p, o * count + s
                    at += 1
            ends[o + 1] = at
        made += count * options
        if why == FULL:
            prefix -= loss[begin]
            break
        run_w, run_p, run_o, total = merge_runs(
            run_w, run_p, run_o, ends, options,
            np.empty(at, np.int64), np.empty(at, np.int64), np.empty(at, np.int64),
        )  # fmt: skip
        if total > most_states:
            why, prefix = FULL, prefix - loss[begin]
            break
        if nodes + total > len(parent):
            nodes, found = compact(node, count, found, parent, change, nodes)
            if nodes + total > 8 * most_states:
                why, prefix = FULL, prefix - loss[begin]
                break
            if nodes + total > len(parent) // 2:
                room = 2 * (nodes + total)
                parent2, change2 = np.empty(room, np.int32), np.empty(room, np.int32)
                parent2[:nodes], change2[:nodes] = parent[:nodes], change[:nodes]
                parent, change = parent2, change2
        weight, worth = run_w[:total].copy(), run_p[:total].copy()
        grown = np.empty(total, np.int64)
        last = -1
        for s in range(total):
            o, origin = run_o[s] // count, run_o[s] % count
            if o == 0:
                grown[s] = node[origin]
            else:
                parent[nodes], change[nodes] = node[origin], begin + o
                grown[s] = nodes
                nodes += 1
            if weight[s] <= left:
                last = s
        node, count = grown, total
        if last >= 0 and (
            worth[last] > best_worth or (worth[last] == best_worth and weight[last] < best_weight)
        ):
            best_worth, best_weight, found = worth[last], weight[last], node[last]
        k += 1
    return (
        why, k, prefix, weight, worth, node, count, parent, change, nodes, best_worth, best_weight, found,
        made,
    )  # fmt: skip


HELPERS = (gcd, score, score_twice, within, merge, merge_runs, compact)
"""Called by the entry points, leaves first."""
ENTRIES = (survey, multiplier, settle, gather, combine, grow)
