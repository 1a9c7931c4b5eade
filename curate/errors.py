"""What can go wrong, and who is told.

    CurateError
    ├── UserError      the user's mistake: one line that says what to do; exit 1
    └── ItemError      one item failed: a row in `failures`; the run goes on

Anything else that escapes is a bug in curate: traceback into a log file, exit 3.
"""


class CurateError(Exception):
    """Base of the errors that curate raises on purpose."""


class UserError(CurateError):
    """The user can mend this: the message is one line and says how."""


class ItemError(CurateError):
    """One item could not be done; becomes a row in `failures`.

    `reason` is a short snake_case class of failure that reports count by; `detail` says what happened to this item.
    A `transient` failure (network down, disk full) is tried again by the next run, any other only by `--redo`.
    """

    def __init__(self, reason: str, detail: str, *, transient: bool = False) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail
        self.transient = transient

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}"

    def __reduce__(self) -> tuple[object, ...]:
        # The default would lose the keyword-only flag on the way back from a worker process.
        return _item_error, (self.reason, self.detail, self.transient)


def _item_error(reason: str, detail: str, transient: bool) -> ItemError:
    return ItemError(reason, detail, transient=transient)
