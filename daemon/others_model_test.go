package daemon

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// seeker is somebody whose model looks for what others have. Each has a file, an entry, a run and a proposal, in which
// stands canary and the name.
type seeker struct {
	name string
	from *sdk.From // nil works at the machine
}

var seekers = []seeker{{"desk", nil}, {"ada", &sdk.From{Person: "ada"}}, {"bob", &sdk.From{Person: "bob"}}, {"garden", &sdk.From{Person: "ada", Conversation: "garden"}}}

// TestAModelFindsNothingOfOthers: the models of two persons, of a group and of whoever works at the machine, each told to find
// what the others have by each tool that it has, in each argument, by paths and by every kind of pattern. Nothing of it is
// in what they are asked, in a result, a row or an error.
func TestAModelFindsNothingOfOthers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	heard := filepath.Join(s.root, "asked-of-models")
	write(t, heard, "")
	url, end := (&parrot{heard: heard}).serve("parrot")
	t.Cleanup(end)
	s.seeks(url, nil)
	s.up()
	var all []rpc.Prompt
	for _, who := range seekers {
		has := fmt.Sprintf("calls\nwrite_file {\"path\":\"%[1]s-file\",\"content\":\"canary-%[1]s file\"}\nset {\"path\":\"known://%[1]s\",\"body\":\"canary-%[1]s entry\"}", who.name)
		asks := fmt.Sprintf("call create_directory {\"path\":\"canary-%[1]s-asked\"}", who.name)
		all = append(all, who.prompt(who.name+"-has", "full", has), who.prompt(who.name+"-asks", "careful", asks))
	}
	s.gives(url, all)
	eventually := time.Now().Add(patience)
	for len(s.waiting()) < len(seekers) {
		if <-time.After(20 * time.Millisecond); time.Now().After(eventually) {
			t.Fatalf("there wait %d proposals\n%s", len(s.waiting()), s.evidence())
		}
	}
	files, err := filepath.Glob(filepath.Join(s.root, "home/.local/state/bothy/runs/*/workspace/*-file"))
	if err != nil || len(files) != len(seekers)-1 {
		t.Fatalf("the persons have %v, %v", files, err)
	}
	places := []string{
		"**", "*://**", "known://**", "known://ada", "file://**", "log://**", "prompt://**", "run://**", "run://front_bob-has", "run://desk-has", "/can.ry-/", "//*[contains(., 'nary')]", "$..*",
		filepath.Join(s.project, "desk-file"), "../../*/workspace/*", "/workspace/../../../../../../../project/desk-file",
	}
	places = append(places, files...)
	for _, who := range seekers {
		before, err := os.ReadFile(heard)
		if err != nil {
			t.Fatal(err)
		}
		searches := who.searches(s.offers(who), places)
		s.gives(url, searches)
		text, err := os.ReadFile(heard)
		if err != nil {
			t.Fatal(err)
		}
		found := []string{string(text[len(before):])}
		calls := 0
		for _, p := range searches {
			run := p.Run
			if who.from != nil {
				run = "front_" + run
			}
			d, err := s.client.Run(t.Context(), rpc.RunRef{Run: run, Project: s.project})
			if err != nil {
				t.Fatal(err)
			}
			rows, err := s.client.Journal(t.Context(), rpc.JournalParams{Run: fmt.Sprint(d.ID), Limit: 1000})
			if err != nil {
				t.Fatal(err)
			}
			entries := s.entries(d.ID, "**")
			for _, e := range entries {
				if e.Scheme() == "log" && e.Turn > 0 {
					calls++
				}
			}
			for _, x := range []any{d, rows, entries} {
				text, err := json.Marshal(x)
				if err != nil {
					t.Fatal(err)
				}
				found = append(found, string(text))
			}
		}
		for _, other := range seekers {
			if other.name == who.name {
				continue
			}
			for _, text := range found {
				if at := strings.Index(text, "canary-"+other.name); at >= 0 {
					t.Errorf("%s finds %s: %s", who.name, other.name, text[max(0, at-600):min(len(text), at+200)])
				}
			}
		}
		if own := strings.Join(found, ""); who.from == nil && !strings.Contains(own, "canary-desk file") || calls < 8*(len(searches)-1) {
			t.Errorf("%s does not find what is there, by %d calls", who.name, calls)
		}
		t.Logf("%s: %d prompts, %d calls", who.name, len(searches), calls)
	}
}

