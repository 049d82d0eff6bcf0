"""The best tree among scored arcs: every word has one head, one word is the root, and nothing goes in circles.

Arcs that cross are mistakes more often than not in English: a tree that holds some is put in order.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float32]
Heads = npt.NDArray[np.int64]


_LONG = 100  # words; the arcs of a longer sentence may cross


def best_tree(scores: Scores) -> Heads:
    """Heads of the best tree; `scores` [N, N + 1] are of every head for every word, head 0 being the root."""
    bounded = np.array(scores, np.float64)
    count = len(bounded)
    bounded[np.arange(count), np.arange(1, count + 1)] = -np.inf
    heads: Heads = bounded.argmax(1)
    if (heads == 0).sum() != 1 or _circle(heads) is not None:
        heads = _best_arborescence(bounded)
    return _best_nested(bounded) if count <= _LONG and _crosses(heads) else heads


def _crosses(heads: Heads) -> bool:
    """Whether two arcs cross, that of the root apart."""
    places = np.flatnonzero(heads) + 1
    left, right = np.minimum(places, heads[places - 1]), np.maximum(places, heads[places - 1])
    begins, ends = left[:, None], right[:, None]
    return bool(((begins < left) & (left < ends) & (ends < right)).any())


def _best_nested(scores: npt.NDArray[np.float64]) -> Heads:
    """Eisner's algorithm: heads of the best tree without arcs that cross."""
    count = len(scores)
    arcs = scores[:, 1:]
    leftward, rightward = np.zeros((count, count)), np.zeros((count, count))  # finished spans headed by their end
    to_left, to_right = np.full((count, count), -np.inf), np.full((count, count), -np.inf)  # an arc over the span
    halves = np.zeros((3, count, count), np.int64)  # where a span is cut: below an arc, leftward, rightward
    for width in range(1, count):
        for i in range(count - width):
            j = i + width
            joined = rightward[i, i:j] + leftward[i + 1 : j + 1, j]
            halves[0, i, j] = i + joined.argmax()
            to_left[i, j], to_right[i, j] = joined.max() + arcs[i, j], joined.max() + arcs[j, i]
            ended = leftward[i, i:j] + to_left[i:j, j]
            begun = to_right[i, i + 1 : j + 1] + rightward[i + 1 : j + 1, j]
            leftward[i, j], rightward[i, j] = ended.max(), begun.max()
            halves[1, i, j], halves[2, i, j] = i + ended.argmax(), i + 1 + begun.argmax()
    root = int((leftward[0] + rightward[:, -1] + scores[:, 0]).argmax())
    heads: Heads = np.zeros(count, np.int64)
    waiting = [(0, root, False), (root, count - 1, True)]
    while waiting:
        i, j, is_rightward = waiting.pop()
        if i == j:
            continue
        cut = int(halves[1 + is_rightward, i, j])
        first, last = (i, cut) if is_rightward else (cut, j)
        heads[last if is_rightward else first] = (first if is_rightward else last) + 1
        middle = int(halves[0, first, last])
        waiting += [(first, middle, True), (middle + 1, last, False)]
        waiting.append((cut, j, True) if is_rightward else (i, cut, False))
    return heads


def _best_arborescence(bounded: npt.NDArray[np.float64]) -> Heads:
    """Heads of the best tree, whether or not arcs cross."""
    count = len(bounded)
    heads: Heads = bounded.argmax(1)
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
