"""Everyclaim inside other tools, and in the manner of other tools: one package or file for each."""
