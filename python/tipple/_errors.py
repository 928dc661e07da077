"""Failures: one class for each exit status that users distinguish (docs/automate.md has the table)."""
from __future__ import annotations

TYPE_CHECKING = False  # typing takes a third of the time of the import
if TYPE_CHECKING:
    from ._load import Result


class Error(Exception):
    """A load or a command did not do what it was asked for. sentence: what happened, where, and what to do; without passwords.
    result: what was settled until then, of a load that had begun."""
    status: int = 0

    def __init__(self, sentence: str, status: int = 0, result: Result | None = None):
        super().__init__(sentence, status or self.status, result)
        self.sentence, self.status, self.result = sentence, status or self.status, result

    def __str__(self) -> str:
        return self.sentence


class UsageError(Error):
    """The call was wrong, and nothing was touched."""
    status = 1


class TooManyRejected(Error):
    """The load stopped at max_rejects."""
    status = 3


class ServerError(Error):
    """The server refused, or was away for longer than `patience`."""
    status = 4


class InputError(Error):
    """An input cannot be read, is damaged, has changed, or does not fit its format."""
    status = 5


class HostError(Error):
    """This host lacks memory, disk space, file descriptors or threads, or tipple is not whole."""
    status = 8


class Cancelled(Error):
    """Load.cancel ended the load. The same load, begun again, goes on."""
    status = 130


def error_of(status: int, sentence: str, result: Result | None = None) -> Error:
    kinds = {kind.status: kind for kind in Error.__subclasses__()}
    return kinds.get(status, Error)(sentence, status, result)

