"""A client that knows the run specification, WebSockets and JSON, and nothing else: Python's standard library
alone. It inits a project, starts a run, follows it, resolves a proposal from a second connection, aborts, runs a command
itself and streams what that prints, and reads the history.

usage: client.py HOST:PORT FOLDER_OF_TOKENS PROJECT MODEL PROMPT PROMPT_OF_A_COMMAND
"""

import base64
import json
import os
import socket
import struct
import subprocess
import sys

PATIENCE = 60  # seconds for any message


class Connection:
    """One WebSocket, and the JSON-RPC on it."""

    def __init__(self, address, token):
        host, port = address.rsplit(":", 1)
        self.wire = socket.create_connection((host, int(port)), PATIENCE)
        self.rest = b""
        self.kept = []  # notifications that came while an answer was waited for
        self.id = 0
        key = base64.b64encode(os.urandom(16)).decode()
        self.wire.sendall(
            (
                f"GET / HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\nAuthorization: Bearer {token}\r\n\r\n"
            ).encode()
        )
        while b"\r\n\r\n" not in self.rest:
            self.rest += self.more()
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        expect(head.startswith(b"HTTP/1.1 101"), head)

    def more(self):
        data = self.wire.recv(65536)
        expect(data, "the connection was closed")
        return data

    def take(self, n):
        while len(self.rest) < n:
            self.rest += self.more()
        data, self.rest = self.rest[:n], self.rest[n:]
        return data

    def read(self):
        text = b""
        while True:
            first, second = self.take(2)
            size = second & 127
            if size == 126:
                (size,) = struct.unpack(">H", self.take(2))
            elif size == 127:
                (size,) = struct.unpack(">Q", self.take(8))
            data, kind = self.take(size), first & 15
            if kind == 9:
                self.frame(10, data)
                continue
            expect(kind in (0, 1), f"a frame of the kind {kind}: {data!r}")
            text += data
            if first & 128:
                return json.loads(text)

    def frame(self, kind, data):
        mask = os.urandom(4)
        size = len(data)
        if size < 126:
            head = bytes([128 | kind, 128 | size])
        elif size < 65536:
            head = bytes([128 | kind, 254]) + struct.pack(">H", size)
        else:
            head = bytes([128 | kind, 255]) + struct.pack(">Q", size)
        self.wire.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def ask(self, method, **params):
        self.id += 1
        self.frame(1, json.dumps({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}).encode())
        while True:
            message = self.read()
            if message.get("id") == self.id:
                return message
            self.kept.append(message)

    def call(self, method, **params):
        message = self.ask(method, **params)
        expect("error" not in message, f"{method} {params}: {message}")
        return message["result"]

    def told(self, method, fits=lambda params: True):
        """The next notification of a name that fits; what is told before it is gone."""
        while True:
            message = self.kept.pop(0) if self.kept else self.read()
            if message.get("method") == method and fits(message["params"]):
                return message["params"]

    def close(self):
        self.wire.close()


def expect(holds, said):
    if not holds:
        sys.exit(f"the daemon is not as the specification says: {said}")


