"""Exceptions, all derived from :class:`Error`."""


class Error(Exception):
    """The base class of all errors of Tunesmith."""


class UserError(Error):
    """The input cannot be accepted. The message has the location, what was expected and the nearest known name, and the line with a
    caret if the text is available.

    Attributes: ``file``, ``line`` and ``column`` (from 1; 0: unknown), ``remedy``, ``excerpt`` (the line and the caret, or "").
    """

    def __init__(self, message: str, file: str = "", line: int = 0, column: int = 0, remedy: str = "", excerpt: str = "") -> None:
        super().__init__(message, file, line, column, remedy, excerpt)
        self.message: str = message
        self.file: str = file
        self.line: int = line
        self.column: int = column
        self.remedy: str = remedy
        self.excerpt: str = excerpt

    def __str__(self) -> str:
        return f"{self.message}\n{self.excerpt}" if self.excerpt else self.message


class NoRecord(UserError):
    """There is no matching record."""


class EnvironmentFault(Error):
    """The machine or the installation lacks something: for example a full disk, an unavailable target, a forked process."""


class PluginError(EnvironmentFault):
    """A plugin was refused or broke its contract."""


class ScheduleError(Error):
    """A transformation cannot prove that the program keeps its meaning; the schedule is unchanged. The message prints the
    program with the place marked.

    Attributes: ``primitive``, and ``reason``, a constant sentence without names or numbers.
    """

    def __init__(self, message: str, primitive: str = "", reason: str = "") -> None:
        super().__init__(message, primitive, reason)
        self.message: str = message
        self.primitive: str = primitive
        self.reason: str = reason

    def __str__(self) -> str:
        return self.message


class ScheduleMisuse(ScheduleError):
    """The call is wrong for every program: a stale handle, an argument of the wrong type."""


class InterpreterError(Error):
    """A program did something illegal: a race, a read of uninitialised memory, an access out of bounds."""


class InternalError(Error):
    """A bug in Tunesmith."""
