"""The error of a call, with an outcome."""


class Failed(Exception):
    """A call that could not be made, or did not go well.

    The message says what to do next; a model reads it. Outcomes: validation, not_found,
    permission, conflict, overflow, aborted, timeout, unavailable, internal.
    """

    def __init__(self, outcome, message):
        super().__init__(message)
        self.outcome = outcome
        self.message = message
