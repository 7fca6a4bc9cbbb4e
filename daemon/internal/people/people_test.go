package people

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy"
	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// over is People over a file with a text.
func over(t *testing.T, text string) (p *People, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "config.hcl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	load := func() (string, *config.Config, error) {
		cfg, diags := config.Load(config.Source{
			Defaults: bothy.DefaultConfig, DefaultsName: bothy.DefaultConfigName, Path: path, Required: true, Secrets: &audit.Redactor{},
			Getenv: func(string) (string, bool) { return "", false },
		})
		if cfg == nil {
			return path, nil, diags
		}
		return path, cfg, nil
	}
	_, live, err := load()
	if err != nil {
		live = &config.Config{}
	}
	return &People{Current: func() *config.Config { return live }, Load: load, Reload: func(context.Context) error {
		_, cfg, err := load()
		if err == nil {
			live = cfg
		}
		return err
	}}, path
}

// TestAddAndRemove: what is written is in force, and nothing else of the file is another.
func TestAddAndRemove(t *testing.T) {
	const before = "# mine\nplugin \"chat\" {} # the bot\nplugin \"mail\" {}\n\nperson \"chat/12\" {\n  name = \"Ada\" # Lovelace\n}\n"
	p, path := over(t, before)
	eve := rpc.PersonAdd{Channel: "chat", Person: "@eve:a/${b}", Name: "Eve \"%{x}\""}
	for name, c := range map[string]struct {
		add  rpc.PersonAdd
		want sdk.Outcome
	}{
		"no such channel":   {rpc.PersonAdd{Channel: "other", Person: "1"}, sdk.NotFound},
		"nobody":            {rpc.PersonAdd{Channel: "chat"}, sdk.Validation},
		"a hidden name":     {rpc.PersonAdd{Channel: "chat", Person: "1\u200b"}, sdk.Validation},
		"who says another":  {rpc.PersonAdd{Channel: "chat", Person: "12", Name: "Bob"}, sdk.Conflict},
		"who says the same": {rpc.PersonAdd{Channel: "chat", Person: "12", Name: "Ada"}, ""},
	} {
		if got, err := p.Add(t.Context(), c.add); sdk.OutcomeOf(err) != c.want && !(c.want == "" && err == nil) || got.Changed {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if text, _ := os.ReadFile(path); string(text) != before {
		t.Fatalf("the file is\n%s", text)
	}
	if got, err := p.Add(t.Context(), eve); err != nil || !got.Changed || got.ID != sdk.PersonID("chat", eve.Person) || got.File != path {
		t.Errorf("%+v, %v", got, err)
	}
	if found, known := p.Person(sdk.PersonID("chat", eve.Person)); !known || found.Name != eve.Name {
		t.Errorf("she is %+v, %v", found, known)
	}
	list := p.List("chat")
	if len(list) != 2 || list[0].Called != "12" || list[1].Called != eve.Person || list[1].Channel != "chat" || len(p.List("mail")) != 0 || len(p.List("")) != 2 {
		t.Errorf("they are %+v", list)
	}
	if _, err := p.Remove(t.Context(), rpc.PersonRef{Channel: "chat", Person: eve.Person}); err != nil {
		t.Error(err)
	}
	if text, _ := os.ReadFile(path); string(text) != before {
		t.Errorf("the file is\n%s", text)
	}
	if _, err := p.Remove(t.Context(), rpc.PersonRef{Channel: "chat", Person: eve.Person}); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("once more: %v", err)
	}
}

// TestLearning: of whom, of which agent and in which project nothing is learned is written into the block of the memory, and taken out.
func TestLearning(t *testing.T) {
	const before = "# mine\nplugin \"memory\" {\n  grants = [\"entries\"] # all\n}\n"
	p, path := over(t, before)
	for i, c := range []struct {
		x    rpc.Learning
		want string // that the file has
	}{
		{rpc.Learning{Owner: sdk.LocalOwner}, "  not_people = [\"local\"]\n"},
		{rpc.Learning{Owner: "chat/12"}, "  not_people = [\"local\", \"chat/12\"]\n"},
		{rpc.Learning{Agent: "quiet"}, "  not_agents = [\"quiet\"]\n"},
		{rpc.Learning{Folder: "/a b"}, "  not_projects = [\"/a b\"]\n"},
		{rpc.Learning{Owner: sdk.LocalOwner, Learn: true}, "  not_people = [\"chat/12\"]\n"},
	} {
		for _, changed := range []bool{true, false} {
			if got, err := p.Learning(t.Context(), c.x); err != nil || got.Changed != changed || got.File != path {
				t.Errorf("%d: %+v, %v", i, got, err)
			}
		}
		if text, _ := os.ReadFile(path); !strings.Contains(string(text), c.want) || !strings.Contains(string(text), "] # all\n") {
			t.Errorf("%d: the file is\n%s", i, text)
		}
	}
	for _, x := range []rpc.Learning{{}, {Owner: "a", Agent: "b"}, {Folder: "a"}} {
		if _, err := p.Learning(t.Context(), x); sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("%+v: %v", x, err)
		}
	}
	without, _ := over(t, "# none\n")
	if _, err := without.Learning(t.Context(), rpc.Learning{Agent: "quiet"}); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("without the block: %v", err)
	}
}

// TestNothingIsWrittenIntoABrokenFile, whose other blocks nobody would look at.
func TestNothingIsWrittenIntoABrokenFile(t *testing.T) {
	const broken = "plugin \"chat\" {\n"
	p, path := over(t, broken)
	if _, err := p.Add(t.Context(), rpc.PersonAdd{Channel: "chat", Person: "1"}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("it was added: %v", err)
	}
	if _, err := p.Remove(t.Context(), rpc.PersonRef{Channel: "chat", Person: "1"}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("it was removed: %v", err)
	}
	if text, _ := os.ReadFile(path); string(text) != broken {
		t.Errorf("the file is\n%s", text)
	}
}
