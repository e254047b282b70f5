"""The load: a process of its own that sends prepared requests over many connections and notes when each is answered.

Always holds: every request is complete, to the last byte, before the clock starts; nothing is decoded while it runs; an
answer of another status than 200 fails the measurement.
"""
