"""Sample → score: one file per metric, each reading like its paper; `assembled` does what all of them need."""
