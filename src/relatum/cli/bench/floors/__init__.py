"""Floors: the least that the work can cost, done with the same engine and the same web stack and nothing else."""
