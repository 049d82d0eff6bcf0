"""Why a claim failed: one of the failure modes, the two places that differ, and the reason in words.

    a failing claim beside its passages ──► parting (what differs, in place) ──► signals ──► model ──► mode
                                                  └──────────────────────────────────────► difference, reason

`classify` is the door.
"""
