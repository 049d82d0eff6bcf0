"""Runs, samples, claims and human labels in one database: a SQLite file, or PostgreSQL by URL.

`Store` is the whole surface; `tables` says what is kept, and `connect` how a database is
reached, how its failures are put into words, and who holds which run.
"""
