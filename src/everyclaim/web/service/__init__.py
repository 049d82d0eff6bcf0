"""The HTTP service: score, verify, split and guard one answer at a time, and whole data sets as jobs.

server ──► gate (who, how often) ──► body (how large, how slow, what) ──► queue ──► one Evaluator
                                                                jobs ──► job store ──► the store
"""
