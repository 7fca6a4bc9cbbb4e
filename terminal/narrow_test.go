package main

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk/rpc"
)

// TestNarrow: in a window of few columns nothing is wider than it, neither what is printed nor
// what stands below.
func TestNarrow(t *testing.T) {
	scenes := map[string]func(p *person){
		"a prompt at work": func(p *person) {
			p.takes(queuedRow(1, "a prompt of many words, and averylongwordthatdoesnotend"), startedRow(1), openedRow(1, 1))
			p.takes(previewCame{rpc.Preview{Loop: 1, Turn: 1, First: true, Reasoning: "It is thought about, for long."}})
			p.Update(previewCame{rpc.Preview{Loop: 1, Turn: 1, Text: "# A heading\n\nA paragraph of words, 日本語の文章.\n\n- an item of a list\n\n| a | table |\n|---|---|\n| of | two columns |\n\n```go\nfunc main() { println(1) }\n```\n\nIt goes on"}})
			p.Update(delivered{0, accepted{"one more", rpc.Accepted{Run: "r", ID: 1, Loop: 2, Sequence: 2, Ahead: 1}, nil}})
		},
		"an answer": func(p *person) {
			p.takes(startedRow(1), openedRow(1, 1), replyRow(1, 1, "| a | table |\n|---|---|\n| of | two columns |\n\n```go\nfunc main() { println(1) }\n```\n"),
				resultRow(1, 1, "a line of a result\nanother one"), endedRow(1, "done", 200))
		},
		"a failure":   func(p *person) { p.fail(fmt.Errorf("it cannot be done: %s", strings.Repeat("x", 40))) },
		"a question":  func(p *person) { asks(p.conversation, "go test ./... && echo done") },
		"its details": func(p *person) { asks(p.conversation, "ls"); p.does("pause pause d") },
		"its rules": func(p *person) {
			asks(p.conversation, "ls", "always allow ls in this project")
			p.does("pause pause a")
		},
		"an unfit question": func(p *person) {
			q := asks(p.conversation, "ls")
			q.proposal.Bytes, q.brief = 7, brief{}
			p.does("pause pause y")
		},
		"a menu":    func(p *person) { typeInto(p.conversation, "/"); p.does("down down") },
		"a search":  func(p *person) { p.typed.add("an older prompt of words"); p.does("ctrl+r o") },
		"an input":  func(p *person) { typeInto(p.conversation, strings.Repeat("word ", 9)) },
		"a pager":   func(p *person) { p.page("a title that is long", func(int) string { return "a text of many words" }) },
		"a hint":    func(p *person) { p.does("ctrl+c") },
		"a command": func(p *person) { typeInto(p.conversation, "/answer"); p.does("esc enter") },
	}
	for name, scene := range scenes {
		for _, width := range []int{12, 16, 20, 21, 22, 27, 33, 39} {
			p := newPerson(t, width, 24)
			p.Update(tea.WindowSizeMsg{Width: width, Height: 24})
			p.inRun()
			scene(p)
			for _, line := range strings.Split(p.View().Content, "\n") {
				if n := widest([]string{line}); n > width {
					t.Errorf("%s: in a window of %d columns stand %d: %q", name, width, n, bare(line))
				}
			}
			for _, line := range strings.Split(p.said(), "\n") {
				if n := widest([]string{line}); n > width && width <= narrow {
					t.Errorf("%s: in a window of %d columns %d are printed: %q", name, width, n, line)
				}
			}
		}
	}
}
