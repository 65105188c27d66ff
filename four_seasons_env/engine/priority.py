"""Priority queues in plain arrays, for the compiled searches: a heap, and a short sorted list.

Both hold indices into an array of worths; the item of the greatest worth comes first.
"""

from __future__ import annotations

from four_seasons_env.engine.jit import internal


@internal
def push(heap, size, worths, item):
    """Add an item to a heap that holds ``size`` items."""
    at = size
    while at > 0:
        parent = (at - 1) >> 1
        if worths[heap[parent]] >= worths[item]:
            break
        heap[at] = heap[parent]
        at = parent
    heap[at] = item


@internal
def pop(heap, size, worths):
    """Remove the first item from a heap that holds ``size`` items, and return it."""
    size -= 1
    first, last = heap[0], heap[size]
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and worths[heap[child + 1]] > worths[heap[child]]:
            child += 1
        if worths[last] >= worths[heap[child]]:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = last
    return first


@internal
def keep_best(chosen, found, most, worths, item):
    """Insert an item into a list of the best, after items of equal worth.

    Args:
        chosen: integers with room for ``most``, the best first; ``found`` of them are in use.

    Returns:
        How many are in use now. A full list drops its last item.
    """
    if found == most and (most == 0 or worths[item] <= worths[chosen[most - 1]]):
        return found
    at = min(found, most - 1)
    while at > 0 and worths[chosen[at - 1]] < worths[item]:
        chosen[at] = chosen[at - 1]
        at -= 1
    chosen[at] = item
    return min(found + 1, most)
