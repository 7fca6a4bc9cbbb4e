package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

// press presses keys by their names.
func press(c *conversation, names ...string) {
	for _, name := range names {
		c.Update(pressed(name))
	}
}

// questioned has a question stand there whose keys count.
func questioned(c *conversation) {
	a := &timeline.Action{}
	a.State = sdk.StateProposed
	c.Update(asked{a, sdk.Proposal{ID: "x", Hash: "h", Tool: "bash", Command: "ls", State: sdk.StateProposed}, nil})
	c.guard.counts = true
}

// TestDraft: what was typed and is nowhere else is the draft, however one leaves.
func TestDraft(t *testing.T) {
	long := strings.Repeat("precious line\n", 30)
	for _, tt := range []struct {
		name string
		do   func(c *conversation)
		want string
	}{
		{"what is not sent yet", func(c *conversation) {
			c.Update(tea.PasteMsg{Content: long})
			press(c, "enter")
			c.prompt("two")
			typeInto(c, "begun")
			c.quit()
		}, long + "\ntwo\nbegun"},
		{"with a byte that nobody types", func(c *conversation) {
			c.Update(tea.PasteMsg{Content: "begun\x00and an hour of writing"})
		}, "begun\x00and an hour of writing"},
		{"with such a byte, under way", func(c *conversation) {
			c.prompt("begun\x00and more of it")
		}, "begun\x00and more of it"},
		{"what was sent", func(c *conversation) {
			c.inRun()
			c.prompt("one")
			c.Update(draftDue{})
			c.Update(delivered{c.entered, accepted{"one", rpc.Accepted{Run: "r", ID: 1}, nil}})
		}, ""},
		{"what the daemon has, though its answer was not heard", func(c *conversation) {
			c.prompt("one")
			c.prompt("two")
			c.sends = func() tea.Msg { return accepted{"one", rpc.Accepted{Run: "r", ID: 1}, nil} }
		}, "two"},
		{"what the daemon does not take", func(c *conversation) {
			c.prompt("one")
		}, "one"},
		{"ctrl-c at a question", func(c *conversation) {
			typeInto(c, "begun")
			questioned(c)
			press(c, "ctrl+c", "ctrl+c")
		}, "begun"},
		{"ctrl-c in a reason", func(c *conversation) {
			typeInto(c, "begun")
			questioned(c)
			press(c, "r", "x", "ctrl+c", "esc")
		}, "begun"},
		{"a mark below a reason", func(c *conversation) {
			c.Update(tea.PasteMsg{Content: long})
			questioned(c)
			press(c, "r", "x")
		}, long},
		{"begun before an older one", func(c *conversation) {
			c.typed.add("older")
			typeInto(c, "begun")
			press(c, "up")
		}, "begun"},
		{"nothing before an older one", func(c *conversation) {
			c.typed.add("older")
			press(c, "up")
		}, ""},
		{"an older one that was changed", func(c *conversation) {
			c.typed.add("older")
			typeInto(c, "begun")
			press(c, "up")
			typeInto(c, "!")
		}, "begun\nolder!"},
		{"back from an older one", func(c *conversation) {
			c.typed.add("older")
			typeInto(c, "begun")
			press(c, "up", "down")
		}, "begun"},
	} {
		c := alone(t, 80, 24)
		tt.do(c)
		c.leave()
		if got := openDraft(c.o.state, c.o.project).saved; got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestDrafts: terminals of a project have a draft each. What one left that is gone, killed or
// not, is taken over by one other, and nothing else of it stays.
func TestDrafts(t *testing.T) {
	for _, tt := range []struct {
		name string
		gone func(d *draft)
	}{
		{"killed", func(d *draft) { d.unlock() }},
		{"left", (*draft).leave},
	} {
		state := filepath.Join(t.TempDir(), "terminal")
		a, b, other := openDraft(state, "/p"), openDraft(state, "/p"), openDraft(state, "/q")
		a.save("an hour of writing")
		b.save("x")
		b.save("")
		other.save("of another project")
		next := openDraft(state, "/p")
		if next.leave(); next.saved != "" {
			t.Errorf("%s: %q is taken from a terminal that is there", tt.name, next.saved)
		}
		tt.gone(&a)
		tt.gone(&b)
		c, d := openDraft(state, "/p"), openDraft(state, "/p")
		if c.saved != "an hour of writing" || d.saved != "" {
			t.Errorf("%s: the next has %q, the one behind it %q", tt.name, c.saved, d.saved)
		}
		if text, err := os.ReadFile(c.file); err != nil || string(text) != c.saved {
			t.Errorf("%s: it is killed at once, and its file has %q, %v", tt.name, text, err)
		}
		if info, err := os.Stat(c.file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", tt.name, info, err)
		}
		c.save("")
		c.leave()
		d.leave()
		other.save("")
		other.leave()
		if files, err := os.ReadDir(state); err != nil || len(files) != 0 {
			t.Errorf("%s: there are %v still, %v", tt.name, files, err)
		}
	}
}

// TestDraftOfAKilledTerminal: what was under way when the terminal was killed stands in the
// input of the next one, and goes out under the key that it had, unless it is meant anew.
func TestDraftOfAKilledTerminal(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(c *conversation)
		has  bool
	}{
		{"sent as it stands there", func(c *conversation) { press(c, "enter") }, true},
		{"sent twice", func(c *conversation) { press(c, "enter", "o", "n", "e", "enter") }, false},
		{"typed anew", func(c *conversation) { press(c, "ctrl+u", "o", "n", "e", "enter") }, false},
		{"changed", func(c *conversation) { press(c, "!", "enter") }, false},
	} {
		killed := alone(t, 80, 24)
		killed.prompt("one")
		key := killed.outbox[0].prompt.Key
		killed.drafted.unlock()
		c := newConversation(t.Context(), killed.o, nil)
		if c.in.text() != "one" || key == "" {
			t.Fatalf("the input has %q, the key was %q", c.in.text(), key)
		}
		tt.do(c)
		if got := c.outbox[len(c.outbox)-1].prompt; (got.Key == key) != tt.has || got.Key == "" {
			t.Errorf("%s: %q goes out under %q, it had %q", tt.name, got.Prompt, got.Key, key)
		}
		c.drafted.leave()
	}
}

// TestDraftsLeft: of several the last comes first, and what an older version left comes, too.
func TestDraftsLeft(t *testing.T) {
	state := t.TempDir()
	base := filepath.Join(state, "draft-"+projectName("/p"))
	for name, age := range map[string]time.Duration{"": 3, "-7.0": 1, "-8.0": 2} {
		if err := os.WriteFile(base+name, []byte("text"+name), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age * time.Hour)
		if err := os.Chtimes(base+name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"text-7.0", "text-8.0", "text", ""} {
		if d := openDraft(state, "/p"); d.saved != want {
			t.Errorf("it begins with %q, want %q", d.saved, want)
		} else {
			defer d.leave()
		}
	}
}

// TestDraftIsLong: what is longer than a prompt may be is there again whole.
func TestDraftIsLong(t *testing.T) {
	c := alone(t, 80, 24)
	text := strings.Repeat("x", mostInput) + "\n" + strings.Repeat("y", mostInput)
	c.drafted.save(text)
	c.drafted.leave()
	if next := newConversation(t.Context(), c.o, nil); next.in.text() != text {
		t.Errorf("of %d bytes %d are there", len(text), len(next.in.text()))
	}
}
