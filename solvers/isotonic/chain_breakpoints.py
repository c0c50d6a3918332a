r"""The breakpoints of a piecewise linear function on both sides of its zero, for the dynamic programme of a chain.

Each side has a buffer of the entries nearest to the zero, whose last one is the nearest, and a stack of chunks of farther ones. The two
sides share A. Each has a shift of its places and a constant of its values, and so has each chunk, so that a chunk changes sides in O(1).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simopt.core.compiled import kernel

# Places in the table of numbers that belong to a whole part.
A, S, C_LEFT, C_RIGHT = 0, 1, 2, 3
LEFT, RIGHT = 0, 1
# Places in the table of counts.
FREE, STACKED = 0, 2  # FREE: unused slots; STACKED + side: chunks of that side; LOCAL + side: entries in its buffer
LOCAL = 4
# Places in the tag of a chunk, after its shift and its constant.
FIRST, LAST = 2, 4
SPARE = 4  # entries of a buffer beyond those that a step may fill by carrying


NEAREST = 16  # entries tried one by one: each branch of a search that is mispredicted costs as much as ten of them


@kernel
def zero_between(below: Any, low: Any, above: Any, high: Any) -> Any:
    """The zero of g between its values low < 0 < high at two places; where one of them is infinite, g jumps there, and that is the zero."""
    if low == -np.inf or high - low <= 0.0:
        return below
    if high == np.inf:
        return above
    return min(max(below + (above - below) * (-low / (high - low)), below), above)


@kernel
def on_its_side(zero: Any, p: Any, u: Any, y: Any) -> Any:
    """The zero of g + w (x − y), where g is 0 on [p, p + u] and `zero` what the sums say of it.

    If the weights span many orders, the zero of a light sample drowns in the sums; it lies on the side of y at any rate.
    """
    return min(zero, p) if y < p else max(zero, p + u) if y > p + u else y


@kernel
def _const(lazy: Any, side: Any) -> Any:
    return lazy[C_LEFT] if side == LEFT else lazy[C_RIGHT]


@kernel
def _shift(lazy: Any, side: Any) -> Any:
    return 0.0 if side == LEFT else lazy[S]


@kernel
def _store(near: Any, first: Any, length: Any, side: Any, far: Any, tags: Any, sizes: Any, stacks: Any, count: Any) -> None:
    """Move `length` entries of the buffer, from `first` on, to the side's nearest chunk if they fit there, else to a new one.

    Entries of a chunk are in the order of increasing places, as the buffer of the left side has them; those of the right side are turned.
    """
    capacity = far.shape[2]
    top = count[STACKED + side]
    slot = stacks[side, top - 1] if top > 0 else -1
    if slot >= 0 and sizes[slot] + length <= capacity:
        held = sizes[slot]
        if side == RIGHT:  # nearer means smaller places: the old entries move back
            for k in range(held - 1, -1, -1):
                far[slot, 0, k + length] = far[slot, 0, k]
                far[slot, 1, k + length] = far[slot, 1, k]
    else:
        count[FREE] -= 1
        slot = stacks[2, count[FREE]]
        stacks[side, top] = slot
        count[STACKED + side] = top + 1
        tags[slot, 0] = 0.0
        tags[slot, 1] = 0.0
        held = 0
        sizes[slot] = 0
    shift, const = tags[slot, 0], tags[slot, 1]
    for k in range(length):
        b, v = near[side, 0, first + k], near[side, 1, first + k]
        at = held + k if side == LEFT else length - 1 - k
        # The chunk's entries stand for b + shift and v + A (b + shift) + const: A grows later, so b must be exact and v takes the rest.
        far[slot, 0, at] = b - shift
        far[slot, 1, at] = v - const
    sizes[slot] += length
    _mark(slot, far, tags, sizes)


@kernel
def _mark(slot: Any, far: Any, tags: Any, sizes: Any) -> None:
    """Note the chunk's first and last entry beside its shift and constant, so that carrying it over touches one line of memory."""
    last = sizes[slot] - 1
    tags[slot, FIRST] = far[slot, 0, 0]
    tags[slot, FIRST + 1] = far[slot, 1, 0]
    tags[slot, LAST] = far[slot, 0, last]
    tags[slot, LAST + 1] = far[slot, 1, last]


