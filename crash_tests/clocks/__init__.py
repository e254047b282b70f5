"""The real server under a clock that is wrong and jumps, while it runs and between two starts, by up to years."""
