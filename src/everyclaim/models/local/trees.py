"""The best tree among scored arcs: every word has one head, one word is the root, and nothing goes in circles."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float32]
Heads = npt.NDArray[np.int64]


def best_tree(scores: Scores) -> Heads:
    """Heads of the best tree; `scores` [N, N + 1] are of every head for every word, head 0 being the root."""
    count = len(scores)
    bounded = np.array(scores, np.float64)
    bounded[np.arange(count), np.arange(1, count + 1)] = -np.inf
    heads: Heads = bounded.argmax(1)
    if (heads == 0).sum() == 1 and _circle(heads) is None:
        return heads
    bounded -= bounded.max(1, keepdims=True)
    best, found = -np.inf, heads
    for root in np.argsort(-bounded[:, 0])[:3]:  # the root's second and third best word are enough
        once = bounded.copy()
        once[:, 0] = -np.inf
        once[root] = -np.inf
        once[root, 0] = bounded[root, 0]
        tree = _spanning(np.vstack([np.full(count + 1, -np.inf), once]))[1:]
        total = once[np.arange(count), tree].sum()
        if total > best:
            best, found = total, tree
    return found


def _circle(heads: Heads) -> list[int] | None:
    """The words of a circle, None where there is none."""
    state = np.zeros(len(heads) + 1, np.int8)  # 1: on the way, 2: leads to the root
    state[0] = 2
    for start in range(1, len(heads) + 1):
        way, place = [], start
        while state[place] == 0:
            state[place] = 1
            way.append(place)
            place = int(heads[place - 1])
        if state[place] == 1:
            return way[way.index(place) :]
        state[way] = 2
    return None


def _spanning(scores: npt.NDArray[np.float64]) -> Heads:
    """Chu–Liu–Edmonds: heads of the best arborescence from node 0; `scores[child, head]`, square."""
    heads: Heads = scores.argmax(1)
    heads[0] = 0
    circle = _circle(heads[1:])
    if circle is None:
        return heads
    inside = np.zeros(len(scores), bool)
    inside[circle] = True
    outer, ring = np.flatnonzero(~inside), np.array(circle)
    own = scores[ring, heads[ring]]
    small = np.full((len(outer) + 1, len(outer) + 1), -np.inf)
    small[:-1, :-1] = scores[np.ix_(outer, outer)]
    out_of = scores[np.ix_(outer, ring)]  # a word outside with its head in the circle
    small[:-1, -1] = out_of.max(1)
    into = scores[np.ix_(ring, outer)] - own[:, None] + own.sum()
    small[-1, :-1] = into.max(0)
    small[-1, -1] = -np.inf
    tree = _spanning(small)
    for place, head in enumerate(tree[:-1]):
        heads[outer[place]] = ring[out_of[place].argmax()] if head == len(outer) else outer[head]
    heads[0] = 0
    entered = ring[into[:, tree[-1]].argmax()]
    heads[entered] = outer[tree[-1]]
    return heads
