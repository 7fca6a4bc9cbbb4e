package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/channel"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/fact"
	"github.com/bothyd/bothy/sdk/rpc"
)

// frontSweep is the variable that has the plugin front call every method of its loan for what is remembered of others, and write
// down all that it is answered.
const frontSweep = "BOTHY_TEST_FRONT_SWEEP"

// serveSweep gives prompts of two persons and a group, waits until the file of the sweep is there, empty, and fills it.
func serveSweep(ctx context.Context, c *client.Client, access channel.Access, file string, say func(string)) error {
	for alias, from := range map[string]sdk.From{"a1": {Person: "ada"}, "b1": {Person: "bob"}, "g1": {Person: "ada", Conversation: "garden"}} {
		if _, err := c.Act(ctx, rpc.Prompt{Project: access.Projects[0], Run: alias, Key: "1", Prompt: "hello", From: &from}); err != nil {
			return err
		}
	}
	say("asked")
	for {
		switch _, err := os.Stat(file); {
		case err == nil:
			answers, err := sweep(ctx, c, access.Projects[0])
			if err == nil {
				err = os.WriteFile(file, []byte(answers), 0o600)
			}
			if err != nil {
				return err
			}
			say("swept")
			<-ctx.Done()
			return ctx.Err()
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// What a method is called with, by the names of its parameters; of those in sweepEach there is a call with each.
var (
	sweepEach = map[string][]any{
		"run":   {"here", "front_a1", "front_b1", "front_g1", "a1", "1", "2", "3", "4", "5", ""},
		"path":  {fact.Every, "f*t://**", "fact://word/1", "/fact/", "known://x"},
		"owner": {"", sdk.LocalOwner, "front/bob", "front/group/garden"},
	}
	sweepWith = map[string]any{
		"pattern": "**", "to": "known://y", "body": "canary", "query": "canary", "prompt": "hello", "from": sdk.From{Person: "ada"}, "tool": "recall",
		"arguments": json.RawMessage("{}"), "after": 0, "children": true, "limit": 100, "agent": "spoken", "file": "facts", "offset": 0,
	}
)

// sweep calls each method of the daemon's table, in every way that there is for it, and returns what came of it, a line each, the method first.
// What ends runs, and what may tell a person's own facts, comes last.
func sweep(ctx context.Context, c *client.Client, project string) (string, error) {
	var table struct {
		Methods map[string]struct {
			Params struct {
				Properties map[string]json.RawMessage
				Required   []string
			}
		}
	}
	if err := c.Call(ctx, rpc.MethodDiscover, nil, &table); err != nil {
		return "", err
	}
	late := []string{rpc.MethodCallTool, rpc.MethodReset, rpc.MethodLeave, rpc.MethodRename, rpc.MethodDelete}
	var names []string
	for name := range table.Methods {
		if name != rpc.MethodHello && !slices.Contains(late, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var answers strings.Builder
	for _, name := range append(names, late...) {
		calls := []map[string]any{{}}
		for parameter := range table.Methods[name].Params.Properties {
			values, each := sweepEach[parameter]
			if value, is := sweepWith[parameter]; is && (parameter != "body" || name == rpc.MethodEntries) {
				values, each = []any{value}, true
			}
			switch {
			case parameter == "project":
				values = []any{project, ""}
			case !each && slices.Contains(table.Methods[name].Params.Required, parameter):
				values = []any{"x"}
			case !each:
				continue
			}
			var more []map[string]any
			for _, call := range calls {
				for _, value := range values {
					next := map[string]any{parameter: value}
					for p, v := range call {
						next[p] = v
					}
					more = append(more, next)
				}
			}
			calls = more
		}
		for _, params := range calls {
			if params["run"] == "" || params["owner"] == "" || params["project"] == "" {
				for p, v := range params {
					if v == "" {
						delete(params, p)
					}
				}
			}
			within, cancel := context.WithTimeout(ctx, 5*time.Second)
			var answer json.RawMessage
			err := c.Call(within, name, params, &answer)
			cancel()
			fmt.Fprintf(&answers, "%s %v %s %v\n", name, params, answer, err)
		}
	}
	return answers.String(), nil
}

// TestFactsOverALoan: over a channel's connection, by no method of the table, is anything found of what is remembered of the terminal's, of
// another person or of a group; nor of whoever asks, but by the tool and the system text that tell their own runs.
func TestFactsOverALoan(t *testing.T) {
	t.Parallel()
	s := newSite(t, withoutSandbox)
	file := filepath.Join(s.root, "swept")
	s.configure(withoutSandbox, fmt.Sprintf(`
provider "parrot" {
  plugin   = "openai"
  base_url = %q
}
agent "spoken" {
  model = "parrot/parrot"
  tools = ["*"]
}
plugin "memory" {
  grants = ["entries", "tools", "models"]
  learn  = false
}
plugin "front" {
  env      = { %s = "/none", %s = %q }
  grants   = ["channel"]
  projects = [%q]
}
person "front/ada" {
  agent = "spoken"
}
person "front/bob" {
  agent = "spoken"
}
`, modelServer(t), playFront, frontSweep, file, s.project))
	s.up()
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	defer cancel()
	if _, err := s.client.Act(ctx, rpc.Prompt{Project: s.project, Run: "here", Agent: "spoken", Prompt: "hello"}); err != nil {
		t.Fatal(err)
	}
	s.saysFront(ctx, "asked")
	owners := map[string]string{sdk.LocalOwner: "canary-local", "front/ada": "canary-ada", "front/bob": "canary-bob", "front/group/garden": "canary-garden"}
	for owner, canary := range owners {
		f, err := fact.New("word", canary, fact.About{Source: fact.Explicit, Seen: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.client.SetEntry(ctx, rpc.Set{Owner: owner, Path: f.Path, Body: &f.Value, Attributes: f.Attributes(), Visibility: sdk.Archived}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.saysFront(ctx, "swept")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines, told := strings.Split(strings.TrimSpace(string(text)), "\n"), 0
	for _, line := range lines {
		method, _, _ := strings.Cut(line, " ")
		if strings.Contains(line, `"path":"fact://`) {
			t.Errorf("a fact: %.400s", line)
		}
		for owner, canary := range owners {
			if !strings.Contains(line, canary) {
				continue
			}
			if owner == "front/ada" && (method == rpc.MethodCallTool || strings.Contains(line, sdk.SystemTextPath(""))) { // what her own runs are told
				told++
				continue
			}
			t.Errorf("of %s: %.400s", owner, line)
		}
	}
	if len(lines) < 300 || told == 0 {
		t.Errorf("%d calls, in %d of which Ada's runs were told what is remembered of her", len(lines), told)
	}
	t.Logf("%d calls", len(lines))
	s.whole()
}

// saysFront waits until the plugin front says something.
func (s *site) saysFront(ctx context.Context, text string) {
	s.t.Helper()
	for {
		plugins, err := s.client.Plugins(ctx)
		if err != nil {
			s.t.Fatal(err)
		}
		if slices.ContainsFunc(plugins, func(p rpc.Plugin) bool { return p.Instance == "front" && strings.Contains(p.Detail, text) }) {
			return
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			s.t.Fatalf("front never says %q\n%+v\n%s", text, plugins, s.evidence())
		}
	}
}
