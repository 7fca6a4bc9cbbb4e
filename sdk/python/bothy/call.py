"""What a function of a plugin may be given beside its arguments."""

import contextlib
import dataclasses
import errno
import json
import os
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
    writes: list = dataclasses.field(default_factory=list)  # entries that the call brings, each a dict: path, body, attributes, visibility


class Call:
    """A call under way. A function with a parameter of this type is given it."""

    def __init__(self, request, services, send):
        self.request = request  # with all fields of the protocol
        self.id = request.call_id
        self.run = request.run
        self.project = request.project
        self.run_dir = request.run_dir
        self.same_host = getattr(request, "same_host", False)  # of a tool with an address: follow no redirect to another host
        self.not_hosts = list(getattr(request, "not_hosts", ()))  # of the same: nor to one that a glob of these names
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

    def open(self, path, mode="r", **how):
        """Opens a file of the project as Python's open does, by its path in there.

        It follows no link, so that none leads out. What keeps it from opening is a Failed: not_found,
        permission, also where the project is not open to the plugin, or validation.
        """
        if not self.project:
            raise Failed("permission", 'no files of projects are granted: write grants = ["project"] into the block')
        try:
            return open(path, mode, opener=self._below, **how)
        except OSError as e:
            if e.errno in (errno.ELOOP, errno.ENOTDIR):
                raise Failed("permission", f"{path} is a link, or lies behind one, or below a file: it is not followed") from e
            outcome = "not_found" if e.errno == errno.ENOENT else "permission" if e.errno == errno.EACCES else "internal"
            raise Failed(outcome, f"{path} cannot be opened: {e.strerror}") from e

    def _below(self, path, flags):
        *folders, name = [part for part in path.split("/") if part not in ("", ".")] or [".."]
        if path.startswith("/") or ".." in (*folders, name):
            raise Failed("validation", f"{path} is no path of a file in the project")
        try:
            at = os.open(self.project, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as e:
            raise Failed("permission", f"the project {self.project} is not open to this plugin: its confine block opens it with paths or read_paths") from e
        try:
            for folder in folders:
                below = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
                os.close(at)
                at = below
            return os.open(name, flags | os.O_NOFOLLOW, 0o666, dir_fd=at)
        finally:
            os.close(at)

    def check(self):
        """Ends the call where it was cancelled, or its time is over."""
        if self.cancelled.is_set():
            raise Failed("aborted", "the call was cancelled")
        if self.remaining() == 0:
            raise Failed("timeout", "the deadline of the call has passed")

    def about(self, payload):
        """Takes from the payload of an event which run it is about."""
        if isinstance(payload, dict) and isinstance(payload.get("run"), dict):
            self.run, self.project, self.run_dir = payload["run"].get("key", ""), payload.get("project", ""), payload.get("run_dir", "")

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


class _Told:
    """What of a call is known before the payload of its event is read."""

    def __init__(self, context):
        self.call_id = dict(context.invocation_metadata() or ()).get("bothy-call", "")
        self.deadline_unix_ms = 0  # the daemon cancels it
        self.run = self.project = self.run_dir = ""


def told(context, services):
    """The call that an event is, where it is one."""
    return Call(_Told(context), services, lambda piece: None)


def result(answer):
    """The message of what a function answered."""
    if isinstance(answer, Result):
        r = protocol.ToolResult(success=answer.success, output=answer.output, error=answer.error, outcome=answer.outcome)
        if answer.structured is not None:
            r.structured_json = _json(answer.structured)
        if answer.writes:
            r.writes_json = _json(answer.writes)
        return r
    if answer is None or isinstance(answer, str):
        return protocol.ToolResult(success=True, output=answer or "")
    text = _json(answer)
    return protocol.ToolResult(success=True, output=text.decode(), structured_json=text)


def _json(value):
    if dataclasses.is_dataclass(value):
        value = dataclasses.asdict(value)
    return json.dumps(value, ensure_ascii=False).encode()
