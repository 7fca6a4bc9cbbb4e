package daemon

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// The errands of plans.
const (
	leads = "lead" // writes and edits files, runs a command, delegates the other, and hands over that it did
	helps = "help" // writes a file, claims beside a failure that this is all, and claims it again
	crams = "cram" // writes more entries than fit
)

// crammed is how many entries are more than fit.
const crammed = 12

// Files of an errand, below the folder that its tag names.
const (
	errandText = "a.txt" // written and then edited
	errandHelp = "b.txt" // by who helps
	errandRuns = "c.txt" // gets a line by each command
	errandLong = "long.txt"
)

// chore is a call of an errand, which is made until the conversation shows that it came to something.
type chore struct {
	tool  string
	args  map[string]any
	body  string // the argument that stands between tags
	named string // by what name it is sent without them
	shown string // a pattern of what says that it was done
}

// errands are the chores of a plan, a turn's together. The number makes lines of them that no call had before.
func (p plan) errands(number int) [][]chore {
	quoted := regexp.QuoteMeta
	file := func(name string) string { return strings.TrimPrefix(p.Tag, "of") + "/" + name }
	says := func(status int, text, shown string) chore {
		return chore{tool: "update", args: map[string]any{"status": status}, body: text, named: "body", shown: shown}
	}
	line := fmt.Sprintf("%s-%d", p.Tag, number)
	if p.Errand == crams {
		var all []chore
		for n := range crammed {
			path := fmt.Sprintf("known://%s/%d", p.Tag, n)
			all = append(all, chore{"set", map[string]any{"path": path}, strings.Repeat("a fact ", 140), "body", quoted(path) + " is written"})
		}
		return [][]chore{all, {says(200, "all is known", "^$")}}
	}
	if p.Errand == helps {
		return [][]chore{
			{{"set", map[string]any{"path": file(errandHelp)}, "b\n", "body", `(Created|Replaced|Wrote|already) .*` + quoted(file(errandHelp))},
				{tool: "note_line", args: map[string]any{"line": line}, shown: "(?m)^" + quoted(noted(p.Tag)) + "-"}},
			{{tool: "get", args: map[string]any{"path": file("nowhere.txt")}, shown: "not accepted"}, says(200, p.helped(), "not accepted")},
			{says(200, p.helped(), "^$")},
		}
	}
	task, err := json.Marshal(plan{Tag: "of" + p.Tag, Errand: helps})
	if err != nil {
		panic(err) // a plan always marshals
	}
	helper := strings.Replace(p.Agent, "lead", "help", 1)
	given, err := json.Marshal(map[string]any{"agent": helper, "task": string(task)})
	if err != nil {
		panic(err) // texts always marshal
	}
	all := [][]chore{
		{{"set", map[string]any{"path": file(errandText)}, "one\ntwo\n", "body", `(Created|Replaced|Wrote|already) .*` + quoted(file(errandText))},
			{tool: "note_line", args: map[string]any{"line": line}, shown: "(?m)^" + quoted(noted(p.Tag)) + "-"}},
		{{"set", map[string]any{"path": file(errandText)}, "<<SEARCH\ntwo\nSEARCH\n<<REPLACE\n2\nREPLACE\n<<APPEND\nthree\nAPPEND", "body", `Edited ` + quoted(file(errandText))},
			{"set", map[string]any{"path": keptAt(p.Tag), "append": true}, "a fact\n", "body", quoted(keptAt(p.Tag)) + " is written"},
			{tool: "get", args: map[string]any{"path": errandLong}, shown: `path="` + errandLong + `"|` + longWords}},
		{{"sh", map[string]any{}, fmt.Sprintf("echo %s >> %s && echo done %s", line, file(errandRuns), line), "command", "(?m)^done " + quoted(p.Tag) + "-"}},
		{{"delegate", map[string]any{}, string(given), "", "(?m)^" + quoted((plan{Tag: "of" + p.Tag}).helped())}},
		{says(200, "all is done", "call finish_task with it")},
		{{tool: "finish_task", args: map[string]any{"summary": fmt.Sprintf("%s: finished 0 steps", p.Tag)}, shown: "^$"}},
	}
	if p.Dry {
		all = append(all[:2:2], all[3:]...)
	}
	return all
}

// helped is what one that helps answers.
func (p plan) helped() string { return "the errand of " + p.Tag + " is done" }

const longWords = "these are words of a file that nobody needs to read a second time"

// runErrand answers by what a conversation shows: the calls of the first turn of the errand that has some left.
func (p plan) runErrand(s sse, messages []chatMessage, raw []byte, native bool) {
	var shown strings.Builder
	for _, m := range messages {
		if m.Role == "user" || m.Role == "tool" {
			shown.WriteString(m.Content + "\n")
		}
	}
	number := 1 // behind that of each line that it wrote before
	for _, found := range regexp.MustCompile(`\b`+regexp.QuoteMeta(p.Tag)+`-(\d+)`).FindAllSubmatch(raw, -1) {
		var n int
		if _, err := fmt.Sscan(string(found[1]), &n); err == nil {
			number = max(number, n+1)
		}
	}
	left := leftOf(p.errands(number), shown.String())
	if number > 30 {
		s.text("gave up")
		s.end("stop")
		return
	}
	if p.Slow > 0 {
		p.slowly(s)
	}
	if native {
		for i, c := range left {
			arguments, err := json.Marshal(c.arguments())
			if err != nil {
				panic(err) // texts and numbers always marshal
			}
			s.call(map[string]any{"index": i, "id": fmt.Sprintf("c%d_%d", len(messages), i), "type": "function", "function": map[string]any{"name": c.tool, "arguments": string(arguments)}})
		}
		s.end("tool_calls")
		return
	}
	update := false
	for _, c := range left {
		update = update || c.tool == "update" || c.tool == sdk.ToolFinish
		s.text("<" + c.tool)
		for name, value := range c.args {
			s.text(fmt.Sprintf(" %s=%q", name, fmt.Sprint(value)))
		}
		if c.body == "" {
			s.text("/>\n")
			continue
		}
		s.text(">\n" + c.body + "\n</" + c.tool + ">\n")
	}
	if !update {
		s.text("<update>more comes</update>")
	}
	s.end("stop")
}

// leftOf are the chores of the first turn that has some left. What is before one of which something is shown was done, though its
// results were left out of the conversation since.
func leftOf(turns [][]chore, shown string) (left []chore) {
	for _, turn := range slices.Backward(turns) {
		before := left
		left = nil
		for _, c := range turn {
			if !regexp.MustCompile(c.shown).MatchString(shown) {
				left = append(left, c)
			}
		}
		if len(left) == 0 {
			return before
		}
		if len(left) < len(turn) {
			return left
		}
	}
	return left
}

// arguments are all of a call, as one object.
func (c chore) arguments() map[string]any {
	all := map[string]any{}
	if c.named == "" && c.body != "" {
		if err := json.NewDecoder(strings.NewReader(c.body)).Decode(&all); err != nil && err != io.EOF {
			panic(err) // the test wrote it
		}
	}
	for name, value := range c.args {
		all[name] = value
	}
	if c.named != "" {
		all[c.named] = c.body
	}
	return all
}
