"""Damage at rest: one byte, sector, file or row of a closed or killed store is another one when it is opened again.

What lives here: a seeded store with rows of every family (`scene.py`, `workload.py`), everything that can be asked of
it (`questions.py`, `question.py`), the damages (`files.py`, `rows.py`, `power.py`), and the judgement of one case
(`damage_case.py`), each in a process of its own (`worker.py`), since a damaged store may hang or end whoever opens it.

What always holds: each answer is that of the undamaged store or a failure; what is refused is refused with a reason;
what `relatum verify` finds nothing in has lost nothing.
"""
