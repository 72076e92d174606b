"""Thin adapters to agent frameworks; each loads its framework, and importing memopt loads none."""
