"""The parts of a run: each measures one kind of work beside its floor, in alternation (see `relatum.bench.series`)."""
