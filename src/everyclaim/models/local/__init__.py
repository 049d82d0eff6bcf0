"""Networks that run in this process: the cross-encoder that ships, and Hugging Face models."""
