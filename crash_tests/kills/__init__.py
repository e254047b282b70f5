"""SIGKILL of the real server: at random, at checkpoints, in streams, while it starts and while it stops."""