def main(address, tokens, project, model, prompt, command):
    def connect(role):
        with open(os.path.join(tokens, role + ".token")) as file:
            c = Connection(address, file.read())
        version = c.told("rummy/hello")["rummyVersion"]
        expect(version.split(".")[0] == "2", version)
        return c

    c = connect("submit")
    expect(c.call("ping") == {}, "ping")
    catalogue = c.call("discover")
    for name in "rummy/hello run/state run/progress run/proposal stream/cancelled ui/render ui/notify".split():
        expect(name in catalogue["notifications"], f"{name} is not in the catalogue")
    with open(os.path.join(project, "notes.txt"), "w") as file:
        file.write("the notes of a person\n")
    begun = c.call("init", name="foreign", projectRoot=project)
    expect(begun["projectId"] > 0, begun)
    aliases = [m["alias"] for m in c.call("getModels")["models"]]
    expect(model in aliases, aliases)

    # A run that asks before it does anything, since nobody said otherwise.
    run = c.call("act", prompt=prompt, model=model)["run"]
    c.told("run/progress", lambda p: p["run"] == run and p["status"] == "thinking")
    waits = c.told("run/proposal", lambda p: p["run"] == run)["proposed"]
    path, attributes = waits[0]["path"], json.loads(waits[0]["attributes"])
    expect(attributes["tool"] == "note_line", waits)
    answer = {"path": path, "action": "accept"}
    expect("error" in c.ask("run/resolve", run=run, resolution=answer), "who may only submit answered a proposal")

    # Somebody else, who came later, is told of what waits, and answers.
    other = connect("approve")
    other.call("init", name="foreign", projectRoot=project)
    expect(other.told("run/proposal")["proposed"][0]["path"] == path, "another proposal waits")
    answered = other.call("run/resolve", run=run, resolution=answer)
    expect(answered["run"] == run and answered["status"] in (102, 200, 202), answered)

    state = c.told("run/state", lambda s: s["run"] == run and s["status"] == 200 and s["telemetry"])
    check_state(state, run, 200)
    tools = [x["tool"] for x in state["history"] if x["turn"] > 0]  # before, there is the list of the project's files
    expect(tools == ["prompt", "assistant", "note_line", "assistant"], tools)
    expect(state["summary"] != "", state)
    other.told("run/state", lambda s: s["run"] == run and s["status"] == 200)

    # One that is aborted while it waits.
    second = c.call("startRun", model=model, temperature=0.5)["run"]
    expect(c.call("act", prompt=prompt, model=model, run=second)["run"] == second, "another run")
    c.told("run/proposal", lambda p: p["run"] == second)
    c.call("run/abort", run=second)
    ended = c.told("run/state", lambda s: s["run"] == second and s["status"] == 499)
    check_state(ended, second, 499)
    expect(ended["telemetry"], "a run that was aborted tells nothing of what it used")

    # One that is an entry: it is begun, given more, and cancelled as such.
    c.call("set", path="run://third", body=prompt, attributes={"model": model, "mode": "act"})
    waits = other.told("run/proposal", lambda p: p["run"] == "third")["proposed"]
    other.call("set", run="third", path=waits[0]["path"], state="cancelled")  # a rejection without a reason ends the work
    c.told("run/state", lambda s: s["run"] == "third" and s["status"] == 200)
    expect(c.call("run/inject", run="third", message=prompt)["run"] == "third", "run/inject")
    c.told("run/proposal", lambda p: p["run"] == "third")
    c.call("set", path="run://third", state="cancelled")
    c.told("run/state", lambda s: s["run"] == "third" and s["status"] == 499)

    # A command that this client runs, since it accepted it by run/resolve. Which agent has sh is the installation's to say.
    other.call("act", prompt=command, model=model, run="shell", agent="shell")
    waits = other.told("run/proposal", lambda p: p["run"] == "shell")["proposed"]
    path, line = waits[0]["path"], json.loads(waits[0]["attributes"])["arguments"]["command"]
    other.call("run/resolve", run="shell", resolution={"path": path, "action": "accept"})
    ran = subprocess.run(["sh", "-c", line], cwd=project, capture_output=True, text=True, check=False)
    other.call("stream", run="shell", path=path, channel=1, chunk=ran.stdout)
    other.call("stream", run="shell", path=path, channel=2, chunk="said by the client\n")
    ended = other.call("stream/completed", run="shell", path=path, exit_code=ran.returncode, duration="1s")
    expect([x["status"] for x in ended["channels"]] == [200, 200], ended)
    expect("error" in other.ask("stream", run="shell", path=path, channel=1, chunk="late"), "a late piece is taken")
    c.told("run/state", lambda s: s["run"] == "shell" and s["status"] == 200 and s["telemetry"])
    bodies = [e["body"] for e in c.call("getEntries", run="shell", pattern="sh://**")["entries"]]
    expect(bodies == [ran.stdout, "said by the client\n"], bodies)

    # What is kept, by the aliases alone.
    names = [r.get("alias") or r["run"] for r in c.call("getRuns")]
    expect(names == ["shell", "third", second, run], names)
    detail = c.call("getRun", run=run)
    check_state(detail, run, 200)
    expect(all(detail[name] == state[name] for name in state), "getRun and run/state differ")
    expect(c.call("getRun", run=second)["status"] == 499, "the run that was aborted")
    c.call("set", run=run, path="known://colour", body="it is blue", attributes={"summary": "colour"})
    found = c.call("getEntries", run=run, pattern="known://*", body="blue", limit=10)["entries"]
    expect([e["path"] for e in found] == ["known://colour"], found)
    c.call("mv", run=run, path="known://colour", to="known://color")
    c.call("cp", run=run, path="known://color", to="known://copy")
    c.call("rm", run=run, path="known://copy")
    expect("it is blue" in json.dumps(c.call("get", run=run, path="known://color")), "what was moved")

    # The files of the project, and what it makes of them.
    files = c.call("getEntries", run=run, pattern="*.txt")["entries"]
    expect([(e["path"], e["visibility"], e["body"]) for e in files] == [("notes.txt", "archived", "")], files)
    expect("the notes of a person" in c.call("get", run=run, path="notes.txt")["text"], "the text of a file")
    expect("error" in c.ask("get", run=run, path="notes.txt", persist=True), "who may only submit set a constraint")
    other.call("get", run=run, path="notes.txt", persist=True, readonly=True)
    set_by = [(x["pattern"], x["constraint"]) for x in c.call("getConstraints")["constraints"]]
    expect(set_by == [("notes.txt", "readonly")], set_by)
    other.call("store", path="notes.txt", ignore=True)
    expect(c.call("getEntries", run=second, pattern="*.txt")["entries"] == [], "a file that is ignored")
    other.call("store", path="notes.txt", clear=True)
    expect(c.call("getConstraints")["constraints"] == [], "a constraint that was cleared")
    c.call("store", path="notes.txt", run=run)

    expect(c.call("run/rename", run=run, name="kept")["run"] == "kept", "the run's name")
    expect(c.call("getRun", run="kept")["run"] == "kept", "the run by its name")
    c.close()
    other.close()
    print("as the specification says")


def check_state(state, run, status):
    expect(state["run"] == run and state["status"] == status, state)
    for name, kind in {"turn": int, "summary": str, "history": list, "unknowns": list}.items():
        expect(isinstance(state[name], kind), f"{name} is {state[name]!r}")
    for x in state["history"]:
        expect(set("tool path status body turn attributes".split()) <= set(x), x)
        expect(isinstance(json.loads(x["attributes"]), dict) and isinstance(x["status"], int), x)
    if state["telemetry"] is not None:
        for name in "context_size context_tokens prompt_tokens cached_tokens completion_tokens reasoning_tokens total_tokens".split():
            expect(type(state["telemetry"][name]) is int, f"{name} is {state['telemetry'][name]!r}")


main(*sys.argv[1:])
