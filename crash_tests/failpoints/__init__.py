"""SIGKILL of the real server and of `relatum init` at named places: every one of `relatum.store.failpoints.NAMES`."""
