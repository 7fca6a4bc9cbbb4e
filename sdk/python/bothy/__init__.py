"""Plugins of Bothy in Python. A whole one, bothy-plugin-count:

    #!/usr/bin/python3
    import bothy

    plugin = bothy.Plugin("count", "1.0.0")

    @plugin.tool(read_only=True)
    def count_words(text: str) -> int:
        "Counts the words of a text."
        return len(text.split())

    plugin.serve()

It needs Linux, Python 3.11, grpcio and protobuf; on Debian python3-grpcio brings both.
"""

from .call import Call, Result
from .errors import Failed
from .host import Host
from .plugin import Plugin
from .schema import Arg
from .work import Work

__all__ = ["Arg", "Call", "Failed", "Host", "Plugin", "Result", "Work"]
