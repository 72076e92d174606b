"""The papers' experiments, as programs that print published figures beside measured ones."""
