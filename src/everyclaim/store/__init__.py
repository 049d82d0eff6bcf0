"""Runs, samples, claims and human labels in one database: a SQLite file, or PostgreSQL by URL.

`Store` is the whole surface; `tables` says what is kept, `migrations` how it came to be so, and
`connect` how a database is reached and how its failures are put into words.
"""
