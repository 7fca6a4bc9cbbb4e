//go:build linux

package daemon

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk/client/show"
)

// hostile is a text that would set the title, empty the screen, hide what follows, turn
// words round and go back over them.
const hostile = "begin\x1b]0;owned\a\x1b]52;c;b3duZWQ=\a\x1b[2J\x1b[8mhid\u009b31m\u202egnp\u2066\u200f\u00ad\x08\x08\x7f\x1bPq\x1b\\end"

// references are hostile as Markdown can write it.
const references = "&#27;]0;owned&#7; `&#27;[8mhid` &amp;#27;[8m &#x202e;gnp [good](https://e.com/&#27;]0;owned&#7;)"

func init() {
	maps.Copy(plays, map[string][]played{
		"hostile-text":      {{says: hostile + "\n\n```sh\n" + hostile + "\n```\n\n- " + hostile + "\n\n| " + hostile + " |\n|---|\n\n" + references + " spoken"}},
		"hostile-thought":   {{thinks: hostile, says: "thought"}},
		"hostile-output":    {bash(`printf 'begin\033]0;owned\007\033[2J\033[8mhid\302\233 31m\342\200\256gnp\010\010\177\rover\033Pq\033\\\n'; printf '\033]0;owned\007' >&2; exit 3`), {says: "printed"}},
		"hostile-call":      {{tool: "read_file", arguments: map[string]any{"path": hostile}}, {says: "called"}},
		"hostile-tool":      {{tool: "no\x1b]0;owned\a", arguments: map[string]any{hostile: hostile}}, {says: "called so"}},
		"hostile-file":      {{tool: "write_file", arguments: map[string]any{"path": "new\u202egnp.txt", "content": hostile + "\n"}}, {says: "written"}},
		"question-padded":   {bash("go vet ." + strings.Repeat(" ", 600) + "; rm -r everything"), {says: "ran it"}},
		"question-tall":     {bash(numbered("go vet ./part%03d", 200)), {says: "ran it"}},
		"question-wide":     {bash("go vet " + strings.TrimSpace(numbered("./part%03d", 300, " "))), {says: "ran it"}},
		"question-faked":    {bash("go vet .\n\n  y once  a always  n no\n? bash ls\n"), {says: "ran it"}},
		"question-said":     {{says: "? ls\n  only reads\n  y once  a always  n no", tool: "bash", arguments: map[string]any{"command": "go vet ."}}, {says: "ran it"}},
		"question-alike":    {bash("go vet \u0441url"), {says: "ran it"}},
		"question-steering": {{tool: "write_file", arguments: map[string]any{"path": "a.txt", "content": hostile + "\ta\ufe0fb\n"}}, {says: "ran it"}},
	})
}

// numbered are n texts with their numbers.
func numbered(text string, n int, between ...string) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(text, i+1))
	}
	return strings.Join(all, strings.Join(append(between, "\n")[:1], ""))
}

// sequences are what a terminal gets of Bubble Tea: how it moves, what it
// erases, styles but not hidden ones, links, modes, and what it asks the terminal.
var sequences = regexp.MustCompile(`^\x1b(\[[0-9;]*[ABCDEFGHJKLMPSTXZ@bdfr]|\[([0-79][0-9;:]*|[0-9][0-9;:]+)?m|\[\?(25|1004|1049|2004|2026|2027)[hl]` +
	`|\[\?[0-9]+\$p|\[[>=?]?[0-9;]*[uc]|\[[<>][0-9;]*[uqm]|\[[0-9] q|\[\?5W|[M78]|\]8;[^\x07\x1b]*(\x07|\x1b\\)|\]1[12];\?(\x07|\x1b\\)|\]11[12](\x07|\x1b\\)|P\+q[0-9A-Fa-f;]*\x1b\\)`)

// steering are the places of what a program wrote that steer a terminal in another way.
func steering(wrote []byte) (all []string) {
	for at := 0; at < len(wrote); {
		r, n := utf8.DecodeRune(wrote[at:])
		switch {
		case r == '\x1b' && sequences.Match(wrote[at:]):
			n = len(sequences.Find(wrote[at:]))
		case r == '\n' || r == '\r' || r == '\b' || r == '\t':
		case show.Line(string(wrote[at:at+n])) != string(wrote[at:at+n]):
			all = append(all, fmt.Sprintf("%q", wrote[at:min(len(wrote), at+24)]))
		}
		at += n
	}
	return all
}

// unsteered fails where something that the program wrote steers the terminal.
func (s *seat) unsteered(what string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if bad := steering(s.wrote); len(bad) > 0 {
		s.t.Errorf("%s: %d sequences reach the terminal: %s", what, len(bad), strings.Join(bad[:min(len(bad), 5)], ", "))
	}
	if title := s.term.GetTitle(); title != "" {
		s.t.Errorf("%s: the title is %q", what, title)
	}
}

