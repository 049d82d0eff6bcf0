"""The composition root: the calls that users make, wired from the rooms below."""
