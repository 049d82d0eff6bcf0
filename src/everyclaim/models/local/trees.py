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
    if count <= _LONG:
        return heads if _is_tree(heads) and not _crosses(heads) else _best_nested(bounded)
    return heads if _is_tree(heads) else _grown(bounded)


def _is_tree(heads: Heads) -> bool:
    """Whether one word is the root, and every word leads to it."""
    leads = np.concatenate([[0], heads])
    for _ in range(len(heads).bit_length()):
        leads = leads[leads]
    return (heads == 0).sum() == 1 and not leads.any()


def _crosses(heads: Heads) -> bool:
    """Whether two arcs cross, that of the root apart."""
    places = np.flatnonzero(heads) + 1
    left, right = np.minimum(places, heads[places - 1]), np.maximum(places, heads[places - 1])
    begins, ends = left[:, None], right[:, None]
    return bool(((begins < left) & (left < ends) & (ends < right)).any())


def _grown(scores: npt.NDArray[np.float64]) -> Heads:
    """Heads of a good tree, whether or not arcs cross: from the root, always by the arc that loses least."""
    count = len(scores)
    heads: Heads = np.zeros(count, np.int64)
    losses = scores.max(1) - scores[:, 0]
    root = int(losses.argmin())
    gains = scores[:, 1:] - scores.max(1, keepdims=True)  # of every head for every word
    best, waiting = np.full(count, root), np.arange(count) != root
    while waiting.any():
        reached = np.where(waiting, gains[np.arange(count), best], -np.inf)
        word = int(reached.argmax())
        heads[word], waiting[word] = best[word] + 1, False
        best = np.where(gains[:, word] > gains[np.arange(count), best], word, best)
    return heads


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