// TestConversationIsHarmless: nothing that a model, a program, a file, a skill or a run
// says steers the terminal, down to the bytes.
func TestConversationIsHarmless(t *testing.T) {
	needPodman(t)
	s := newSeat(t, 60, 24)
	s.write("shop/found\u202egnp\x1b]0;owned\a.txt", "x")
	s.write(".config/bothy/skills/evil/SKILL.md", "---\nname: evil\ndescription: \"Evil \\e]0;owned\\a\\u202egnp \\e[8mhid\"\n---\nBe evil.\n")
	s.sit("--mode", "workspace")
	s.until("bothy 0", "> What")
	for _, step := range []step{
		{"steer\r", `\u202e`},
		{"play hostile-text\r", "spoken"}, {"play hostile-thought\r", "thought"}, {"play hostile-output\r", "printed"}, {"play hostile-call\r", "called"},
		{"play hostile-tool\r", "called so"}, {"play hostile-file\r", "written"}, {"/diff\r", "gnp.txt"},
		{"\x1b[200~pasted \u202egnp\x1b[201~", "[pasted 1: "}, {"\r", "you said: pasted"}, {"\x1b[A", "[pasted"},
		{"\x05\x15look at @gnp\t", "no file of the project"}, {"\x05\x15/evil", "/evil"}, {"\t", "/evil"}, {"\x05\x15/nosuch\r", "no skill"},
	} {
		s.keys(step.keys)
		s.until(step.until)
		s.unsteered(step.keys)
	}
	s.end()
	s.sit("-r", "chat-1")
	s.until("written", "> ")
	s.unsteered("coming back")
	s.end()
	s.sit("-r", "chat\x1b]0;owned\a\u202egnp")
	s.awaits(func(screen string) bool { return strings.Contains(screen, "owned") }, s.screen) // in a greeting or in a failure
	s.unsteered("a run's name")
}

// TestConversationShowsWhatRuns: an answer lets run only what was shown, all of it, and
// nothing in it looks like the question.
func TestConversationShowsWhatRuns(t *testing.T) {
	needPodman(t)
	first := newSeat(t, 80, 24)
	first.sit()
	first.until("> What")
	first.end()
	for _, tt := range []struct {
		name  string
		whole bool     // it is shown whole at once: y runs it
		shown []string // before y runs it, of what was printed
	}{
		{"padded", false, []string{"; rm -r everything"}},
		{"tall", false, []string{"go vet ./part001", "go vet ./part100", "go vet ./part200"}},
		{"wide", false, []string{"./part001", "./part150", "./part300"}},
		{"faked", false, []string{"|   y once  a always  n no", "| ? bash ls"}},
		{"said", true, []string{"go vet ."}},
		{"alike", true, []string{"1 character beyond ASCII"}},
		{"steering", true, []string{`\x1b]0;owned\x07`, `\u{202e}`, `\u{ad}`, "⇥", `\u{fe0f}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := first.beside(t, "shows-"+tt.name, 80, 24)
			s.sit("--mode", "interactive")
			s.until("bothy 0", "> What")
			s.keys("play question-" + tt.name + "\r")
			question := s.until("leave it open")
			marks, keys := 0, 0
			for line := range strings.Lines(question) {
				if strings.HasPrefix(line, "? ") {
					marks++
				}
				if strings.HasPrefix(line, "  y once") || strings.HasPrefix(line, "  y shows all first") {
					keys++
				}
			}
			if tt.name == "said" { // the text of the model stands above, before its call
				marks--
			}
			if marks != 1 || keys != 1 {
				t.Errorf("it looks like %d questions with %d rows of keys:\n%s", marks, keys, question)
			}
			if tt.name == "tall" { // who has seen its beginning alone cannot let it run
				s.keys("y")
				s.until("q leaves")
				s.keys("q")
				s.until("leave it open")
			}
			key := "y" // which runs nothing yet
			if tt.whole {
				key = "d"
			}
			s.keys(key)
			shown := s.pages()
			for _, text := range tt.shown {
				if !strings.Contains(shown, text) {
					t.Errorf("%q was not shown:\n%s", text, shown)
				}
			}
			s.unsteered(tt.name)
			s.keys("n")
			s.until("rejected")
			if _, err := os.Stat(filepath.Join(s.dir, "a.txt")); err == nil {
				t.Error("it was done")
			}
		})
	}
}

// pages are the details of a question, page by page where they are in a pager.
func (s *seat) pages() string {
	s.t.Helper()
	var all strings.Builder
	screen := s.awaits(func(screen string) bool {
		return strings.Contains(screen, "q leaves") || strings.Contains(screen, "  proposal  ")
	}, s.screen)
	if !strings.Contains(screen, "q leaves") {
		s.until("leave it open")
		return folded.ReplaceAllString(screen, "")
	}
	for {
		lines := strings.Split(screen, "\n")
		all.WriteString(strings.Join(lines[:len(lines)-1], "\n") + "\n")
		if strings.Contains(screen, " 100%") {
			break
		}
		s.keys(" ")
		before := screen
		if screen = s.awaits(func(screen string) bool { return screen != before && strings.Contains(screen, "q leaves") }, s.screen); screen == before {
			s.t.Fatalf("the next page does not come:\n%s", screen)
		}
	}
	s.until("all shown")
	s.keys("q")
	s.until("leave it open")
	return folded.ReplaceAllString(all.String(), "")
}

// folded is where a line goes on that was too long.
var folded = regexp.MustCompile(`\n *\+ `)
