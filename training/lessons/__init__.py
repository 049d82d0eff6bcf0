"""Lessons: passages written for this project, with right claims and their twins that are wrong in one thing."""
