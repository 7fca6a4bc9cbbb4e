package answer

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/agent"
	"github.com/bothyd/bothy/daemon/internal/agent/markdown"
	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// rig answers about skills of real folders, with answers in a real store.
type rig struct {
	*Answers
	t       *testing.T
	home    string // of the configuration and the user's skills
	project string
	file    string // of the configuration
	cfg     *config.Config
	models  lookedUp
	text    string // of the project's instructions; empty when it has none
}

// lookedUp is the answer for every model.
type lookedUp struct {
	choice sdk.ModelChoice
	err    error
}

func (l lookedUp) Look(context.Context, string, bool) (sdk.ModelChoice, error) {
	return l.choice, l.err
}

func newRig(t *testing.T) *rig {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	ok(t, err)
	r := &rig{t: t, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project"), models: lookedUp{choice: sdk.ModelChoice{Alias: "m", Context: 100_000}}}
	r.file = filepath.Join(r.home, "bothy", "config.hcl")
	t.Setenv("HOME", r.home)
	t.Setenv("XDG_CONFIG_HOME", r.home)
	ok(t, os.MkdirAll(filepath.Dir(r.file), 0o700))
	ok(t, os.MkdirAll(r.project, 0o700))
	ok(t, os.WriteFile(r.file, nil, 0o600))
	r.cfg = r.load()

	log := hclog.NewNullLogger()
	entries, err := store.Open(t.Context(), filepath.Join(dir, "bothy.db"), store.Options{Log: log, Clock: time.Now})
	ok(t, err)
	p, err := entries.OpenProject(t.Context(), r.project)
	ok(t, err)
	run, err := entries.CreateRun(t.Context(), sdk.Run{Project: p.ID, Agent: "default", Model: "m"})
	ok(t, err)
	trust := NewTrust(entries, log)
	library := skill.NewLibrary(Settings(r.cfg, "", ""), skill.Options{Log: log, Changed: func(rpc.SkillsChanged) {}, Trusted: trust.Trusted, Home: r.home})
	agents := markdown.NewLibrary(func() *config.Config { return r.cfg }, markdown.Options{Log: log, Trusted: trust.TrustedAgents, Home: r.home})
	list := agent.NewLibrary(func() *config.Config { return r.cfg }, agent.Sources{Files: agents.Definitions})
	t.Cleanup(func() { ok(t, errors.Join(library.Close(), agents.Close(), entries.Close())) })
	r.Answers = New(Config{
		Log: log, Library: library, Agents: agents, Trust: trust, Models: &r.models,
		Current: func() *config.Config { return r.cfg },
		Load:    func() (string, *config.Config, error) { return r.file, r.load(), nil },
		Agent: func(project, name string) (sdk.Agent, error) {
			if d, is := list.Find(project, name); is {
				return d.Agent, nil
			}
			return sdk.Agent{}, sdk.Errorf(sdk.NotFound, "there is no agent %q", name)
		},
		Reload: func(context.Context) error {
			r.cfg = r.load()
			library.Configure(Settings(r.cfg, "", ""))
			return nil
		},
		Tools: func() []sdk.Tool {
			return []sdk.Tool{{Plugin: "files", ToolSpec: sdk.ToolSpec{Name: "read_file"}}}
		},
		Keep: func(ctx context.Context, _ string, w ...sdk.Write) error {
			_, err := entries.Commit(ctx, sdk.Change{Run: run.ID, Writes: w})
			return err
		},
		Instructions: func(string) (sdk.Instructions, int64, error) {
			if r.text == "broken" {
				return sdk.Instructions{}, 0, errors.New("it cannot be read")
			}
			return sdk.Instructions{File: "AGENTS.md", Text: r.text}, int64(len(r.text)), nil
		},
	})
	return r
}

// load reads the configuration as its file is.
func (r *rig) load() *config.Config {
	r.t.Helper()
	cfg, diags := config.Load(config.Source{Path: r.file, Getenv: func(string) (string, bool) { return "", false }, Secrets: &audit.Redactor{}})
	if cfg == nil || diags.HasErrors() {
		r.t.Fatal(diags)
	}
	cfg.Agents["default"] = sdk.Agent{Name: "default", Tools: []string{"*"}}
	return cfg
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// lay makes a skill; rest is further lines of its frontmatter. What is there is found
// when it returns.
func (r *rig) lay(root, name, rest string) string {
	r.t.Helper()
	folder := filepath.Join(root, name)
	ok(r.t, os.MkdirAll(folder, 0o700))
	ok(r.t, os.WriteFile(filepath.Join(folder, "SKILL.md"), []byte("---\nname: "+name+"\ndescription: What "+name+" is for.\n"+rest+"---\nBody of "+name+".\n"), 0o600))
	_, err := r.Skills(r.t.Context(), rpc.SkillQuery{Project: r.project, Again: true})
	ok(r.t, err)
	return folder
}

func (r *rig) users() string     { return filepath.Join(r.home, "bothy", "skills") }
func (r *rig) workspace() string { return filepath.Join(r.project, ".bothy", "skills") }

// failed reports an error of another outcome, or one that does not say want.
func failed(t *testing.T, what string, err error, outcome sdk.Outcome, want string) {
	t.Helper()
	if sdk.OutcomeOf(err) != outcome || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want %s that says %q", what, err, outcome, want)
	}
}

// TestListInfoMatch: what is there is listed, told of, and found by its words.
func TestListInfoMatch(t *testing.T) {
	r := newRig(t)
	folder := r.lay(r.users(), "review", "")
	r.lay(r.users(), "deploy", "")
	ok(t, os.WriteFile(filepath.Join(folder, "notes.md"), nil, 0o600))
	r.lay(r.workspace(), "review", "")
	names := func(q rpc.SkillQuery) []string {
		found, err := r.Skills(t.Context(), q)
		ok(t, err)
		var all []string
		for _, s := range found.Skills {
			all = append(all, s.Name+" "+string(s.Tier)+" "+string(s.Status))
		}
		return all
	}
	for _, c := range []struct {
		query rpc.SkillQuery
		want  []string
	}{
		{rpc.SkillQuery{Project: r.project}, []string{"deploy user enabled", "review workspace untrusted", "review user enabled"}},
		{rpc.SkillQuery{}, []string{"deploy user enabled", "review user enabled"}},
		{rpc.SkillQuery{Project: r.project, Status: sdk.SkillUntrusted}, []string{"review workspace untrusted"}},
		{rpc.SkillQuery{Project: r.project, Name: "deploy"}, []string{"deploy user enabled"}},
	} {
		if got := names(c.query); !slices.Equal(got, c.want) {
			t.Errorf("%+v lists %q, want %q", c.query, got, c.want)
		}
	}
	state, err := r.State(t.Context())
	if ok(t, err); state.Usable != 2 || len(state.Folders) != 3 || !state.Folders[0].Exists {
		t.Errorf("the state is %+v", state)
	}
	info, err := r.Skill(t.Context(), rpc.SkillQuery{Project: r.project, Name: "review"})
	if ok(t, err); info.Skill.Tier != sdk.TierUser || len(info.Others) != 1 || info.Body != "Body of review.\n" || !slices.Equal(info.Files, []string{"SKILL.md", "notes.md"}) {
		t.Errorf("info is %+v", info)
	}
	_, err = r.Skill(t.Context(), rpc.SkillQuery{Name: "reviw"})
	failed(t, "a name that is not there", err, sdk.NotFound, "did you mean review")
	found, err := r.Match(t.Context(), rpc.SkillMatchQuery{Query: "deploy this"})
	if ok(t, err); len(found.Matches) != 1 || found.Matches[0].Name != "deploy" || !slices.Equal(found.Matches[0].Terms, []string{"deploy"}) {
		t.Errorf("found %+v", found)
	}
	if found, err := r.Match(t.Context(), rpc.SkillMatchQuery{Query: "what", Limit: 1}); err != nil || len(found.Matches) != 1 {
		t.Errorf("of two %+v, %v", found, err)
	}
}

// TestSwitch: a skill is switched by its block, which goes when it is not needed, and
// is in force when the answer comes.
func TestSwitch(t *testing.T) {
	r := newRig(t)
	r.lay(r.users(), "one", "")
	r.lay(r.users(), "off", "enabled: false\n")
	r.lay(r.workspace(), "theirs", "enabled: false\n")
	for _, c := range []struct {
		name    string
		enabled bool
		changed bool
		note    string
		text    string // of the file, but for white space
	}{
		{"one", true, false, "", ""},
		{"one", false, true, "", `skill "one" { enabled = false }`},
		{"one", false, false, "", `skill "one" { enabled = false }`},
		{"one", true, true, "", ""},
		{"off", true, true, "", `skill "off" { enabled = true }`},
		{"off", false, true, "", ""},
		{"theirs", true, true, "it cannot be used for another reason: it came with the project", `skill "theirs" { enabled = true }`},
	} {
		got, err := r.Enable(t.Context(), rpc.SkillSwitch{Name: c.name, Enabled: c.enabled, Project: r.project})
		ok(t, err)
		text, err := os.ReadFile(r.file)
		ok(t, err)
		if got.Changed != c.changed || got.File != r.file || !strings.HasPrefix(got.Note, c.note) || (got.Note == "") != (c.note == "") || strings.Join(strings.Fields(string(text)), " ") != c.text {
			t.Errorf("%s to %v: %+v, and the file is %q", c.name, c.enabled, got, text)
		}
		if d, err := r.Skill(t.Context(), rpc.SkillQuery{Name: c.name, Project: r.project}); err != nil || c.name != "theirs" && (d.Skill.Status == sdk.SkillEnabled) != c.enabled {
			t.Errorf("%s is %s, %v", c.name, d.Skill.Status, err)
		}
	}
	_, err := r.Enable(t.Context(), rpc.SkillSwitch{Name: "none", Enabled: true})
	failed(t, "a name that is not there", err, sdk.NotFound, `no skill "none"`)
	r.Answers.cfg.Load = func() (string, *config.Config, error) { return r.file, nil, errors.New("line 3") }
	_, err = r.Enable(t.Context(), rpc.SkillSwitch{Name: "one", Enabled: false})
	failed(t, "a file that is broken", err, sdk.Validation, "mend this first:\nline 3")
}

// TestTrustAnswers: a yes is for what was shown and is in force at once; it ends when
// something changes or when it is taken back.
func TestTrustAnswers(t *testing.T) {
	r := newRig(t)
	folder := r.lay(r.workspace(), "one", "allowed-tools: Bash\n")
	r.lay(r.workspace(), "two", "")
	r.lay(r.users(), "two", "")
	broken := r.lay(r.workspace(), "broken", "")
	ok(t, os.WriteFile(filepath.Join(broken, "SKILL.md"), []byte("none"), 0o600))
	ask := func(q rpc.TrustQuery) (map[string]rpc.TrustSkill, error) {
		q.Project = r.project
		got, err := r.Trust(t.Context(), q)
		all := map[string]rpc.TrustSkill{}
		for _, s := range got.Skills {
			all[s.Skill.Name] = s
		}
		return all, err
	}
	shown, err := ask(rpc.TrustQuery{})
	ok(t, err)
	if names := slices.Sorted(maps.Keys(shown)); !slices.Equal(names, []string{"broken", "one", "two"}) {
		t.Fatalf("shown are %q", names)
	}
	if s := shown["one"]; s.Trusted || s.Hash == "" || len(s.Files) != 1 || !strings.Contains(s.Diff, "+Body of one.") {
		t.Errorf("one is %+v", s)
	}
	if s := shown["two"]; !slices.Equal(s.Hides, []string{"user"}) {
		t.Errorf("two hides %q", s.Hides)
	}
	if s := shown["broken"]; s.Hash != "" || !strings.Contains(s.Problem, "cannot be loaded") {
		t.Errorf("the broken one is %+v", s)
	}
	status := func(name string) sdk.SkillStatus {
		t.Helper()
		found, err := r.Skills(t.Context(), rpc.SkillQuery{Project: r.project, Name: name})
		ok(t, err)
		return found.Skills[0].Status
	}
	for what, c := range map[string]struct {
		query   rpc.TrustQuery
		outcome sdk.Outcome
		want    string
	}{
		"another hash":        {rpc.TrustQuery{Accept: map[string]string{"one": "0000"}}, sdk.Conflict, "is not what was shown"},
		"one of two":          {rpc.TrustQuery{Accept: map[string]string{"one": shown["one"].Hash, "two": "0000"}}, sdk.Conflict, "the skill two"},
		"a broken one":        {rpc.TrustQuery{Accept: map[string]string{"broken": "0000"}}, sdk.Conflict, "cannot be loaded"},
		"none of that name":   {rpc.TrustQuery{Accept: map[string]string{"none": "0000"}}, sdk.NotFound, "is called none"},
		"both at once":        {rpc.TrustQuery{Accept: map[string]string{"one": "0"}, Revoke: true}, sdk.Validation, "either given or taken back"},
		"instructions":        {rpc.TrustQuery{Follow: true}, sdk.Validation, "about instructions alone"},
		"what is not trusted": {rpc.TrustQuery{Revoke: true, Names: []string{"one"}}, sdk.NotFound, "is not trusted"},
		"taking back nothing": {rpc.TrustQuery{Revoke: true}, sdk.Validation, "name the skills"},
		"a name to be shown":  {rpc.TrustQuery{Names: []string{"none"}}, sdk.NotFound, "is called none"},
	} {
		_, err := ask(c.query)
		failed(t, what, err, c.outcome, c.want)
	}
	if s := status("one"); s != sdk.SkillUntrusted {
		t.Errorf("one is %s after nothing was trusted", s)
	}
	shown, err = ask(rpc.TrustQuery{Accept: map[string]string{"one": shown["one"].Hash}, Names: []string{"one"}})
	if ok(t, err); !shown["one"].Trusted || len(shown) != 1 || status("one") != sdk.SkillEnabled || status("two") != sdk.SkillUntrusted {
		t.Errorf("after a yes: %+v, one is %s", shown, status("one"))
	}
	ok(t, os.WriteFile(filepath.Join(folder, "run.sh"), []byte("#!/bin/sh\n"), 0o700))
	before := shown["one"].Hash
	shown, err = ask(rpc.TrustQuery{Names: []string{"one"}})
	if s := shown["one"]; err != nil || s.Trusted || s.Before != before || status("one") != sdk.SkillUntrusted || len(s.Files) != 2 || s.Files[1].Change != "added" || !s.Files[1].Script {
		t.Errorf("with another file: %+v, %v", s, err)
	}
	ok(t, os.Remove(filepath.Join(folder, "run.sh")))
	if shown, err = ask(rpc.TrustQuery{}); err != nil || !shown["one"].Trusted || status("one") != sdk.SkillEnabled {
		t.Errorf("as it was: %+v, %v", shown["one"], err)
	}
	if shown, err = ask(rpc.TrustQuery{Revoke: true, Names: []string{"one"}}); err != nil || shown["one"].Trusted || status("one") != sdk.SkillUntrusted {
		t.Errorf("taken back: %+v, %v", shown["one"], err)
	}
	for path, outcome := range map[string]sdk.Outcome{"relative": sdk.Validation, filepath.Join(r.project, "none"): sdk.NotFound, r.file: sdk.Validation} {
		_, err := r.Trust(t.Context(), rpc.TrustQuery{Project: path})
		failed(t, path, err, outcome, "")
	}
}

// TestInstructionsAnswers: what is said of a folder's instructions is kept beside the
// skills, a no as well.
func TestInstructionsAnswers(t *testing.T) {
	r := newRig(t)
	r.text = "Be brief."
	ask := func(q rpc.TrustQuery) (rpc.TrustInstructions, error) {
		q.Project, q.Instructions = r.project, true
		got, err := r.Trust(t.Context(), q)
		return got.Instructions, err
	}
	for _, c := range []struct {
		query             rpc.TrustQuery
		trusted, answered bool
	}{{rpc.TrustQuery{}, false, false}, {rpc.TrustQuery{Follow: true}, true, true}, {rpc.TrustQuery{}, true, true}, {rpc.TrustQuery{Revoke: true}, false, true}} {
		got, err := ask(c.query)
		if ok(t, err); got.Trusted != c.trusted || got.Answered != c.answered || got.Text != r.text || got.File != "AGENTS.md" || got.Size != 9 {
			t.Errorf("%+v: %+v", c.query, got)
		}
		if follows := r.Answers.cfg.Trust.Follows(r.project); follows != c.trusted {
			t.Errorf("%+v: they are followed: %v", c.query, follows)
		}
	}
	_, err := ask(rpc.TrustQuery{Follow: true, Revoke: true})
	failed(t, "both", err, sdk.Validation, "either given or taken back")
	_, err = ask(rpc.TrustQuery{Names: []string{"x"}})
	failed(t, "a skill", err, sdk.Validation, "names no skill")
	r.text = "broken"
	if got, err := ask(rpc.TrustQuery{}); err != nil || got.Problem != "it cannot be read" {
		t.Errorf("what cannot be read is %+v, %v", got, err)
	}
	if all, err := r.Trust(t.Context(), rpc.TrustQuery{Project: r.project}); err != nil || all.Instructions.Text != "" {
		t.Errorf("with the skills: %+v, %v", all.Instructions, err)
	}
}

// TestExplainResolves: the model decides about the room, the agent about the tools, and
// what is not there is told.
func TestExplainResolves(t *testing.T) {
	r := newRig(t)
	r.lay(r.users(), "one", "tools_required: [Read, teleport]\n")
	first := func(q rpc.SkillExplainQuery) (rpc.SkillExplain, string) {
		t.Helper()
		q.Name = "one"
		x, err := r.Explain(t.Context(), q)
		ok(t, err)
		return x, strings.Join(x.Reasons, "\n")
	}
	if x, why := first(rpc.SkillExplainQuery{}); !x.InPrompt || !strings.Contains(why, "with its whole description") || !strings.Contains(why, "(tools_required): teleport;") || !strings.Contains(why, "8000 characters") {
		t.Errorf("%+v", x)
	}
	r.models = lookedUp{err: errors.New("nothing is configured.\nmore")}
	if x, why := first(rpc.SkillExplainQuery{}); !x.InPrompt || !strings.Contains(why, "assumed because there is no model (nothing is configured)") {
		t.Errorf("%+v", x)
	}
	if _, err := r.Explain(t.Context(), rpc.SkillExplainQuery{Name: "one", Model: "none"}); !errors.Is(err, r.models.err) {
		t.Errorf("a model that is not there: %v", err)
	}
	no := false
	r.models = lookedUp{choice: sdk.ModelChoice{Alias: "m", Tools: &no}}
	if x, why := first(rpc.SkillExplainQuery{}); x.InPrompt || !strings.HasPrefix(why, "The model m cannot call tools") {
		t.Errorf("%+v", x)
	}
	file := filepath.Join(filepath.Dir(r.file), "agents", "narrow.md")
	ok(t, os.MkdirAll(filepath.Dir(file), 0o700))
	ok(t, os.WriteFile(file, []byte("---\nname: narrow\ndescription: Reads.\nskills: [two]\n---\nYou read.\n"), 0o600))
	r.models = lookedUp{choice: sdk.ModelChoice{Alias: "m", Context: 100_000}}
	ok(t, r.Answers.cfg.Agents.Check(t.Context(), r.project))
	if x, why := first(rpc.SkillExplainQuery{Project: r.project, Agent: "narrow"}); x.InPrompt || !strings.Contains(why, `Agent "narrow" may use only the skills`) {
		t.Errorf("of an agent in a file: %+v", x)
	}
	_, err := r.Explain(t.Context(), rpc.SkillExplainQuery{Name: "one", Agent: "nobody"})
	failed(t, "an agent that is not there", err, sdk.NotFound, `no agent "nobody"`)
}

// TestSettingsFolders: a person's own folder goes before those of other agents, which
// the configuration can leave out, and the bundled ones come last.
func TestSettingsFolders(t *testing.T) {
	r := newRig(t)
	s := Settings(r.cfg, "/bundled", "")
	var paths []string
	for _, f := range s.Folders {
		paths = append(paths, strings.TrimPrefix(f.Path, r.home))
	}
	if want := []string{"/bothy/skills", "/.agents/skills", "/.claude/skills", "/bundled"}; !slices.Equal(paths, want) {
		t.Errorf("the folders are %q, want %q", paths, want)
	}
	if want := []string{".bothy/skills", ".agents/skills", ".claude/skills"}; !slices.Equal(s.Workspace, want) {
		t.Errorf("of a workspace %q, want %q", s.Workspace, want)
	}
	ok(t, os.WriteFile(r.file, []byte("skills {\n  agents  = false\n  claude  = false\n  bundled = false\n}\n"), 0o600))
	if s = Settings(r.load(), "/bundled", ""); len(s.Folders) != 1 || len(s.Workspace) != 1 {
		t.Errorf("left are %+v", s)
	}
}
