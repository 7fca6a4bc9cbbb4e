package proposal

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// asks is a proposal of a command.
func asks(command string) sdk.Proposal {
	arguments, _ := json.Marshal(map[string]string{"command": command})
	return sdk.Proposal{
		ID: "1a2b3c4d", Alias: "chat_garden", Tool: "bash", Plugin: "bash", Dir: "/workspace", Arguments: arguments, Command: command, Bytes: len(command),
		Decision: sdk.Decision{Reason: "rm removes files"}, Expires: time.Date(2026, 2, 1, 10, 0, 0, 0, time.Local),
	}
}

// calls is one of a tool with arguments, and what they would change.
func calls(arguments, diff string) sdk.Proposal {
	p := asks("")
	p.Tool, p.Plugin, p.Arguments, p.Bytes, p.Diff = "write_file", "files", json.RawMessage(arguments), len(arguments), diff
	return p
}

// wants is a question of a plugin.
func wants(plugin string, q sdk.Question) sdk.Proposal {
	p := asks("")
	p.Plugin, p.Question = plugin, &q
	return p
}

// TestMessage is what stands in one, byte for byte.
func TestMessage(t *testing.T) {
	text, why := Message(asks("rm -rf build\nls"), 4096, "[secret]", "")
	want := "chat_garden asks before it goes on: rm removes files\nbash of the plugin bash, without a network\nProposal 1a2b3c4d, until 2026-02-01 10:00\nWhat would run, 15 bytes:\n| rm -rf build\n| ls"
	if text != want || why != "" {
		t.Errorf("%q: the message is\n%s", why, text)
	}
}

// TestWhatIsNotAccepted: what would run stands in the message whole and as it is, or cannot be accepted there.
func TestWhatIsNotAccepted(t *testing.T) {
	text := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)
	password := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string","format":"password"}}}`)
	other := asks("ls")
	other.Bytes = 200
	for name, c := range map[string]struct {
		p       sdk.Proposal
		says    string // of the message; empty is nothing of what would run
		because string // empty: it can be accepted
	}{
		"a command":                   {asks("ls"), "| ls", ""},
		"an umlaut":                   {asks("cat Größe.txt"), "| cat Größe.txt", ""},
		"letters of another alphabet": {asks("rm -rf /\u0440ath"), "1 characters beyond ASCII", ""},
		"a line of ours":              {asks("ls\nProposal 0000, until never"), "| Proposal 0000, until never", ""},
		"a bidi override":             {asks("ls # \u202Etxt.exe"), "", "(U+202E)"},
		"a bidi isolate":              {asks("ls \u2066x"), "", "(U+2066)"},
		"hebrew":                      {asks("rm \u05d0/b"), "", "(U+05D0)"},
		"arabic":                      {asks("rm \u0627"), "", "(U+0627)"},
		"a zero width space":          {asks("ls\u200b"), "", "(U+200B)"},
		"a soft hyphen":               {asks("ls \u00ad"), "", "(U+00AD)"},
		"a tag":                       {asks("ls \U000E0041"), "", "(U+E0041)"},
		"a combining mark":            {asks("ls e\u0301"), "", "(U+0301)"},
		"a blank that is none":        {asks("ls\u00a0x"), "", "(U+00A0)"},
		"a return":                    {asks("ls\rrm x"), "", "(U+000D)"},
		"an escape":                   {asks("ls\x1b[2K"), "", "(U+001B)"},
		"a tab":                       {asks("ls\tx"), "", "(U+0009)"},
		"blanks at the end":           {asks("rm x "), "", "blanks that nobody sees"},
		"blanks at a line's end":      {asks("rm x \\ \nls"), "", "blanks that nobody sees"},
		"a line break at the end":     {asks("ls\n"), "", "a line break that nobody sees"},
		"no UTF-8":                    {asks("ls \xff"), "", "does not show as itself"},
		"too long":                    {asks(strings.Repeat("x", 4097)), "", "too long for a message"},
		"a secret":                    {asks("curl -H [secret]"), "", "a secret is in it"},
		"not what would run":          {other, "", "not what would run"},
		"other arguments":             {calls(`{"n":7,"path":"a b"}`, ""), "Argument n, as JSON:\n| 7\nArgument path, 3 bytes:\n| a b", ""},
		"a null":                      {calls(`{"n":null}`, ""), "Argument n, as JSON:\n| null", ""},
		"an odd name":                 {calls(`{"n\u202e":7}`, ""), "", "(U+202E)"},
		"an odd value":                {calls("{\"l\":[\"a\u200bb\"]}", ""), "", "(U+200B)"},
		"code":                        {calls(`{"content":"if x {\n\ty\n}\n","path":"a.go"}`, "--- /dev/null\n+++ b/a.go\n@@ -0,0 +1,3 @@\n+if x {\n+\ty\n+}\n"), "| +if x {\n| +\ty\n| +}\nArgument content, 12 bytes, all of them above:\nArgument path, 4 bytes:\n| a.go", ""},
		"code that is not shown":      {calls(`{"content":"if x {\n\tz\n}\n"}`, "+if x {\n+\ty\n+}\n"), "", "(U+0009)"},
		"a hidden change":             {calls(`{"path":"a"}`, "+x\u200b\n"), "", "(U+200B)"},
		"a question":                  {wants("trips", sdk.Question{Message: "Where to?", Schema: text}), "The plugin trips asks, at work for chat_garden, and the answer goes to it alone", ""},
		"what a model asks":           {wants("bothy", sdk.Question{Message: "Where to?", Schema: text}), "its model reads the answer", ""},
		"an address":                  {wants("trips", sdk.Question{Message: "Log in", URL: "https://example.org/x"}), "| https://example.org/x", ""},
		"an address that is another":  {wants("trips", sdk.Question{Message: "Log in", URL: "https://ex\u0430mple.org/x"}), "", "letters that look like others"},
		"a password":                  {wants("trips", sdk.Question{Message: "Log in", Schema: password}), "", "not for a chat"},
		"a hidden question":           {wants("trips", sdk.Question{Message: "x\u202e"}), "", "(U+202E)"},
	} {
		t.Run(name, func(t *testing.T) {
			got, why := Message(c.p, 4096, "[secret]", "")
			if (why == "") != (c.because == "") || !strings.Contains(why, c.because) || !strings.Contains(got, c.says) {
				t.Errorf("because %q:\n%s", why, got)
			}
			if why != "" && (strings.Contains(got, "\n| ") || !strings.Contains(got, "bothy proposals show 1a2b3c4d") || !strings.Contains(got, why)) {
				t.Errorf("it does not say where to look, or shows what is not as it looks:\n%s", got)
			}
		})
	}
}

