"""Reads: plain functions over one partition of one view and one clock value. Nothing here writes or waits."""
