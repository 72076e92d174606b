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
    floor, heavy, gains, largest, token_step, value_step = 0, 0, 0, 0, 0, 0
    for i in range(len(start) - 1):
        first = start[i]
        low, cheap, top, light, chosen = tokens[first], value[first], value[first], tokens[first], first
        for j in range(first, start[i + 1]):
            w, p = tokens[j], value[j]
            largest = max(largest, abs(p))
            if w < low or (w == low and p > cheap):
                low, cheap = w, p
            if p > top or (p == top and w < light):
                top, light, chosen = p, w, j
        least[i] = low
        best[i] = chosen
        floor += low
        heavy += light
        gains += top - cheap
        if token_step != 1 or value_step != 1:
            for j in range(first, start[i + 1]):
                token_step = gcd(abs(tokens[j] - low), token_step)
                value_step = gcd(abs(value[j] - cheap), value_step)
    return floor, heavy, gains, largest, max(token_step, 1), max(value_step, 1)


def score(
    start: Given, tokens: Given, value: Given, least: Ints, cap: int, a: int, a2: int, b: int, blocks: Ints,
    count: int, weights: Ints, worths: Ints, weights2: Ints, worths2: Ints,
) -> tuple[int, int]:  # fmt: skip
    """Find the best options at a / b and at a2 / b in one pass over the data.

    Fills tokens and value of them, block by block, and returns both sums of tokens.
    """
    weight, weight2 = 0, 0
    for k in range(count):
        i = blocks[k]
        low = least[i]
        top, light, gain = -FAR, 0, 0
        top2, light2, gain2 = -FAR, 0, 0
        for j in range(start[i], start[i + 1]):
            w = tokens[j] - low
            if w <= cap:
                p = value[j]
                s = b * p - a * w
                if s > top or (s == top and w < light):
                    top, light, gain = s, w, p
                s = b * p - a2 * w
                if s > top2 or (s == top2 and w < light2):
                    top2, light2, gain2 = s, w, p
        weights[k], worths[k], weights2[k], worths2[k] = light, gain, light2, gain2
        weight += light
        weight2 += light2
    return weight, weight2


