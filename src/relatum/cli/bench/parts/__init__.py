"""The parts of a run: each measures one kind of work beside its floor, in alternation (`relatum.cli.bench.samples`)."""
