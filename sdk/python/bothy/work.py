"""What a judge of results is given, and the answer that is made of its word."""

import json

from . import call as calls
from .errors import Failed


class Work:
    """A result that an agent hands back, and what was done for it."""

    def __init__(self, request, services):
        try:
            told = json.loads(request.work_json)
        except ValueError as e:
            raise Failed("validation", f"the work cannot be read: {e}") from None
        self.agent = told.get("agent", "")
        self.run = told.get("run", "")  # its alias
        self.prompt = told.get("prompt", "")
        self.result = told.get("result")  # what is handed back, which satisfies the schema
        self.done = told.get("done") or []  # the calls that were made: dicts by the names of docs/plugin-protocol.md
        self.call = calls.Call(request, services, lambda piece: None)  # host, project, run_dir, cancelled: as of a tool


def judgement(missing):
    """The answer of Validate: what is missing, where nothing accepts."""
    if not isinstance(missing, (list, tuple)) or not all(isinstance(text, str) for text in missing):
        raise Failed("internal", f"the judge returned {type(missing).__name__}, so that nobody knows what it says: its author returns a list of texts, an empty one where nothing is missing")
    return {"accepted": not missing, "missing": list(missing)}
