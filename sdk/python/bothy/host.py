"""What a plugin may ask of the daemon. Each needs a grant in the plugin's block."""

import json

import grpc

from . import protocol
from .errors import Failed


def failed(failure):
    return Failed(failure.outcome, failure.message)


class Services:
    """Where the daemon's services are, as Configure says."""

    def __init__(self, address, token):
        self.token = token
        channel = grpc.insecure_channel("unix:" + address, options=protocol.SIZES)
        self.calls = {}
        for name, request, response, streams in protocol.methods("Host"):
            kind = channel.unary_stream if streams else channel.unary_unary
            self.calls[name] = request, kind(
                f"/bothy.v1.Host/{name}", request_serializer=request.SerializeToString, response_deserializer=response.FromString
            )


class Host:
    """The daemon's services for one call, which they end with."""

    def __init__(self, services, call=None):
        self._services = services
        self._call = call

    def entry(self, path):
        """An entry of the run, with the members of bothy.v1.Entry. Grant: entries."""
        return self._answer("Entries", path=path).entries[0]

    def entries(self, glob):
        """The entries of the run whose path matches. Grant: entries."""
        return list(self._answer("Entries", glob=glob).entries)

    def write(self, *writes):
        """Writes entries in one commit, each a dict such as {"path": ..., "body": ...}. Grant: entries."""
        return list(self._answer("Write", writes_json=json.dumps(writes).encode()).entries)

    def do(self, *calls):
        """Uses verbs on entries in one commit, each a dict such as {"verb": "set", "path": ..., "body": ...}, and returns
        what each came to, with the members of bothy.v1.EntryDone. Grant: entries."""
        return list(self._answer("Do", calls_json=json.dumps(calls).encode()).done)

    def use(self, tool, **arguments):
        """Calls another tool, and returns its result: success, output, error and more. Grant: tools."""
        return self._answer("InvokeTool", tool=tool, arguments_json=json.dumps(arguments).encode()).result

    def ask(self, prompt, model="", **request):
        """Asks a model, the run's own when none is named, and returns its text. Grant: models."""
        request = {"model": model, "messages": [{"role": "user", "text": prompt}], **request}
        text, whole = [], False
        for piece in self._answer("Complete", request_json=json.dumps(request).encode()):
            which = piece.WhichOneof("piece")
            if which == "failure":
                raise Failed(piece.failure.outcome or "unavailable", piece.failure.message)
            if which == "text":
                text.append(piece.text)
            whole = whole or which == "finish"
        if not whole:
            raise Failed("unavailable", "the model's answer was cut off")
        return "".join(text)

    def secret(self, name):
        """A secret that the plugin's block names. Grant: secrets."""
        return self._answer("Secret", name=name).value

    def log(self, level, message, **fields):
        """A line of the daemon's log: debug, info, warn or error. Needs no grant."""
        self._answer("Log", level=level, message=message, fields={k: str(v) for k, v in fields.items()})

    def _answer(self, method, **fields):
        if self._services is None:
            raise Failed("unavailable", "no daemon offers its services here")
        request, ask = self._services.calls[method]
        metadata = [("bothy-token", self._services.token)]
        timeout = None
        if self._call is not None:
            metadata.append(("bothy-call", self._call.id))
            timeout = self._call.remaining()
        try:
            if method == "Complete":
                return self._pieces(ask(request(**fields), timeout=timeout, metadata=metadata))
            asked = ask.future(request(**fields), timeout=timeout, metadata=metadata)
            with self._asking(asked):
                answer = asked.result()
        except grpc.FutureCancelledError:
            raise Failed("aborted", "the call was cancelled") from None
        except grpc.RpcError as e:
            raise _broken(e) from None
        if hasattr(answer, "failure") and answer.HasField("failure"):
            raise failed(answer.failure)
        return answer

    def _pieces(self, stream):
        try:
            with self._asking(stream):
                yield from stream
        except grpc.RpcError as e:
            raise _broken(e) from None

    def _asking(self, asked):
        return self._call.cancelling(asked.cancel) if self._call is not None else _Nothing()


class _Nothing:
    def __enter__(self):
        pass

    def __exit__(self, *_):
        pass


def _broken(e):
    outcome = {grpc.StatusCode.CANCELLED: "aborted", grpc.StatusCode.DEADLINE_EXCEEDED: "timeout"}
    return Failed(outcome.get(e.code(), "unavailable"), f"the daemon's services: {e.details()}")