@kernel
def spill(near: Any, keep: Any, side: Any, far: Any, tags: Any, sizes: Any, stacks: Any, count: Any) -> None:
    """Leave the `keep` entries of the buffer that are nearest to the zero; the others go to chunks."""
    capacity = far.shape[2]
    total = count[LOCAL + side]
    moved = total - keep
    first = 0
    while first < moved:
        length = min(capacity, moved - first)
        _store(near, first, length, side, far, tags, sizes, stacks, count)
        first += length
    for k in range(keep):
        near[side, 0, k] = near[side, 0, moved + k]
        near[side, 1, k] = near[side, 1, moved + k]
    count[LOCAL + side] = keep


@kernel
def _load(near: Any, side: Any, far: Any, tags: Any, sizes: Any, stacks: Any, count: Any) -> None:
    """Bring the nearest chunk of a side back into its (empty) buffer."""
    top = count[STACKED + side] - 1
    slot = stacks[side, top]
    count[STACKED + side] = top
    stacks[2, count[FREE]] = slot
    count[FREE] += 1
    length = sizes[slot]
    for k in range(length):
        at = k if side == LEFT else length - 1 - k
        near[side, 0, k] = far[slot, 0, at] + tags[slot, 0]
        near[side, 1, k] = far[slot, 1, at] + tags[slot, 1]
    count[LOCAL + side] = length


@kernel
def _carry_chunks(source: Any, far: Any, tags: Any, sizes: Any, stacks: Any, count: Any, lazy: Any) -> None:
    """Carry chunks of `source`, nearest first, to the other side, each in O(1), until one has an entry with the right sign."""
    other = 1 - source
    slope, const, sign = lazy[A], _const(lazy, source), 1.0 if source == LEFT else -1.0
    move = _shift(lazy, source) - _shift(lazy, other)
    lift = const - _const(lazy, other) - slope * move
    end = FIRST if source == LEFT else LAST  # the entry farthest from the zero
    top, held = count[STACKED + source], count[STACKED + other]
    while top > 0:
        slot = stacks[source, top - 1]
        if sign * (tags[slot, end + 1] + tags[slot, 1] + slope * (tags[slot, end] + tags[slot, 0]) + const) <= 0.0:
            break
        tags[slot, 0] += move
        tags[slot, 1] += lift
        top -= 1
        if held > 0 and sizes[stacks[other, held - 1]] + sizes[slot] <= far.shape[2]:
            _merge(stacks[other, held - 1], slot, other, far, tags, sizes)
            stacks[2, count[FREE]] = slot
            count[FREE] += 1
        else:
            stacks[other, held] = slot
            held += 1
    count[STACKED + source] = top
    count[STACKED + other] = held


@kernel
def _merge(into: Any, slot: Any, side: Any, far: Any, tags: Any, sizes: Any) -> None:
    """Put the entries of `slot`, which are nearer to the zero, into the chunk `into`."""
    length, held = sizes[slot], sizes[into]
    if side == RIGHT:
        for k in range(held - 1, -1, -1):
            far[into, 0, k + length] = far[into, 0, k]
            far[into, 1, k + length] = far[into, 1, k]
    start = held if side == LEFT else 0
    for k in range(length):
        far[into, 0, start + k] = far[slot, 0, k] + (tags[slot, 0] - tags[into, 0])
        far[into, 1, start + k] = far[slot, 1, k] + (tags[slot, 1] - tags[into, 1])
    sizes[into] = held + length
    _mark(into, far, tags, sizes)


