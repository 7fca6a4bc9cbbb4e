"""JSON Schemas from types, and values of these types from JSON.

str, int, float, bool, list[T], dict[str, T], Literal["a", "b"], Optional[T], Any and
dataclasses can be arguments. Annotated[T, "what it is"] describes one, and
Annotated[T, Arg("what it is", minimum=1)] says more.
"""

import dataclasses
import datetime
import inspect
import re
import types
import typing

from .errors import Failed

_MISSING = inspect.Parameter.empty


@dataclasses.dataclass(frozen=True)
class Arg:
    """What an argument, or an attribute of the configuration, is besides its type."""

    doc: str = ""
    minimum: typing.Optional[float] = None
    maximum: typing.Optional[float] = None
    example: typing.Any = None
    format: str = ""
    secret: bool = False  # of an attribute: its value is hidden everywhere


_WORDS = {str: "string", int: "integer", float: "number", bool: "boolean"}


def unwrapped(kind):
    """A type without what was said of it, and that."""
    said = Arg()
    if typing.get_origin(kind) is typing.Annotated:
        kind, *notes = typing.get_args(kind)
        for note in notes:
            said = Arg(note) if isinstance(note, str) else note if isinstance(note, Arg) else said
    return kind, said


def optional(kind):
    """A type without None, and whether it had it."""
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        rest = [k for k in typing.get_args(kind) if k is not type(None)]
        if len(rest) == 1:
            return rest[0], len(rest) < len(typing.get_args(kind))
    return kind, False


def schema(kind, default=_MISSING):
    """The JSON Schema of a type."""
    kind, said = unwrapped(kind)
    kind, _ = optional(kind)
    kind, inner = unwrapped(kind)
    said = inner if said == Arg() else said
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if kind in _WORDS:
        found = {"type": _WORDS[kind]}
    elif kind is typing.Any:
        found = {}
    elif origin is typing.Literal:
        found = {"type": _WORDS[type(args[0])], "enum": list(args)}
    elif origin is list or kind is list:
        found = {"type": "array", "items": schema(args[0] if args else typing.Any)}
    elif origin is dict or kind is dict:
        found = {"type": "object", "additionalProperties": schema(args[1] if args else typing.Any)}
    elif dataclasses.is_dataclass(kind):
        found = of_fields(fields(kind))
    else:
        raise TypeError(f"{kind!r} cannot be an argument")
    if said.doc:
        found["description"] = said.doc
    for word, value in (("minimum", said.minimum), ("maximum", said.maximum)):
        if value is not None:
            found[word] = value
    if said.format:
        found["format"] = said.format
    if said.example is not None:
        found["examples"] = [said.example]
    if default is not _MISSING and default is not None:
        found["default"] = default
    return found


def fields(kind):
    """The names of a dataclass with their types and defaults."""
    hints = typing.get_type_hints(kind, include_extras=True)
    for f in dataclasses.fields(kind):
        default = f.default
        if f.default_factory is not dataclasses.MISSING:
            default = f.default_factory()
        yield f.name, hints[f.name], _MISSING if default is dataclasses.MISSING else default


def of_fields(named):
    """The JSON Schema of an object with these names."""
    named = list(named)
    return {
        "type": "object",
        "properties": {name: schema(kind, default) for name, kind, default in named},
        "required": [name for name, _, default in named if default is _MISSING],
        "additionalProperties": False,
    }


def values(named, given, what):
    """What is given for names, with their defaults, each of its type."""
    named = list(named)
    if not isinstance(given, dict):
        raise Failed("validation", f"{what} must be a JSON object")
    for name in given:
        if name not in [n for n, _, _ in named]:
            raise Failed("validation", f"{what}: {name!r} is not declared; declared are: {', '.join(n for n, _, _ in named) or 'none'}")
    found = {}
    for name, kind, default in named:
        if name in given:
            found[name] = value(kind, given[name], f"{what}: {name}")
        elif default is _MISSING:
            raise Failed("validation", f"{what}: {name!r} is required and missing")
        else:
            found[name] = default
    return found


def value(kind, given, what):
    """A value of a type, made of what JSON has."""
    kind, said = unwrapped(kind)
    kind, may_lack = optional(kind)
    kind, inner = unwrapped(kind)
    said = inner if said == Arg() else said
    if may_lack and given is None:
        return None
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if kind is datetime.timedelta:
        return duration(given)
    if dataclasses.is_dataclass(kind):
        return kind(**values(fields(kind), given, what))
    if origin is list or kind is list:
        if isinstance(given, list):
            return [value(args[0] if args else typing.Any, v, what) for v in given]
    elif origin is dict or kind is dict:
        if isinstance(given, dict):
            return {k: value(args[1] if args else typing.Any, v, f"{what}.{k}") for k, v in given.items()}
    elif origin is typing.Literal:
        if given in args:
            return given
        raise Failed("validation", f"{what} must be one of {', '.join(map(repr, args))}")
    elif kind is typing.Any or _fits(kind, given):
        for most, wrong in ((said.minimum, "less"), (said.maximum, "more")):
            if most is not None and (given < most if wrong == "less" else given > most):
                raise Failed("validation", f"{what} must not be {wrong} than {most}")
        return int(given) if kind is int else given
    raise Failed("validation", f"{what} must be of type {schema(kind).get('type', 'any')}")


def _fits(kind, given):
    if isinstance(given, bool) or kind is bool:
        return isinstance(given, bool) and kind is bool
    if kind is int:
        return isinstance(given, int) or isinstance(given, float) and given.is_integer()
    return isinstance(given, (int, float) if kind is float else kind)


_UNITS = {"h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


def duration(text):
    """The timedelta that "1m30s" is."""
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|us|µs|ns|h|m|s)", text)
    if "".join(n + unit for n, unit in parts) != text.removeprefix("-") and text != "0":
        raise Failed("validation", f"{text!r} is no duration, such as 30s or 5m")
    seconds = sum(float(n) * _UNITS[unit] for n, unit in parts)
    return datetime.timedelta(seconds=-seconds if text.startswith("-") else seconds)


def attributes(config):
    """What a dataclass declares of a plugin's block."""
    kinds = {"string": "string", "integer": "number", "number": "number", "boolean": "bool"}
    for name, kind, default in fields(config):
        bare, said = unwrapped(kind)
        bare, may_lack = optional(bare)
        origin = typing.get_origin(bare)
        if bare is datetime.timedelta:
            word = "duration"
        elif origin is list or bare is list:
            word = "list(string)"
        elif origin is dict or bare is dict:
            word = "map(string)"
        else:
            word = kinds[schema(bare)["type"]]
        found = {"name": name, "type": word}
        if said.doc:
            found["doc"] = said.doc
        if said.secret:
            found["secret"] = True
        values_of = bare
        if word == "list(string)" and typing.get_args(bare):
            values_of = typing.get_args(bare)[0]
        if typing.get_origin(values_of) is typing.Literal:
            found["enum"] = list(typing.get_args(values_of))
        for bound in ("minimum", "maximum"):
            if getattr(said, bound) is not None:
                found[bound] = getattr(said, bound)
        if default is _MISSING and not may_lack:
            found["required"] = True
        elif default is not _MISSING and default is not None:
            found["default"] = f"{default.total_seconds():g}s" if word == "duration" else default
        yield found
