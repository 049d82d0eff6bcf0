"""Addresses of machines."""

from __future__ import annotations

from ipaddress import ip_address


def is_loopback(host: str) -> bool:
    """Whether a name or address is this machine's own, reached from nowhere else."""
    plain = host.strip().rstrip(".").lower()
    if plain == "localhost":
        return True
    try:
        return ip_address(plain.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return False
