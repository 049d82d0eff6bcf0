"""Seeded statistics on plain arrays: intervals that say what they rest on. Knows nothing of samples or claims."""
