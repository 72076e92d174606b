"""Texts and chats: messages, tokens, levels made without a language model, and fitting into a budget."""
