"""Benchmarks: subjects, peers and one driver; ratios measured side by side in one run."""
