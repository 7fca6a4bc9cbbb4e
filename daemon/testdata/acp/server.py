# A server of MCP that an editor names: it tells a digest of the canary that it was given, and what else of its
# environment is one.
import hashlib, json, os, sys


def call(name):
    if name == "who":
        return hashlib.sha256(os.environ.get("NOTES_KEY", "").encode()).hexdigest()[:12]
    return " ".join(sorted(k for k in os.environ if "CANARY" in k)) or "none"


for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    answer = {"jsonrpc": "2.0", "id": m["id"]}
    if m["method"] == "initialize":
        answer["result"] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "notes", "version": "1"}}
    elif m["method"] == "tools/list":
        answer["result"] = {"tools": [{"name": n, "inputSchema": {"type": "object"}} for n in ("who", "canaries")]}
    elif m["method"] == "tools/call":
        answer["result"] = {"content": [{"type": "text", "text": call(m["params"]["name"])}]}
    else:
        answer["error"] = {"code": -32601, "message": "Method not found"}
    print(json.dumps(answer), flush=True)
