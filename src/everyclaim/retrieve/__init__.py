"""Query → the passages that matter for it, in order: of a sample, of a corpus, of a search engine, of a user's own."""
