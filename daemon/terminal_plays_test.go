package daemon

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// played is a turn of a model that plays: what it thinks, what it says, and then what it
// calls. Without a call it is the last one.
type played struct {
	thinks, says, tool string
	arguments          map[string]any
	holds              bool            // it goes on until nobody listens
	until              <-chan struct{} // it waits for so long, and says the rest then
	rest               string
	breaks             bool // the connection does, the first time that the prompt is heard
	pours              int  // tokens that it writes, 200 a second
}

// bash is a turn that runs a command.
func bash(command string) played {
	return played{tool: "bash", arguments: map[string]any{"command": command}}
}

// plays are what the model of serve-model plays by name, a turn after the other.
var plays = map[string][]played{
	"markdown": {{says: "# A heading\n\nSome **bold**, *italic*, ~~struck~~ and `code` words that are long enough to be broken somewhere in the middle of a line.\n\n" +
		"## A list\n\n- one\n- two, which is longer than the others and goes on behind the end of its line, so that it is broken\n  1. first\n  2. second\n- [x] done\n- [ ] to do\n\n" +
		"| name | does |\n|---|---|\n| `new` | makes a run |\n| `quit` | leaves, and what works goes on behind |\n\n" +
		"> A quote of somebody\n> over two lines.\n\nSee [the manual](https://example.com/manual) for more.\n"}},
	"code":   {{says: "In Go:\n\n```go\n// add adds.\nfunc add(a, b int) int {\n\treturn a + b // a sum\n}\n```\n\nand in Python:\n\n```python\ndef add(a, b):\n    \"\"\"Adds.\"\"\"\n    return a + b\n```\n\nand a text:\n\n```\nplain  text\n```\n"}},
	"short":  {bash("printf 'hello\\n'"), {says: "It said hello."}},
	"long":   {bash("seq 1 40"), {says: "It counted to 40."}},
	"failed": {bash("echo begins; echo 'no such thing' >&2; exit 127"), {says: "It failed."}},
	"edit": {{says: "I change it.", tool: "edit_file", arguments: map[string]any{"path": "main.go", "old_text": "\tprintln(1)", "new_text": "\tprintln(2)\n\tprintln(3)"}},
		{says: "It is changed."}},
	"write":  {{tool: "write_file", arguments: map[string]any{"path": "notes.txt", "content": "one\ntwo\n"}}, {says: "It is written."}},
	"rename": {{tool: "move_path", arguments: map[string]any{"source": "main.go", "destination": "app.go"}}, {says: "It is moved."}},
	"remove": {{tool: "delete_path", arguments: map[string]any{"path": "old", "recursive": true}}, {says: "It is gone."}},
	"draw":   {{tool: "write_file", arguments: map[string]any{"path": "pic.bin", "content": "no picture\n"}}, {says: "It is drawn."}},
	"folder": {{tool: "create_directory", arguments: map[string]any{"path": "docs/images"}}, {says: "It is made."}},
	"plan": {{tool: "read_file", arguments: map[string]any{"path": "release.yaml"}}, {tool: "finish_task", arguments: map[string]any{
		"name": "Release: it", "steps": []any{
			map[string]any{"name": "Test", "action": "Run the tests:\nmake check"},
			map[string]any{"name": "Tag", "action": "Tag it", "context": "git tag v1"},
		}}}},
	"run":   {bash("go test ./... && echo done"), {says: "It ran."}},
	"large": {bash(strings.TrimSuffix(strings.Repeat("go vet ./a/folder/of/the/project\n", 12), "\n")), {says: "It ran."}},
	"works": {bash("echo begun; sleep 600"), {says: "It ended."}},
	"thinks": {{thinks: "The person wants to see how I think. I look at what there is, and I weigh what could be done with it before I say a word.",
		holds: true}},
	"writes": {{says: "I write a text that does not end …\n", holds: true}},
	"wide": {{says: "日本語の文章は一文字が二つの桁を取り、行の終わりで折り返されます。そして続きます。\n\n- 한국어 문장\n- emoji 🙂 ✅ end\n- ﬁ ligature\n\n" +
		"| 名前 | emoji |\n|---|---|\n| 値 | 🙂 |\n| plain | ok |\n"}},
	"right": {{says: "The word שלום means peace, and مرحبا بالعالم greets.\n\n- שורה בעברית\n"}},
}

// play plays the turn that comes next: one for each result that there is.
func (s sse) play(name string, turns []played, messages []chatMessage) {
	results := 0
	for _, m := range messages {
		switch m.Role {
		case "user":
			results = 0
		case "tool":
			results++
		}
	}
	if results >= len(turns) {
		s.text("I have played " + name + ".")
		s.end("stop")
		return
	}
	turn := turns[results]
	if turn.thinks != "" {
		s.delta(map[string]any{"reasoning_content": turn.thinks}, "")
	}
	if turn.says != "" {
		s.text(turn.says)
	}
	if turn.pours > 0 {
		s.pour(turn.pours)
	}
	if turn.until != nil {
		select {
		case <-turn.until:
		case <-s.r.Context().Done():
		}
		s.text(turn.rest)
	}
	switch {
	case turn.breaks && s.first:
		panic(http.ErrAbortHandler)
	case turn.holds:
		<-s.r.Context().Done()
	case turn.tool != "":
		arguments, _ := json.Marshal(turn.arguments) // maps of texts
		s.toolCall(turn.tool + " " + string(arguments))
	default:
		s.end("stop")
	}
}

// A stream of so many tokens, as fast as a fast model writes.
const (
	poured     = 1200
	pouredEach = 5 * time.Millisecond
)

// pour writes an answer of n tokens, as models do: prose, lists and code.
func (s sse) pour(n int) {
	words := strings.SplitAfter("The answer has **words** of prose, which go on for a line or two, and then more of them.\n\n- an item of a list\n- another with `code` in it\n\n```go\nfunc add(a, b int) int {\n\treturn a + b // a sum\n}\n```\n\n", " ")
	pace := time.NewTicker(pouredEach)
	defer pace.Stop()
	for i := range n {
		select {
		case <-pace.C:
		case <-s.r.Context().Done():
			return
		}
		s.text(words[i%len(words)])
	}
	s.text("\n\nIt is poured.")
}