// TestWhyItIsNot: what the caller says stands in the message, beside what would run.
func TestWhyItIsNot(t *testing.T) {
	got, why := Message(asks("ls"), 4096, "", "nobody here may answer")
	if why != "nobody here may answer" || !strings.Contains(got, "cannot be accepted here: nobody here may answer.") || !strings.HasSuffix(got, "\n| ls") {
		t.Errorf("%q:\n%s", why, got)
	}
}

// TestMessagesAreWhole: whatever would run, a message that lets it be accepted has all of it, line by line behind a mark
// and with nothing of ours behind it; none is longer than its room, or anything but UTF-8.
func TestMessagesAreWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		command := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ -~\n\t]{0,200}`), rapid.StringMatching(`[a-z |&;]{1,40}(\n[a-z |&;]{1,40}){0,20}`)).Draw(t, "command")
		room := rapid.IntRange(1, 5000).Draw(t, "room")
		p := asks(command)
		p.Decision.Reason = rapid.String().Draw(t, "reason")
		text, why := Message(p, room, "[secret]", "")
		if length(text) > room || !utf8.ValidString(text) {
			t.Fatalf("%d of %d: %q", length(text), room, text)
		}
		if why != "" || command == "" {
			return
		}
		_, quoted, found := strings.Cut(text, "bytes:\n")
		if !found {
			_, quoted, _ = strings.Cut(text, "look the same):\n")
		}
		var back []string
		for line := range strings.SplitSeq(quoted, "\n") {
			rest, marked := strings.CutPrefix(line, "| ")
			if !marked {
				t.Fatalf("the line %q of\n%s", line, text)
			}
			back = append(back, rest)
		}
		if got := strings.Join(back, "\n"); got != command {
			t.Fatalf("%q came back as %q", command, got)
		}
	})
}

// TestWithheld is what people accept by a channel: the run's own workspace, and what is named.
func TestWithheld(t *testing.T) {
	private := sdk.Run{Private: true}
	tool := func(name, plugin string, change func(*sdk.Tool)) sdk.Tool {
		x := sdk.Tool{ToolSpec: sdk.ToolSpec{Name: name}, Plugin: plugin, Pinned: true}
		change(&x)
		return x
	}
	grants := func(all ...string) func(*sdk.Tool) { return func(x *sdk.Tool) { x.Grants = all } }
	fetch := tool("web_fetch", "web", func(x *sdk.Tool) { x.Annotations.OpenWorld, x.Grants = true, []string{sdk.GrantEntries} })
	for name, c := range map[string]struct {
		run   sdk.Run
		tool  sdk.Tool
		rule  string
		named []string
		may   bool
	}{
		"a command":                    {run: private, tool: tool("bash", "bash", grants(sdk.GrantSandbox)), may: true},
		"a file":                       {run: private, tool: tool("write_file", "files", grants(sdk.GrantProject)), may: true},
		"an entry":                     {run: private, tool: tool("set", "bothy", func(x *sdk.Tool) { x.Entries = true }), may: true},
		"in a run that is not private": {tool: tool("write_file", "files", grants(sdk.GrantProject))},
		"of a plugin that is unpinned": {run: private, tool: tool("write_file", "files", func(x *sdk.Tool) { x.Grants, x.Pinned = []string{sdk.GrantProject}, false })},
		"with no grant":                {run: private, tool: tool("send", "mail", grants())},
		"with a file and the network":  {run: private, tool: tool("push", "git", func(x *sdk.Tool) { x.Grants, x.Annotations.OpenWorld = []string{sdk.GrantProject}, true })},
		"a page":                       {run: private, tool: fetch},
		"a page that is named":         {run: private, tool: fetch, named: []string{"web_fetch"}, may: true},
		"a page by its plugin":         {run: private, tool: fetch, named: []string{"web__*"}, may: true},
		"another that is named":        {run: private, tool: fetch, named: []string{"web_search", "fetch"}},
		"all":                          {run: private, tool: fetch, named: []string{"*"}, may: true},
		"a secret that leaves":         {run: private, tool: fetch, rule: sdk.RuleLeak, named: []string{"*"}},
		"a tool that drifted":          {run: private, tool: tool("mcp__x__y", "mcp__x", func(x *sdk.Tool) { x.Drift = "is another" }), named: []string{"*"}},
		"the network":                  {run: private, tool: tool("open_network", "bothy", grants()), named: []string{"*"}},
		"named in a run of the desk":   {tool: fetch, named: []string{"*"}},
	} {
		t.Run(name, func(t *testing.T) {
			if why := Withheld(c.run, c.tool, sdk.Decision{Rule: c.rule}, c.named); (why == "") != c.may {
				t.Errorf("it is withheld because %q", why)
			}
		})
	}
}