// prompt is one of theirs.
func (w seeker) prompt(run, agent, text string) rpc.Prompt {
	p := rpc.Prompt{Run: run, Agent: agent, Prompt: text, Key: run, From: w.from}
	if w.from == nil {
		p.Key = ""
	}
	return p
}

// searches look for each place by each argument of each tool, some calls in a prompt.
func (w seeker) searches(tools map[string]property, places []string) (all []rpc.Prompt) {
	var calls []string
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		for _, argument := range slices.Sorted(maps.Keys(tools[name].Of)) {
			if !strings.Contains(fmt.Sprint(tools[name].Of[argument]), "string") {
				continue
			}
			for _, place := range places {
				arguments := map[string]any{argument: place}
				for _, needed := range tools[name].Required {
					if needed != argument {
						arguments[needed] = "x"
					}
				}
				text, err := json.Marshal(arguments)
				if err != nil {
					panic(err) // texts always marshal
				}
				calls = append(calls, name+" "+string(text))
			}
		}
	}
	for some := range slices.Chunk(calls, 8) {
		all = append(all, w.prompt(fmt.Sprintf("%s-seeks-%d", w.name, len(all)), "full", "calls\n"+strings.Join(some, "\n")))
	}
	return all
}

// offers are the tools that the model was offered which somebody's prompts ask, by their names, but for the one that asks them.
func (s *site) offers(who seeker) map[string]property {
	s.t.Helper()
	f, err := os.Open(filepath.Join(s.root, "asked-of-models"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // it was read
	offered := map[string]property{}
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadString('\n')
		var request struct {
			Tools []struct {
				Function struct {
					Name       string   `json:"name"`
					Parameters property `json:"parameters"`
				} `json:"function"`
			} `json:"tools"`
		}
		if strings.Contains(line, who.name+"-file") && json.Unmarshal([]byte(line), &request) == nil {
			for _, tool := range request.Tools {
				if tool.Function.Name != sdk.ToolAskUser {
					offered[tool.Function.Name] = tool.Function.Parameters
				}
			}
		}
		if err != nil {
			break
		}
	}
	if len(offered) < 8 {
		s.t.Fatalf("%s has the tools %v\n%s", who.name, offered, s.evidence())
	}
	return offered
}

// gives gives prompts, those of persons by the channel, and waits until the work on them is over, or waits.
func (s *site) gives(url string, prompts []rpc.Prompt) {
	s.t.Helper()
	var theirs []rpc.Prompt
	for _, p := range prompts {
		if p.From != nil {
			theirs = append(theirs, p)
			continue
		}
		p.Project = s.project
		if _, err := s.client.Act(s.t.Context(), p); err != nil {
			s.t.Fatal(err)
		}
	}
	if len(theirs) > 0 {
		s.seeks(url, theirs)
		if _, err := s.client.Reload(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(2 * patience); len(prompts) > 0; {
		p, name := prompts[0], prompts[0].Run
		if p.From != nil {
			name = "front_" + name
		}
		d, err := s.client.Run(s.t.Context(), rpc.RunRef{Run: name, Project: s.project})
		if err == nil && len(d.Loops) > 0 && d.Status != sdk.StatusRunning && d.Status != sdk.StatusQueued {
			prompts = prompts[1:]
			continue
		}
		if <-time.After(10 * time.Millisecond); time.Now().After(deadline) {
			s.t.Fatalf("the run %s has not ended: %v\n%s", name, err, s.evidence())
		}
	}
}

// seeks has a channel in the configuration that gives prompts.
func (s *site) seeks(url string, prompts []rpc.Prompt) {
	s.t.Helper()
	asks, err := json.Marshal(prompts)
	if err != nil {
		s.t.Fatal(err)
	}
	s.configure(fmt.Sprintf(`
provider "parrot" {
  plugin   = "openai"
  base_url = %q
}
agent "full" {
  model = "parrot/parrot"
  tools = ["*", "get", "set", "rm", "cp", "mv"]
  mode  = "restricted"
  max_turns          = 20
  consecutive_errors = 50
}
agent "careful" {
  model = "parrot/parrot"
  mode  = "interactive"
}
rule "writes" {
  tools    = ["write_file"]
  decision = "allow"
}
plugin "bash" {
  enabled = false
}
plugin "web" {
  enabled = false
}
plugin "front" {
  env = {
    %s = "/none"
    %s = %q
  }
  grants   = ["channel", "answers"]
  projects = [%q]
}
person "front/ada" {
  answers = true
}
person "front/bob" {
  answers = true
}
`, url, playFront, frontAsks, strings.ReplaceAll(string(asks), "${", "$${"), s.project))
}
