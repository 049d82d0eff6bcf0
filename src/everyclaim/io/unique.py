"""Ids that no two samples of a source share."""

from __future__ import annotations

import hashlib
from array import array


class SeenIds:
    """The ids given out so far, in 8 bytes each: an open-addressing table of hashes.

    A million ids take 16–32 MB. Two different ids share a hash about once in 10^7 sources of a
    million rows, and then one of them is renamed without need.
    """

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 * 64))
        self._used = 0
        self._next: dict[int, int] = {}  # by hash: the next number to try

    def make_unique(self, identifier: str) -> str:
        """Return the id if it is new, else the id with the first free number appended."""
        key = _hash(identifier)
        if self._add(key):
            return identifier
        number = self._next.get(key, 2)
        while not self._add(_hash(unique := f"{identifier}#{number}")):
            number += 1
        self._next[key] = number + 1
        return unique

    def _add(self, key: int) -> bool:
        if not self._place(key):
            return False
        self._used += 1
        if self._used * 3 > len(self._slots) * 2:
            full, self._slots = self._slots, array("Q", bytes(16 * len(self._slots)))
            for old in full:
                if old:
                    self._place(old)
        return True

    def _place(self, key: int) -> bool:
        slots, mask = self._slots, len(self._slots) - 1
        place = key & mask
        while slots[place]:
            if slots[place] == key:
                return False
            place = (place + 1) & mask
        slots[place] = key
        return True


def _hash(identifier: str) -> int:
    digest = hashlib.blake2b(identifier.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1  # 0 marks a free slot
