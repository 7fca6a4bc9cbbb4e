//go:build linux

package daemon

import (
	"fmt"
	"strings"
	"testing"
)

// scene is what a person does at a terminal, and what is compared at the end of it.
type scene struct {
	name  string
	args  []string // of bothy
	env   []string
	steps []step
	light bool // also on a light background
	mute  bool // the terminal does not tell its background
	alone bool // before the others, since it shows what is said first: how many questions wait elsewhere
	rows  int  // of the terminal, when a few are enough to see what is meant

	files  map[string]string // of the project, beside main.go
	config string            // of a daemon of its own
	then   func(s *seat)     // what else is done, at the end
}

// step is keys, and a text that stands there afterwards.
type step struct{ keys, until string }

// interactive and workspace are modes that a conversation begins with.
var (
	interactive = []string{"--mode", "interactive"}
	workspace   = []string{"--mode", "workspace"}
)

// oldFiles are what some scenes have in the project beside its program.
var oldFiles = map[string]string{"old/map.txt": "one\ntwo\n", "old/made.bin": "a\x00b", "old/deep/manual.md": "# Old\n", "pic.bin": "a\x00\xffb"}

// scenes are compared at 40, 80 and 120 columns; see docs/development.md.
var scenes = []scene{
	{name: "first", alone: true, rows: 24, light: true},
	{name: "markdown", steps: []step{{"play markdown\r", "for more"}, {"", "finished"}}, light: true},
	{name: "code", steps: []step{{"play code\r", "plain  text"}, {"", "finished"}}, light: true},
	{name: "call", args: workspace, steps: []step{{"play short\r", "It said hello."}, {"play long\r", "It counted to 40."}, {"play failed\r", "It failed."}, {"", "finished"}}, light: true},
	{name: "edit", args: workspace, steps: []step{{"play edit\r", "It is changed."}, {"", "finished"}}, light: true},
	{name: "question-command", args: interactive, steps: []step{{"play run\r", "esc l"}}, light: true},
	{name: "question-details", args: interactive, steps: []step{{"play run\r", "esc l"}, {"d", "what would run"}, {"", "esc l"}}},
	{name: "question-write", args: interactive, steps: []step{{"play write\r", "esc l"}}},
	{name: "question-move", args: interactive, steps: []step{{"play rename\r", "esc l"}}},
	{name: "question-delete", args: interactive, files: oldFiles, steps: []step{{"play remove\r", "esc l"}, {"y", "what it would change"}, {"", "y once"}}},
	{name: "question-binary", args: interactive, files: oldFiles, steps: []step{{"play draw\r", "esc l"}, {"d", "what it would change"}, {"", "esc l"}}},
	{name: "question-folder", args: interactive, steps: []step{{"play folder\r", "esc l"}}},
	{name: "question-long", rows: 24, args: interactive, steps: []step{{"play large\r", "esc l"}, {"y", "%"}}},
	{name: "question-rules", args: interactive, steps: []step{{"play write\r", "esc l"}, {"a", "1 always"}}},
	{name: "question-reason", args: interactive, steps: []step{{"play write\r", "esc l"}, {"r", "Why not?"}, {"keep it as it is", "> keep it as it is"}}},
	{name: "accepted", args: interactive, steps: []step{{"play write\r", "esc l"}, {"d", "what it would change"}, {"", "esc l"}, {"y", "It is written."}, {"", "finished"}}},
	{name: "rejected", args: interactive, steps: []step{{"play write\r", "esc l"}, {"n", "rejected"}, {"", "> What"}}},
	{name: "reasoned", args: interactive, steps: []step{{"play write\r", "esc l"}, {"r", "Why not?"}, {"keep it\r", "It is written."}, {"", "finished"}}},
	{name: "remembered", args: interactive, steps: []step{{"play write\r", "esc l"}, {"a", "1 always"}, {"1", "remembered"}, {"", "It is written."}, {"", "finished"}}},
	{name: "left-open", args: interactive, steps: []step{{"play write\r", "esc l"}, {"\x1b", "/answer"}}},
	{name: "waits", steps: []step{{"play writes\r", "I write a text"}, {"and then this\r", "waits: and"}, {"and at last this one, which is longer than a narrow terminal is wide\r", "waits: and at"}}},
	{name: "works", args: workspace, steps: []step{{"play works\r", "│ begun"}}},
	{name: "thinks", steps: []step{{"play thinks\r", "thinking"}, {"", "could be done"}}},
	{name: "error", steps: []step{{"refuse\r", "HTTP 401"}, {"", "> What"}}},
	{name: "aborted", steps: []step{{"play writes\r", "I write a text"}, {"\x1b", "aborted by a person"}}},
	{name: "help", rows: 24, steps: []step{{"/help\r", "%"}}},
	{name: "unknown", alone: true, steps: []step{{"/nosuch thing\r", "nosuch"}, {"", "no skill"}}},
	{name: "wide", steps: []step{{"play wide\r", "plain"}, {"", "finished"}}, light: true},
	{name: "right-to-left", steps: []step{{"play right\r", "greets"}, {"", "finished"}}},
	{name: "state", steps: []step{{"one\r", "you said: one"}, {"", "finished"}, {"/status\r", "used  "}}},
	{name: "menu", alone: true, steps: []step{{"/stat", "/skill status"}}},
	{name: "files", alone: true, files: oldFiles, steps: []step{{"see @ma", "→ @main.go"}}},
	{name: "modes", alone: true, steps: []step{{"/mode ", "→ interactive"}}},
	{name: "search", alone: true, steps: []step{{"\x12moon", "no more: moon"}}},
	{name: "runs", rows: 24, steps: []step{{"one\r", "you said: one"}, {"", "finished"}, {"/runs\r", "esc leaves"}}},
	{name: "models", rows: 24, steps: []step{{"/model\r", "esc leaves"}}},
	{name: "fork", steps: []step{{"one\r", "you said: one"}, {"", "finished"}, {"/fork\r", "run chat-2"}}},
	{name: "undo", args: workspace, steps: []step{{"play write\r", "It is written."}, {"", "finished"}, {"/diff\r", "+two"}, {"/undo\r", "taken back"}}},
	{name: "comes-back", args: workspace, steps: []step{{"play short\r", "It said hello."}, {"", "finished"}, {"one\r", "you said: one"}, {"two\r", "you said: two"}, {"half typed", "> half typed"}},
		then: func(s *seat) { s.end(); s.sit("-r", "chat-1"); s.until("you said: two", "> half typed") }},
	{name: "comes-back-to-a-question", args: interactive, steps: []step{{"play write\r", "esc l"}},
		then: func(s *seat) { s.end(); s.sit("-c"); s.until("? write_file", "esc l") }},
	{name: "no-model", alone: true, config: "agent \"default\" {}\n", steps: []step{{"hello\r", "cannot go on"}}},
	{name: "stopped", alone: true, config: parrotConfig, steps: []step{{"hello\r", "finished"}},
		then: func(s *seat) { s.bothy("stop"); s.until("stopped") }},
	{name: "untold-background", mute: true, steps: []step{{"play markdown\r", "for more"}, {"", "finished"}, {"play code\r", "plain  text"}, {"", "finished"}}},
	{name: "no-colour", env: []string{"NO_COLOR=yes"}, args: interactive, steps: []step{{"play markdown\r", "for more"}, {"", "finished"}, {"play write\r", "esc l"}}},
	{name: "sixteen", env: []string{"TERM=xterm-16color"}, steps: []step{{"play markdown\r", "for more"}, {"", "finished"}, {"play code\r", "plain  text"}, {"", "finished"}}, light: true},
}

