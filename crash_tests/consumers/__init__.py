"""Consumers at work: they read change streams by pages and by server-sent events, and save how far they have come.

`stream_history` remembers what each stream ever told, `consumer` what one consumer has taken and saved. `page_reader`
and `follower` are the threads that do the work, `checkpoint_writer` makes the checkpoint commands of both.

What always holds: a consumer is served by one thread at a time and sends one command after the other, so that of the
commands on its checkpoint at most one is in doubt; and whatever a stream tells is compared at once with everything it
has told before, to anybody.
"""
