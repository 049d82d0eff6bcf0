"""RAG answers whose unsupported stretches are marked: read them, and turn them into labelled claims."""
