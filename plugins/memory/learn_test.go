package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/fact"
)

const nameAnswer = `{"facts":[{"key":"name","value":"is called Ada","quote":"my name is Ada"}]}`

// TestReadingAnswers: JSON is read in a fence and between words, what is no fact is passed over, and what is no answer has none.
func TestReadingAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		keys   string
	}{
		"plain":           {nameAnswer, "name"},
		"fenced":          {"```json\n" + nameAnswer + "\n```", "name"},
		"between words":   {"Here {is} what I found: " + nameAnswer + " I hope that helps {you}.", "name"},
		"prose":           {"There is nothing to note.", ""},
		"no facts":        {`{"notes":[]}`, ""},
		"facts of a kind": {`{"facts":"none"}`, ""},
		"bad items":       {`{"facts":[1,null,"x",{"key":"a"},{"value":"b"},{"key":2,"value":"b"},{"key":"k","value":"v"},[]]}`, "k"},
		"cut off":         {`{"facts":[{"key":"a","value":"b"`, ""},
		"empty":           {"", ""},
		"braces":          {strings.Repeat("{", 100_000), ""},
	} {
		var keys []string
		for _, x := range readAnswer(c.answer) {
			keys = append(keys, x.Key)
		}
		if got := strings.Join(keys, " "); got != c.keys {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// FuzzReadAnswer: whatever a model answers is read without a panic, and each fact of it has a key and a value.
func FuzzReadAnswer(f *testing.F) {
	f.Add(nameAnswer)
	f.Add("```\n{\"facts\":[{}]}\n```{{")
	f.Fuzz(func(t *testing.T, text string) {
		for _, x := range readAnswer(text) {
			if x.Key == "" || x.Value == "" {
				t.Errorf("%+v", x)
			}
		}
	})
}

// TestLearning: what is learned has its quote in what the person said, and in nothing that was given along or came from a plugin, an
// agent, a page; and only once for each rest.
func TestLearning(t *testing.T) {
	const said = "Hello, my name is Ada. I live in  Utrecht.\nUse password hunter2."
	const along = "\n\nStandard input:\nI live in Delft."
	answer := func(quote string) string {
		return `{"facts":[{"key":"town","value":"lives there","quote":"` + quote + `"}]}`
	}
	for name, c := range map[string]struct {
		change  func(*desk, *sdk.Rest)
		answer  string
		refused error
		want    string
		unasked bool
		fails   bool
	}{
		"a quote":                      {answer: answer("I live in Utrecht"), want: "town: lives there (auto)"},
		"no quote":                     {answer: answer("")},
		"a quote of nobody":            {answer: answer("I live in Rome")},
		"a quote of what came along":   {answer: answer("I live in Delft")},
		"the assistant's words":        {answer: answer("What the person wrote")},
		"a secret":                     {answer: `{"facts":[{"key":"password","value":"is hunter2","quote":"my name is Ada"}]}`},
		"a secret that is hidden":      {answer: `{"facts":[{"key":"password","value":"is [secret]","quote":"my name is Ada"}]}`},
		"a secret as its key":          {answer: `{"facts":[{"key":"hunter2","value":"is theirs","quote":"my name is Ada"}]}`},
		"too long":                     {answer: `{"facts":[{"key":"` + strings.Repeat("k", 65) + `","value":"v","quote":"my name is Ada"}]}`},
		"off":                          {change: func(d *desk, _ *sdk.Rest) { d.m.block.Learn = false }, unasked: true},
		"a run without memory":         {change: func(_ *desk, r *sdk.Rest) { r.Run.NoMemory = true }, unasked: true},
		"not of this agent":            {change: func(d *desk, _ *sdk.Rest) { d.m.block.Agents = []string{"quiet"} }, unasked: true},
		"not to this agent":            {change: func(d *desk, _ *sdk.Rest) { d.m.block.Agents = []string{"hushed"} }, unasked: true},
		"not of this owner":            {change: func(d *desk, _ *sdk.Rest) { d.m.block.People = []string{sdk.LocalOwner} }, unasked: true},
		"not in this project":          {change: func(d *desk, _ *sdk.Rest) { d.m.block.Projects = []string{"/secret"} }, unasked: true},
		"of no prompt that is there":   {change: func(_ *desk, r *sdk.Rest) { r.From, r.To = 7, 9 }, unasked: true},
		"of a plugin's prompt":         {change: func(_ *desk, r *sdk.Rest) { r.From, r.To = 2, 2 }, unasked: true},
		"no model now":                 {refused: sdk.Errorf(sdk.Unavailable, "later"), fails: true},
		"no model that may be asked":   {refused: sdk.Errorf(sdk.Permission, "never")},
		"a run that read from outside": {change: func(d *desk, _ *sdk.Rest) { d.refuse, d.rests, d.said = true, true, said }, answer: answer("I live in Utrecht"), want: "town: lives there (auto)"},
		"where nothing is allowed":     {change: func(d *desk, _ *sdk.Rest) { d.refuse = true }, answer: answer("I live in Utrecht")},
	} {
		d := newDesk(t)
		d.m.block.Learn = true
		s := d.as(sdk.LocalOwner)
		s.prompt(1, said+along, len(said))
		s.prompt(2, "my name is Eve", 0)
		run := s.run()
		run.Agent = "quiet"
		rest := sdk.Rest{ID: "r-1", Run: run, Project: "/secret", From: 1, To: 2}
		if c.change != nil {
			c.change(d, &rest)
		}
		asked := 0
		d.model = func(req sdk.Request) (string, error) {
			asked++
			if text := req.Messages[len(req.Messages)-1].Text; strings.Contains(text, "Delft") || strings.Contains(text, "Eve") || req.Temperature == nil {
				t.Errorf("%s: the model is asked with %s", name, text)
			}
			return c.answer, c.refused
		}
		for range 2 { // as it may be told twice
			if err := d.m.rested(s.ctx(), rest); (err != nil) != c.fails {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got := strings.Join(s.facts(), ", "); got != c.want {
			t.Errorf("%s: learned %q", name, got)
		}
		if again := c.refused != nil; !c.unasked && !again && asked != 1 || c.unasked && asked != 0 {
			t.Errorf("%s: a model was asked %d times", name, asked)
		}
	}
}

// TestOwnersLeftOut: an owner is meant by the label of a person's block, and as the daemon writes it.
func TestOwnersLeftOut(t *testing.T) {
	m := newMemory()
	m.block = block{Learn: true, People: []string{"chat/zoë", "chat/group/12"}}
	for owner, learns := range map[string]bool{"chat/zo%C3%AB": false, "chat/zoe": true, "chat/group/12": false, "chat/12": true, sdk.LocalOwner: true} {
		if m.learns(sdk.Rest{Run: sdk.Run{Origin: sdk.Origin{Owner: owner}}}) != learns {
			t.Errorf("of %s something is learned: %t", owner, !learns)
		}
	}
}

// TestFoldersOfProjects: a folder counts however its path is written, and one that could fit no project is refused.
func TestFoldersOfProjects(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	real := sdk.WithoutLinks(t.TempDir())
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	m := newMemory()
	m.block = block{Learn: true, Projects: []string{"/secret/", link}}
	if err := m.configure(t.Context(), sdk.Settings{}); err != nil {
		t.Fatal(err)
	}
	for root, learns := range map[string]bool{"/secret": false, real: false, "/secrets": true, "": true} {
		if m.learns(sdk.Rest{Project: root}) != learns {
			t.Errorf("in %q something is learned: %t", root, !learns)
		}
	}
	for _, root := range []string{"~/secret", "secret", ""} {
		m.block.Projects = []string{root}
		if err := m.configure(t.Context(), sdk.Settings{}); sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("%q is taken: %v", root, err)
		}
	}
}

// TestLearnedBeside: what somebody said is to be remembered stays theirs, and the model is told which keys there are.
func TestLearnedBeside(t *testing.T) {
	d := newDesk(t)
	d.m.block.Learn = true
	s := d.as(sdk.LocalOwner)
	s.use("remember", `{"key":"Name","value":"is called Ada"}`)
	s.prompt(1, "my name is Ada", 14)
	d.model = func(req sdk.Request) (string, error) {
		if !strings.Contains(req.Messages[0].Text, "Keys that are there: Name") {
			return "", errors.New("it is not told of the key")
		}
		return nameAnswer, nil
	}
	first := s.told()
	if err := d.m.rested(s.ctx(), sdk.Rest{ID: "r-1", Run: s.run(), From: 1, To: 1}); err != nil {
		t.Fatal(err)
	}
	if got := s.facts(); !slices.Equal(got, []string{"Name: is called Ada (explicit)"}) {
		t.Errorf("kept are %q", got)
	}
	if s.told() != first {
		t.Error("it is told otherwise after a rest from which nothing was learned")
	}
	if _, is := fact.Of(s.entries[s.owner]["learned://r-1"]); is {
		t.Error("a mark is a fact")
	}
}

// TestForgottenIsNotLearned: what a person takes back is not learned again from words that they wrote before, and is from new ones.
func TestForgottenIsNotLearned(t *testing.T) {
	d := newDesk(t)
	d.m.block.Learn = true
	s := d.as(sdk.LocalOwner)
	d.model = func(sdk.Request) (string, error) { return nameAnswer, nil }
	s.prompt(1, "my name is Ada", 14)
	s.use("remember", `{"key":"name","value":"is Ada"}`)
	s.use("forget", `{"key":"NAME"}`)
	for n := 1; n <= 2; n++ {
		if n == 2 {
			s.prompt(2, "my name is Ada", 14)
			e := s.entries[s.owner]["prompt://2"]
			e.Created = time.Now().Add(time.Hour)
			s.entries[s.owner]["prompt://2"] = e
		}
		if err := d.m.rested(s.ctx(), sdk.Rest{ID: fmt.Sprint("r-", n), Run: s.run(), From: n, To: n}); err != nil {
			t.Fatal(err)
		}
		if got := s.facts(); len(got) != n-1 {
			t.Errorf("after prompt %d: %q", n, got)
		}
	}
}

// prompt gives the run a prompt, of which a person said the beginning.
func (s *seat) prompt(n int, text string, said int) {
	path := fmt.Sprintf("prompt://%d", n)
	s.entries[s.owner][path] = sdk.Entry{Path: path, Body: text, Attributes: fmt.Appendf(nil, `{"said":%d,"agent":"hushed"}`, said), Scope: "run:1"}
}
