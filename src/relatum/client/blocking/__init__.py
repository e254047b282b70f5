"""The blocking client: its driver, and what `python -m tests.client.blocking_form` makes of the asynchronous one."""
