"""The process of a plugin: the handshake, the server, and the end."""

import json
import logging
import os
import select
import signal
import socket
import sys
import time
from concurrent import futures

import grpc

from . import protocol

COOKIE = "c4e1f0a2-bothy-plugin"
THREADS = 100  # more than calls at a time: Health and Cancel must always find one


def claim():
    """Keeps standard output for what the daemon reads: what else is printed goes to standard error, from now on.

    It is that of a process that is the plugin: neither a test nor another program that imports the package loses its own.
    """
    if sys.argv[1:] != ["describe"] and os.environ.get("BOTHY_PLUGIN") != COOKIE:
        return sys.stdout
    sys.stdout.flush()
    own = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return own


output = claim()


class Lines(logging.Formatter):
    """Writes what the daemon's log takes over with its level."""

    def format(self, record):
        level = {logging.DEBUG: "debug", logging.WARNING: "warn"}.get(record.levelno, "error" if record.levelno > logging.WARNING else "info")
        line = {"@level": level, "@message": record.getMessage(), "@module": record.name}
        if record.exc_info:
            line["stack"] = self.formatException(record.exc_info)
        return json.dumps(line)


def main(plugin):
    """Answers the sub-commands, or serves until the daemon ends the process."""
    name = "bothy-plugin-" + plugin.name
    if sys.argv[1:] == ["describe"]:
        print(json.dumps(plugin.manifest(), indent=2), file=output, flush=True)
    elif sys.argv[1:] in (["version"], ["--version"]):
        print(f"{name} {plugin.version} (plugin protocol {protocol.VERSION})")
    elif os.environ.get("BOTHY_PLUGIN") != COOKIE:
        sys.exit(f"{name} is a plugin of Bothy and does nothing by itself: the daemon starts it.\nFor its author: bothy plugins test {sys.argv[0]}")
    else:
        serve(plugin)
    sys.exit(0)


def serve(plugin):
    if not logging.getLogger().handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(Lines())
        logging.basicConfig(level=logging.DEBUG, handlers=[handler])
    signal.signal(signal.SIGINT, lambda *_: None)  # it is the daemon that ends a plugin, also when Ctrl-C reaches both
    server = grpc.server(futures.ThreadPoolExecutor(THREADS), options=protocol.SIZES)
    server.add_generic_rpc_handlers(tuple(_services(plugin)))
    path = os.path.join(os.environ["PLUGIN_UNIX_SOCKET_DIR"], f"plugin{os.getpid()}")
    server.add_insecure_port("unix:" + path)
    server.start()
    print(f"1|{protocol.VERSION}|unix|{path}|grpc", file=output, flush=True)  # the handshake, and the only line on standard output

    began, seen = time.monotonic(), False
    while not plugin.ended.wait(0.5):
        there = connected(path)
        if not there and (seen or time.monotonic() - began > 60):
            break
        seen = seen or there
    server.stop(grace=1).wait()
    sys.stderr.flush()
    os._exit(0)  # what a function still does nobody waits for


def connected(path):
    """Says whether the daemon still holds a connection: gRPC does not, the kernel does."""
    for fd in os.listdir("/proc/self/fd"):
        try:
            with socket.socket(fileno=os.dup(int(fd))) as s:
                if s.getsockname() == path and s.getpeername() is not None:
                    poll = select.poll()
                    poll.register(s, select.POLLHUP)
                    if not poll.poll(0):
                        return True
        except OSError:  # no socket, or the one that listens
            pass
    return False


def _services(plugin):
    """The handlers of all services that a plugin has, and of what go-plugin's client asks besides."""
    found = plugin.handlers()
    for service in sorted({s for s, _ in found}):
        of = {}
        for name, request, response, streams in protocol.methods(service):
            if (service, name) in found:
                of[name] = _handler(found[service, name], request, response, streams)
        yield grpc.method_handlers_generic_handler("bothy.v1." + service, of)
    yield grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": _raw(lambda: b"\x08\x01")})  # SERVING
    yield grpc.method_handlers_generic_handler("plugin.GRPCController", {"Shutdown": _raw(lambda: plugin.ended.set() or b"")})


def _handler(do, request, response, streams):
    if streams:
        return grpc.unary_stream_rpc_method_handler(do, request.FromString, response.SerializeToString)
    return grpc.unary_unary_rpc_method_handler(
        lambda r, context: response(**do(r, context)), request.FromString, response.SerializeToString
    )


def _raw(answer):
    """A method whose messages are so small that they need no classes."""
    return grpc.unary_unary_rpc_method_handler(lambda request, context: answer())
