"""What lies where in a data directory.

    DIRECTORY/engine      the engine's files: all rows, and the lock of the store's one owner
    DIRECTORY/watermark   how far the store had come when it last answered: the proof that nothing is lost
    DIRECTORY/ballast     room on the disk, held back while the store is open
    DIRECTORY/images      what backups that are being made are read from
    DIRECTORY/confirmed-clock   an operator's word that the clock was right at an instant
    DIRECTORY/restoring   what is to become a store, and was not verified yet; there is none beside it
    DIRECTORY/relatum-shadow-…   through which an opening looks at the store before it may change it

The first two are the store, and belong together; backups hold them alone. The others come and go with the process that
has it open, and hold no rows of their own: what a killed one leaves of them, the next opening removes. The search index
and the mined edges, which lie there too, belong to layers above.
"""

from __future__ import annotations

from typing import Final

ENGINE_NAME: Final = "engine"
WATERMARK_NAME: Final = "watermark"
BALLAST_NAME: Final = "ballast"
IMAGES_NAME: Final = "images"
CONFIRMED_CLOCK_NAME: Final = "confirmed-clock"
RESTORING_NAME: Final = "restoring"
