"""Texts: words and sentences, and compressors that need no language model."""
