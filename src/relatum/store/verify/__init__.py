"""Verification: every row of a store, derived again from its events and payloads and compared with what is stored.

What lives here: the check itself (`partition.py` and what it is made of), the report it makes, a directory verified
offline, the paced scrub of a store that is being served, and the repair of derived rows. What must not: a way to write
while verifying, and anything that decides commands.

What always holds: memory is bounded whatever a partition's size; a report without findings says that no row is missing,
altered, misplaced or left over; nothing is ever corrected in passing.
"""
