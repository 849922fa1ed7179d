"""What goes wrong: exceptions of one family, :class:`Error`."""


class Error(Exception):
    """Everything that Tunesmith refuses or fails at."""


class UserError(Error):
    """The input cannot be accepted. The message says where, what was expected and the nearest known name; where the text is
    at hand, the line and a caret follow.

    Attributes: ``file``, ``line`` and ``column`` (from 1; 0: not known), ``remedy``, ``excerpt`` (the line and the caret, or "").
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
    """Nothing that fits the question was measured."""


class EnvironmentFault(Error):
    """The machine or the installation lacks something: a full disk, a target that is not here, a process that was forked."""


class PluginError(EnvironmentFault):
    """A plugin is refused, or broke its contract."""


class ScheduleError(Error):
    """A transformation cannot prove that the program keeps its meaning; the schedule is as it was. The message prints the
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
    """The call is wrong whatever the program is: a handle to what is gone, an argument of the wrong type."""


class InterpreterError(Error):
    """A program did what no program may: a race, memory that nothing has written, an access out of bounds."""


class InternalError(Error):
    """A mistake in Tunesmith."""
