"""Issues a key that may read and write one scope, and keeps it in a file that only its owner can read.

    python issue_a_key.py admin.secret assistant.secret

The first file holds the administrator's secret, as `relatum init --secret-file` wrote it.
"""

from __future__ import annotations

import os
import sys

from relatum.client import Client, CredentialSpec, Scope


def main(admin_file: str, key_file: str) -> None:
    """Issue the key."""
    grant = Scope(project_id="demo", agent_id="assistant", visibility="shared")
    spec = CredentialSpec(subject_id="assistant", capabilities=("memory_read", "memory_write"), grants=(grant,))
    with Client(secret_file=admin_file) as client:
        issued = client.credentials.issue(spec)
    descriptor = os.open(key_file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(issued.secret.reveal())
    print(f"the key of {issued.credential.spec.subject_id} is in {key_file}")


if __name__ == "__main__":
    main(*sys.argv[1:])