// TestConversationScreens: what stands there, cell by cell with its styles, at the usual
// widths and on both backgrounds.
func TestConversationScreens(t *testing.T) {
	needPodman(t)
	first := newSeat(t, 80, 24)
	first.skill("status", "tells how the shop does, in a sentence that is longer than what fits")
	first.sit() // its daemon serves all
	first.until("> What")
	first.end()
	t.Run("all", func(t *testing.T) {
		for _, sc := range scenes {
			t.Run(sc.name, func(t *testing.T) {
				if !sc.alone {
					t.Parallel()
				}
				a, err := openAlbum(sc.name)
				if err != nil {
					t.Fatal(err)
				}
				for _, columns := range []int{40, 80, 120} {
					s := sc.play(t, first, columns, dark)
					a.compare(s, fmt.Sprintf("%d columns", columns))
					if look := s.look(&legend{letters: map[string]string{}}); !sc.alone && strings.Contains(look, "/help shows") {
						t.Error("it shows what is said first, which tells how many questions others wait for: it has to be alone")
					}
				}
				for _, columns := range []int{40, 80, 120} {
					if sc.light {
						a.compare(sc.play(t, first, columns, light), fmt.Sprintf("%d columns, light", columns))
					}
				}
				if err := a.save(); err != nil {
					t.Error(err)
				}
			})
		}
	})
}

// play plays a scene on a terminal of its own.
func (sc scene) play(t *testing.T, first *seat, columns int, back string) *seat {
	rows := sc.rows
	if rows == 0 {
		rows = 90
	}
	var s *seat
	if sc.config == "" {
		s = first.beside(t, fmt.Sprintf("%s-%d-%s", sc.name, columns, back[4:8]), columns, rows)
	} else {
		s = newSeat(t, columns, rows)
		s.write(".config/bothy/config.hcl", sc.config)
	}
	s.back, s.env = back, append(s.env, sc.env...)
	if sc.mute {
		s.back = ""
	}
	s.write("shop/main.go", "package main\n\nfunc main() {\n\tprintln(1)\n}\n")
	for name, text := range sc.files {
		s.write("shop/"+name, text)
	}
	s.sit(sc.args...)
	s.until("bothy 0", "> What")
	for _, st := range sc.steps {
		s.keys(st.keys)
		s.until(st.until)
		if st.until == "finished" { // it may be an earlier one
			s.rests()
		}
	}
	if sc.then != nil {
		sc.then(s)
	}
	return s
}

func needPodman(t *testing.T) {
	t.Helper()
	if ok, _ := condition("sandbox"); !ok {
		t.Skip("sandbox: rootless Podman is needed, and a user who is not root")
	}
}
