"""Runs, put on a page: the terminal's tables and the JSON document. Nothing here computes a number."""
