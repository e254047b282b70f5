"""Benchmarks: programs for people, run by command. Every figure stands beside another one of the same run."""