def multiplier(
    start: Given, tokens: Given, value: Given, least: Ints, cap: int, room: int, b: int, top: int,
    blocks: Ints, below: int, above: int,
) -> tuple[int, int, Ints]:  # fmt: skip
    """Find the smallest a whose best options fit the room.

    Parameters
    ----------
    cap
        Options that take more tokens than this are no candidates.
    top
        An a that is large enough for sure; at a = 0 the best options should not fit.
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
    # Tokens and value of the best options: at both ends of the bracket, and at a pair of trials.
    low_w, low_p, high_w, high_p, x_w, x_p, y_w, y_p = (
        np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64),
        np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64),
        np.empty(count, np.int64), np.empty(count, np.int64),
    )  # fmt: skip
    low, high = below, above
    low_weight, high_weight = score(
        start, tokens, value, least, cap, low, high, b, open_, count, low_w, low_p, high_w, high_p
    )
    if low_weight <= room:
        low, high = 0, below
        low_weight, high_weight = score(
            start, tokens, value, least, cap, low, high, b, open_, count, low_w, low_p, high_w, high_p
        )
    elif high_weight > room:
        low, high = above, top
        low_weight, high_weight = score(
            start, tokens, value, least, cap, low, high, b, open_, count, low_w, low_p, high_w, high_p
        )
    fixed = 0
    turn = 0
    while True:
        kept, gained = 0, 0
        for k in range(count):
            if low_w[k] == high_w[k]:
                fixed += low_w[k]
            else:
                gained += low_p[k] - high_p[k]
                open_[kept] = open_[k]
                low_w[kept], low_p[kept] = low_w[k], low_p[k]
                high_w[kept], high_p[kept] = high_w[k], high_p[k]
                kept += 1
        count = kept
        if high - low <= 1 or count == 0:
            return high, high_weight, open_[:count]
        if turn % 2 == 0 and high - low > 64:
            # The tokens fall about linearly inside the bracket: try both sides of that guess.
            part = (low_weight - room) / (low_weight - high_weight)
            margin = (high - low) // 16
            x = low + int(part * (high - low)) - margin
            y = x + 2 * margin
        else:
            # Where only one step is left between both ends, the chord is exact.
            x = b * gained // (low_weight - high_weight)
            y = x + 1
        x = min(max(x, low + 1), high - 1)
        y = min(max(y, x), high - 1)
        x_weight, y_weight = score(
            start, tokens, value, least, cap, x, y, b, open_, count, x_w, x_p, y_w, y_p
        )
        x_weight += fixed
        y_weight += fixed
        turn += 1
        if x_weight <= room:
            high, high_weight = x, x_weight
            high_w, high_p, x_w, x_p = x_w, x_p, high_w, high_p
        else:
            low, low_weight = x, x_weight
            low_w, low_p, x_w, x_p = x_w, x_p, low_w, low_p
            if y_weight <= room:
                high, high_weight = y, y_weight
                high_w, high_p, y_w, y_p = y_w, y_p, high_w, high_p
            else:
                low, low_weight = y, y_weight
                low_w, low_p, y_w, y_p = y_w, y_p, low_w, low_p


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
    gap = lost + a * left
    for i in range(len(start) - 1):
        low = least[i]
        top, second, chosen, other = -FAR, -FAR, -1, -1
        for j in range(start[i], start[i + 1]):
            w = tokens[j] - low
            if w <= room:
                s = b * value[j] - a * w
                if s > top or (s == top and w < tokens[chosen] - low):
                    second, other, top, chosen = top, chosen, s, j
                elif s > second:
                    second, other = s, j
        if base[i] < 0:
            base[i] = chosen
        elif base[i] != chosen:
            second, other = top, chosen
        chosen = base[i]
        nearest[i] = chosen if other < 0 else other
        near = FAR if other < 0 else top - second
        key[i] = near
        if near <= gap:
            for j in range(start[i], start[i + 1]):
                dw, dp = tokens[j] - tokens[chosen], value[j] - value[chosen]
                if (
                    tokens[j] - low <= room
                    and dw <= left
                    and dp > 0
                    and (dp > gain or (dp == gain and dw < extra))
                ):
                    gain, extra, change = dp, dw, j
                    gap = lost + a * left - b * gain
    return left, lost, gain, extra, change


def sort_by(rank: Ints, order: Ints) -> tuple[Ints, Ints]:
    """Return `rank` sorted and `order` sorted by it: a stable merge sort from the bottom up."""
    count = len(order)
    rank2, order2 = np.empty(count, np.int64), np.empty(count, np.int64)
    width = 1
    while width < count:
        for lo in range(0, count, 2 * width):
            mid, hi = min(lo + width, count), min(lo + 2 * width, count)
            x, y = lo, mid
            for at in range(lo, hi):
                if y >= hi or (x < mid and rank[x] <= rank[y]):
                    rank2[at], order2[at] = rank[x], order[x]
                    x += 1
                else:
                    rank2[at], order2[at] = rank[y], order[y]
                    y += 1
        rank, rank2 = rank2, rank
        order, order2 = order2, order
        width *= 2
    return rank, order


def nearest_first(tokens: Given, base: Ints, nearest: Ints, key: Ints, limit: int) -> tuple[Ints, bool]:
    """Return the blocks whose key is within a limit, smallest first, and whether all keys differ.

    Among blocks of equal key, one whose nearest option takes tokens and one whose nearest option frees
    some alternate, so that the states stay near the room.
    """
    count = 0
    for i in range(len(key)):
        count += key[i] <= limit
    order, rank = np.empty(count, np.int64), np.empty(count, np.int64)
    count = 0
    for i in range(len(key)):
        if key[i] <= limit:
            order[count], rank[count] = i, key[i]
            count += 1
    rank, order = sort_by(rank, order)
    distinct = True
    for k in range(1, count):
        distinct &= rank[k] != rank[k - 1]
    if not distinct:
        turn, takes, gives = np.empty(count, np.int64), 0, 0
        for k in range(count):
            if tokens[nearest[order[k]]] > tokens[base[order[k]]]:
                takes += 1
                turn[k] = takes
            else:
                gives += 1
                turn[k] = gives
        _, order = sort_by(turn, order)
        for k in range(count):
            rank[k] = key[order[k]]
        _, order = sort_by(rank, order)
    return order, distinct


def gather(
    start: Given, tokens: Given, value: Given, least: Ints, room: int, a: int, b: int, base: Ints, core: Ints,
    most: int,
) -> tuple[Ints, Ints, Ints, Ints, Ints]:  # fmt: skip
    """Collect the open options of the core, block by block in the order given.

    Returns
    -------
    first, option, loss, up, down
        Options of core block k are ``first[k]:first[k + 1]``, its base option first; each as an index
        into the blocks and its loss. For every k the smallest loss a token by which the blocks after
        k can still take on tokens (`up`, at most a) or give them back (`down`).
    """
    size = 0
    for k in range(len(core)):
        size += start[core[k] + 1] - start[core[k]]
    first, option, loss = (
        np.zeros(len(core) + 1, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
    )
    up, down = np.empty(len(core), np.int64), np.empty(len(core), np.int64)
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
    return first, option, loss, up, down


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
    nothing = np.empty(0, np.int64)
    run_w, run_p, run_o, spare_w, spare_p, spare_o, ends = (
        nothing, nothing, nothing, nothing, nothing, nothing, nothing,
    )  # fmt: skip
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
        if size > len(run_w) or options + 2 > len(ends):
            run_w, run_p, run_o, spare_w, spare_p, spare_o = (
                np.empty(2 * size, np.int64), np.empty(2 * size, np.int64), np.empty(2 * size, np.int64),
                np.empty(2 * size, np.int64), np.empty(2 * size, np.int64), np.empty(2 * size, np.int64),
            )  # fmt: skip
            ends = np.zeros(2 * options + 2, np.int64)
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
        new_w, new_p, new_o, total = merge_runs(run_w, run_p, run_o, ends, options, spare_w, spare_p, spare_o)
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
        weight, worth = new_w[:total].copy(), new_p[:total].copy()
        grown = np.empty(total, np.int64)
        last = -1
        for s in range(total):
            o, origin = new_o[s] // count, new_o[s] % count
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


HELPERS = (gcd, score, sort_by, within, merge, merge_runs, compact)
"""Called by the entry points, leaves first."""
ENTRIES = (survey, multiplier, settle, nearest_first, gather, combine, grow)
