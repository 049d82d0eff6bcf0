"""Validate and repair one answer before it is shown.

`everyclaim.Guard` puts a guard together from specs; the parts are here: `loop` for whole answers and for
answers that are checked while they are written, `rules` for what may pass.
"""
