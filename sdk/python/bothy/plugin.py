"""A plugin: what it declares, and what the daemon calls."""

import inspect
import json
import logging
import queue
import threading
import typing

import grpc

from . import call as calls
from . import protocol, serve, work
from . import schema as schemas
from .errors import Failed
from .host import Host, Services

log = logging.getLogger("bothy")


class Plugin:
    """A plugin of tools, hooks, code skills and agents, made of functions.

    name is the NAME of bothy-plugin-NAME. config is a dataclass: its fields are the
    attributes of the plugin's block, and settings is one of it once it is configured.
    grants and what it calls with them are what it wants; the operator's block decides.
    needs is what must be open to it where it is confined, such as {"network": True}.
    """

    def __init__(self, name, version, config=None, grants=(), calls=None, requires=(), needs=None):
        self.name, self.version, self.config = name, version, config
        self.settings = None
        self.host = Host(None)  # the daemon's services outside of a call
        self._more = {"grants": list(grants), "calls": calls or {}, "requires": list(requires), "needs": needs or {}}
        self._tools, self._skills, self._hooks, self._agents = {}, {}, {}, {}
        self._judge = None
        self._configured = None
        self._services = None
        self._lock = threading.Condition()  # guards what follows
        self._running = []
        self._draining = False
        self.ended = threading.Event()

    # What a plugin is made of.

    def tool(self, function=None, *, name=None, description=None, address=None, body=None, **annotations):
        """Makes a tool of a function: its JSON Schema of the parameters' types, its description of the docstring.

        address names the parameter that is the URL which a call asks: policy judges the call by where it goes, and
        refuses one without. The function heeds same_host and not_hosts of its Call. body names the parameter, a text, that the
        body of a tag fills where models write calls as tags; one that is the only text without a default need not be named.
        annotations are promises: read_only, destructive, idempotent, open_world, terminal.
        """

        def take(f):
            hints = typing.get_type_hints(f, include_extras=True)
            parameters = inspect.signature(f).parameters.values()
            given = _given(f)
            tool = name or f.__name__
            untyped = [p.name for p in parameters if p.name not in hints or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
            if untyped:
                raise TypeError(f"tool {tool}: {', '.join(untyped)} has no type that a JSON Schema could be made of: write {untyped[0]}: str, or another type of docs/python.md")
            named = [(p.name, hints[p.name], p.default) for p in parameters if p.name not in given]
            if address is not None and typing.get_type_hints(f).get(address) is not str:
                raise TypeError(f"tool {tool}: its address is to be the name of a parameter that is a text, and {address} is none: write {address}: str")
            if body is not None and typing.get_type_hints(f).get(body) is not str:
                raise TypeError(f"tool {tool}: its body is to be the name of a parameter that is a text, and {body} is none: write {body}: str")
            spec = {
                "name": tool,
                "description": description or inspect.getdoc(f) or "",
                "parameters": schemas.of_fields(named),
                "annotations": {word: True for word, is_so in annotations.items() if is_so},
            }
            if address is not None:
                spec["address"] = address
            if body is not None:
                spec["body"] = body
            if not given:
                spec["whole"] = True  # it has nothing to send before its result
            silent = hints.get("return") is type(None)
            self._tools[tool] = spec, named, given, f, silent
            return f

        return take if function is None else take(function)

    def skill(self, name):
        """Makes a function of a Call execute the SKILL.md of that name: call.request has input, body, folder and model."""

        def take(f):
            self._skills[name] = f
            return f

        return take

    def agent(self, name, description, persona="", tools=(), schema=None):
        """Brings an agent, which the plugin's block takes by its name.

        tools are globs over the names of the tools that it works with; none are the plugin's own. schema is a
        dataclass, or a JSON Schema, of the object that it hands back, which the function under judge then judges.
        """
        spec = {"name": name, "description": description, "persona": persona, "tools": list(tools)}
        if schema is not None:
            spec["schema"] = schema if isinstance(schema, dict) else schemas.schema(schema)
        if name in self._agents:
            raise ValueError(f"the agent {name} is declared twice")
        self._agents[name] = {word: value for word, value in spec.items() if value}

    def judge(self, function):
        """Has a function of a Work judge what agents hand back, the plugin's own and others.

        It returns a list of what is missing before the result can be accepted, texts for the model; an empty one
        accepts it. It changes nothing, for it may be asked again.
        """
        self._judge = function
        return function

    def on(self, name, priority=10):
        """Has a function hear an event of docs/hooks.md; it is given the payload, a dict.

        Of one that is told until it is heard (run.rested) it is given a Call, too, where it has a parameter of that type.
        """
        return self._hook(name, {"name": name, "priority": priority})

    def filter(self, name, priority=10, closed=False):
        """Has a function change a value of docs/hooks.md, a dict; None leaves it as it is."""
        subscription = {"name": name, "priority": priority}
        if closed:
            subscription["failure"] = "closed"
        return self._hook(name, subscription)

    def _hook(self, name, subscription):
        def take(f):
            self._hooks[name] = subscription, f
            return f

        return take

    def configured(self, function):
        """Has a function called when settings are there; a Failed keeps the plugin from starting."""
        self._configured = function
        return function

    def serve(self):
        """Serves the plugin until the daemon ends it. It never returns."""
        serve.main(self)

    def manifest(self):
        kinds = [kind for kind, of in (("tool", self._tools), ("skill", self._skills), ("hook", self._hooks), ("agent", self._agents or self._judge)) if of]
        found = {"name": self.name, "version": self.version, "protocol": protocol.VERSION, "kinds": kinds}
        if self._tools:
            found["tools"] = [spec for spec, *_ in self._tools.values()]
        if self._skills:
            found["skills"] = list(self._skills)
        if self._hooks:
            found["subscriptions"] = [subscription for subscription, _ in self._hooks.values()]
        if self._agents:
            found["agents"] = list(self._agents.values())
        if self.config is not None:
            found["config"] = {"attributes": list(schemas.attributes(self.config))}
        found.update({word: value for word, value in self._more.items() if value})
        return found

    # The services, by the names of bothy.proto. Each is (service, method): function.

    def handlers(self):
        found = {("Plugin", name): getattr(self, name) for name in ("Describe", "Configure", "Watch", "Health", "Drain")}
        if self._tools:
            found.update({("Tool", "Invoke"): self.Invoke, ("Tool", "Call"): self.Call, ("Tool", "Cancel"): self.Cancel})
        if self._skills:
            found.update({("Skill", "Execute"): self.Execute, ("Skill", "Cancel"): self.Cancel})
        if self._hooks:
            found.update({("Hook", "Event"): self.Event, ("Hook", "Filter"): self.Filter})
        if self._agents or self._judge:
            found.update({("Agent", "Validate"): self.Validate, ("Agent", "Cancel"): self.Cancel})
        return found

    def Describe(self, request, context):
        return {"manifest_json": json.dumps(self.manifest()).encode()}

    def Configure(self, request, context):
        try:
            settings = json.loads(request.settings_json)
            if request.host_address and self._services is None:
                self._services = Services(request.host_address, request.host_token)
                self.host = Host(self._services)
            if self.config is not None:
                known = {name for name, _, _ in schemas.fields(self.config)}
                given = {k: v for k, v in settings.get("config", {}).items() if k in known}
                self.settings = self.config(**schemas.values(schemas.fields(self.config), given, "the configuration"))
            if self._configured is not None:
                self._configured()
        except Exception as e:
            return {"failure": _failure(e)}
        return {}

    def Watch(self, request, context):
        over = threading.Event()  # the manifest never changes: wait until nobody watches any more
        context.add_callback(over.set)
        over.wait()
        return iter(())

    def Health(self, request, context):
        return {"ready": True}

    def Drain(self, request, context):
        with self._lock:
            self._draining = True
            self._lock.wait_for(lambda: not self._running, context.time_remaining())
        return {}

    def Invoke(self, request, context):
        return self._streamed(request, context, lambda call: self._called(request, call))

    def Execute(self, request, context):
        def do(call):
            if request.skill not in self._skills:
                raise Failed("not_found", f"the plugin has no skill {request.skill!r}")
            return self._skills[request.skill](call)

        return self._streamed(request, context, do)

    def Call(self, request, context):
        answer = {}
        for piece in self.Invoke(request, context):
            which = piece.WhichOneof("piece")
            if which in ("result", "failure"):
                answer[which] = getattr(piece, which)
        return answer

    def Cancel(self, request, context):
        with self._lock:
            found = [c for c in self._running if getattr(c, "id", None) == request.call_id]
        for c in found:
            c.cancel()
        return {}

    def Validate(self, request, context):
        try:
            handed = work.Work(request, self._services)
        except Exception as e:
            return {"failure": _failure(e)}
        with self._begun(context, handed.call):
            context.add_callback(handed.call.cancel)
            try:
                return work.judgement(self._judge(handed) if self._judge else [])
            except Exception as e:
                return {"failure": _failure(e)}

    def Event(self, request, context):
        call = calls.told(context, self._services)
        with self._begun(context, call):
            context.add_callback(call.cancel)
            try:
                if request.name in self._hooks:
                    payload, function = json.loads(request.payload_json), self._hooks[request.name][1]
                    call.about(payload)
                    function(payload, **{name: call for name in _given(function)})
            except Exception as e:
                return {"failure": _failure(e)}
            return {}

    def Filter(self, request, context):
        with self._begun(context):
            try:
                value = json.loads(request.value_json)
                changed = self._hooks[request.name][1](value) if request.name in self._hooks else None
            except Exception as e:
                return {"failure": _failure(e)}
            # Without a change the very bytes: numbers stay as they were written.
            return {"value_json": request.value_json if changed is None else json.dumps(changed).encode()}

    # How a call is carried out.

    def _called(self, request, call):
        if request.tool not in self._tools:
            raise Failed("not_found", f"the plugin has no tool {request.tool!r}")
        _, named, given, function, silent = self._tools[request.tool]
        try:
            arguments = json.loads(request.arguments_json or b"{}")
        except ValueError as e:
            raise Failed("validation", f"the arguments of {request.tool} are no JSON: {e}") from None
        filled = schemas.values(named, arguments, f"the arguments of {request.tool}")
        answer = function(**filled, **{name: call for name in given})
        if answer is None and not silent:
            raise Failed("internal", f"the tool {request.tool} returned nothing, so that nobody knows what came of it: its author returns a text, or declares that it has none to return (-> None)")
        return "done" if answer is None else answer

    def _streamed(self, request, context, do):
        pieces = queue.SimpleQueue()
        call = calls.Call(request, self._services, pieces.put)
        with self._begun(context, call):
            context.add_callback(call.cancel)

            def work():
                try:
                    pieces.put(protocol.InvokeResponse(result=calls.result(do(call))))
                except Exception as e:  # a mistake ends the call, not the plugin
                    pieces.put(protocol.InvokeResponse(failure=_failure(e)))
                pieces.put(None)

            threading.Thread(target=work, daemon=True).start()
            while (piece := pieces.get()) is not None:
                yield piece

    def _begun(self, context, call=None):
        return _Begun(self, context, call or object())


class _Begun:
    """Counts a call, unless the plugin drains."""

    def __init__(self, plugin, context, call):
        self.plugin, self.context, self.call = plugin, context, call

    def __enter__(self):
        with self.plugin._lock:
            if self.plugin._draining:
                self.context.abort(grpc.StatusCode.UNAVAILABLE, "the plugin is draining and takes no new calls")
            self.plugin._running.append(self.call)

    def __exit__(self, *_):
        with self.plugin._lock:
            self.plugin._running.remove(self.call)
            self.plugin._lock.notify_all()


def _given(function):
    """The names of the parameters that are to be the call."""
    return [name for name, kind in typing.get_type_hints(function).items() if kind is calls.Call]


def _failure(e):
    if not isinstance(e, Failed):
        log.error("a function of the plugin failed", exc_info=e)  # the model gets one line, the log where it was
        e = Failed("internal", f"{type(e).__name__}: {e}")
    return protocol.Failure(outcome=e.outcome, message=e.message)
