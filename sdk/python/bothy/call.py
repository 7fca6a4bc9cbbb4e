"""What a function of a plugin may be given beside its arguments."""

import contextlib
import dataclasses
import json
import threading
import time
import typing

from . import protocol
from .errors import Failed
from .host import Host


@dataclasses.dataclass
class Result:
    """What a tool answers where a text does not say enough."""

    output: str = ""  # what the model reads
    success: bool = True
    error: str = ""  # one sentence where it is no success
    outcome: str = ""
    structured: typing.Any = None


class Call:
    """A call under way. A function with a parameter of this type is given it."""

    def __init__(self, request, services, send):
        self.request = request  # with all fields of the protocol
        self.id = request.call_id
        self.run = request.run
        self.project = request.project
        self.run_dir = request.run_dir
        self.host = Host(services, self)
        self.cancelled = threading.Event()  # heed it in what takes long: the daemon waits 2 s
        self._send = send
        self._lock = threading.Lock()
        self._cancels = []

    def remaining(self):
        """The seconds that the call may still take; None is no limit."""
        ms = self.request.deadline_unix_ms
        return max(0.0, ms / 1000 - time.time()) if ms else None

    def progress(self, message, fraction=0.0):
        """Says what the call does now."""
        self._piece(progress=protocol.Progress(message=message, fraction=fraction))

    def chunk(self, data, channel=1):
        """Sends a piece of output before the result; channel 2 is standard error."""
        self._piece(chunk=protocol.Chunk(channel=channel, data=data.encode() if isinstance(data, str) else data))

    def check(self):
        """Ends the call where it was cancelled, or its time is over."""
        if self.cancelled.is_set():
            raise Failed("aborted", "the call was cancelled")
        if self.remaining() == 0:
            raise Failed("timeout", "the deadline of the call has passed")

    def cancel(self):
        with self._lock:
            self.cancelled.set()
            cancels = list(self._cancels)
        for cancel in cancels:
            cancel()

    @contextlib.contextmanager
    def cancelling(self, cancel):
        """Has cancel called when the call is cancelled meanwhile."""
        with self._lock:
            self._cancels.append(cancel)
            late = self.cancelled.is_set()
        if late:
            cancel()
        try:
            yield
        finally:
            with self._lock:
                self._cancels.remove(cancel)

    def _piece(self, **piece):
        self.check()
        self._send(protocol.InvokeResponse(**piece))


def result(answer):
    """The message of what a function answered."""
    if isinstance(answer, Result):
        r = protocol.ToolResult(success=answer.success, output=answer.output, error=answer.error, outcome=answer.outcome)
        if answer.structured is not None:
            r.structured_json = _json(answer.structured)
        return r
    if answer is None or isinstance(answer, str):
        return protocol.ToolResult(success=True, output=answer or "")
    text = _json(answer)
    return protocol.ToolResult(success=True, output=text.decode(), structured_json=text)


def _json(value):
    if dataclasses.is_dataclass(value):
        value = dataclasses.asdict(value)
    return json.dumps(value, ensure_ascii=False).encode()