@kernel
def carry(
    b_from: Any, v_from: Any, k: Any, b_to: Any, v_to: Any, j: Any, limit: Any, slope: Any, const: Any, move: Any, lift: Any, sign: Any
) -> Any:
    """Carry entries of one buffer, nearest first, until one has the right sign or the other buffer is full; both new counts.

    g is monotone: the first one with the right sign is looked for among the nearest, then by doubling and bisection; all before it are
    carried at once. A step may carry a hundred entries: none should cost more than its two sums. (Indices without sign spare the check for
    negative ones, which keeps the loops from being vectorised.)
    """
    most = min(k, limit - j)
    reach = 0  # entries known to have the wrong sign
    while reach < min(most, NEAREST) and sign * (v_from[k - reach - 1] + slope * b_from[k - reach - 1] + const) > 0.0:
        reach += 1
    if reach == NEAREST:
        step = NEAREST
        while reach + step <= most and sign * (v_from[k - reach - step] + slope * b_from[k - reach - step] + const) > 0.0:
            reach += step
            step *= 2
        while step > 1:
            step //= 2
            if reach + step <= most and sign * (v_from[k - reach - step] + slope * b_from[k - reach - step] + const) > 0.0:
                reach += step
    first, to = np.uint64(k - 1), np.uint64(j)
    for i in range(np.uint64(reach)):
        b_to[to + np.uint64(i)] = b_from[first - np.uint64(i)] + move
    for i in range(np.uint64(reach)):
        v_to[to + np.uint64(i)] = v_from[first - np.uint64(i)] + lift
    k -= reach
    j += reach
    return k, j


@kernel
def _carry(near: Any, source: Any, limit: Any, count: Any, lazy: Any) -> None:
    """`carry` between the buffers of the tables."""
    other = 1 - source
    const, move = _const(lazy, source), _shift(lazy, source) - _shift(lazy, other)
    lift = const - _const(lazy, other) - lazy[A] * move
    k, j = carry(
        near[source, 0],
        near[source, 1],
        count[LOCAL + source],
        near[other, 0],
        near[other, 1],
        count[LOCAL + other],
        limit,
        lazy[A],
        const,
        move,
        lift,
        1.0 if source == LEFT else -1.0,
    )
    count[LOCAL + source] = k
    count[LOCAL + other] = j


@kernel
def cross(near: Any, source: Any, far: Any, tags: Any, sizes: Any, stacks: Any, count: Any, lazy: Any) -> None:
    """Carry all breakpoints of `source` that have the wrong sign to the other side: from the buffers one by one, chunks as a whole."""
    other = 1 - source
    limit = near.shape[2] - SPARE
    sign = 1.0 if source == LEFT else -1.0
    while True:
        _carry(near, source, limit, count, lazy)
        if count[LOCAL + other] == limit:
            spill(near, limit - far.shape[2], other, far, tags, sizes, stacks, count)
            continue
        if count[LOCAL + source] > 0 or count[STACKED + source] == 0:
            return
        slot = stacks[source, count[STACKED + source] - 1]
        end = FIRST if source == LEFT else LAST
        b = tags[slot, end] + tags[slot, 0]
        if sign * (tags[slot, end + 1] + tags[slot, 1] + lazy[A] * b + _const(lazy, source)) > 0.0:
            spill(near, 0, other, far, tags, sizes, stacks, count)  # the chunk is nearer to the zero than what lies there
            _carry_chunks(source, far, tags, sizes, stacks, count, lazy)
        else:
            _load(near, source, far, tags, sizes, stacks, count)


@kernel
def reload(near: Any, side: Any, far: Any, tags: Any, sizes: Any, stacks: Any, count: Any) -> None:
    """If the buffer of a side is empty, its nearest chunk, should there be one, comes back into it."""
    if count[LOCAL + side] == 0 and count[STACKED + side] > 0:
        _load(near, side, far, tags, sizes, stacks, count)


@kernel
def drop_chunks(side: Any, stacks: Any, count: Any) -> None:
    """Forget the chunks of a side."""
    while count[STACKED + side] > 0:
        count[STACKED + side] -= 1
        stacks[2, count[FREE]] = stacks[side, count[STACKED + side]]
        count[FREE] += 1
