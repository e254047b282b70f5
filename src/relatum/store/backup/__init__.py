"""Backups: a verified copy of a store with a manifest, and its way back.

What lives here: what is copied and how it travels (`image_contents`, `file_copy`, `archive`, `remote`), how a copy is
made and judged (`create`), what is written down about it (`manifest`), and how a store is made from one (`restore`).
What must not: how an image of an open store comes about (relatum.store.file_maintenance), or what makes a store sound
(relatum.store.verify).

What always holds: a backup without a manifest is none; the manifest is written last, after the copy was verified. A
directory that is being restored holds no store until the restored one was verified.
"""
