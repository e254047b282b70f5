"""The secret of a credential, held so that nothing shows it by accident."""

from __future__ import annotations

from relatum.client.errors import ConfigurationError
from relatum.core.secret import credential_id_of


class Secret:
    """A secret: `reveal()` alone tells it, while `repr`, `str` and a pickle show the credential's id.

    Raises ConfigurationError for what is no secret (access.md): a stray line end would be quoted by an HTTP library.
    """

    __slots__ = ("_shown", "_text")

    def __init__(self, text: str) -> None:
        credential_id = credential_id_of(text)
        if credential_id is None:
            raise ConfigurationError("a secret is rtm1_, 32 hex digits, _ and 43 characters, with nothing around it")
        self._text = text
        self._shown = f"Secret(rtm1_{credential_id.replace('-', '')}_…)"

    def reveal(self) -> str:
        """The secret itself. Raises ConfigurationError for one that came out of a pickle."""
        if not self._text:
            raise ConfigurationError("a secret does not survive a pickle")
        return self._text

    def __repr__(self) -> str:
        return self._shown

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text and self._shown == other._shown

    def __hash__(self) -> int:
        return hash(self._shown)

    def __reduce__(self) -> tuple[object, ...]:
        return _shadow, (self._shown,)


def _shadow(shown: str) -> Secret:
    """What a pickle holds of a secret: what may be shown."""
    secret = Secret.__new__(Secret)
    secret._text = ""  # noqa: SLF001 - a constructor of the class above
    secret._shown = shown  # noqa: SLF001
    return secret
