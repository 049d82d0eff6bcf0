"""Chat models and the wrappers around them; embedded models come here too."""
