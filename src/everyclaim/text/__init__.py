"""Pure functions over text: tokens, sentences, and the exact signals a judge of claims needs. No models, no files."""
