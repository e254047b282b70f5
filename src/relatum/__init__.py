"""relatum: an event-sourced relation ledger on RocksDB."""

__version__ = "0.1.0"
