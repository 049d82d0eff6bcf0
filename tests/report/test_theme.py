"""The colours: told apart by people who do not see all of them, and readable on every ground."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest

from everyclaim.report.html.environment import asset

# Machado, Oliveira and Fernandes 2009, severity 1.
BLINDNESS = {
    "nobody's": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
LABELS = ("supported", "unsupported", "contradicted")


def tokens(scheme):
    """The colours of a scheme, by name."""
    light, dark = re.findall(r":root \{(.*?)\}", asset("theme.css"), re.DOTALL)
    found = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", light))
    return found if scheme == "light" else found | dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", dark))


def linear(colour):
    channels = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def lab(light):
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ np.clip(light, 0, 1) / [0.95047, 1.0, 1.08883]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(one, other):
    lights = sorted(float(linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("eyes", BLINDNESS)
def test_the_labels_are_told_apart_by_everybody(scheme, eyes):
    """Any two label colours differ by 20 at least in Lab, where 2 to 3 is just noticed."""
    colours = tokens(scheme)
    seen = {one: lab(np.array(BLINDNESS[eyes]) @ linear(colours[f"{one}-fill"])) for one in LABELS}
    for one, other in combinations(LABELS, 2):
        assert float(np.linalg.norm(seen[one] - seen[other])) > 20, (one, other)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_on_its_ground(scheme):
    """WCAG's contrast for text, 4.5, and 3 for what is drawn."""
    colours = tokens(scheme)
    for ground in ("ground", "raised"):
        for text in ("text", "quiet", "link", *LABELS, "high", "good", "moderate", "low"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    for label in LABELS:
        assert contrast(colours[label], colours[f"{label}-ground"]) >= 4.5, label
        assert contrast(colours["text"], colours[f"{label}-ground"]) >= 4.5, label
    for drawn in ("supported-fill", "contradicted-fill", "plain-fill"):
        assert contrast(colours[drawn], colours["ground"]) >= 3, drawn
