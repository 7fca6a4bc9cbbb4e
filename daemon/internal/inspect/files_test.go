package inspect

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// house is a configuration on disk, with a store and the daemon's data.
type house struct {
	t           *testing.T
	file        string
	store, data string
}

const bundledBlock = "plugin \"bundled\" {}\n"

func newHouse(t *testing.T, text string) *house {
	t.Helper()
	store, _ := stored(t)
	h := &house{t: t, file: filepath.Join(t.TempDir(), "config.hcl"), store: store, data: t.TempDir()}
	h.write(text)
	return h
}

func (h *house) write(text string) {
	h.t.Helper()
	if err := os.WriteFile(h.file, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// files reads the configuration as it is now, as each command does.
func (h *house) files() *Files {
	h.t.Helper()
	load := func(defaults, path string) (*config.Config, error) {
		cfg, diags := config.Load(config.Source{Defaults: []byte(defaults), DefaultsName: "defaults", Path: path, Getenv: os.LookupEnv, Secrets: noSecrets{}})
		if cfg == nil || diags.HasErrors() {
			return nil, diags
		}
		return cfg, nil
	}
	cfg, err := load(bundledBlock, h.file)
	if err != nil {
		h.t.Fatal(err)
	}
	defaults, err := load(bundledBlock, "")
	if err != nil {
		h.t.Fatal(err)
	}
	return &Files{
		Path: h.file, Config: cfg, Defaults: defaults, Redact: func(s string) string { return strings.ReplaceAll(s, "hidden", "***") },
		Inspector: New(Config{Log: quiet, Installed: h.store, DataDir: h.data, Libexec: filepath.Dir(faultBinary)}),
		Check: func() error {
			_, err := load(bundledBlock, h.file)
			return err
		},
	}
}

// install installs a plugin's file, and answers nothing.
func (h *house) install(path, label string, grants, sets []string, open Opening) (Installation, error) {
	h.t.Helper()
	f := h.files()
	in, err := f.Store(h.t.Context(), path, label, grants, sets, open, false)
	if err == nil {
		err = f.Configure(&in)
	}
	return in, err
}

func (h *house) text() string {
	h.t.Helper()
	text, err := os.ReadFile(h.file)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(text)
}

func (h *house) locked() []string {
	h.t.Helper()
	lock, err := config.ReadLock(config.LockPath(h.file))
	if err != nil {
		h.t.Fatal(err)
	}
	var labels []string
	for label := range lock.Plugins {
		labels = append(labels, label)
	}
	slices.Sort(labels)
	return labels
}

// kept are the files of the daemon's data and of the store.
func (h *house) kept() []string {
	h.t.Helper()
	all, err := filepath.Glob(filepath.Join(h.data, "*", "*"))
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(h.store, "sha256")); err == nil {
		all = append(all, left(h.t, h.store)...)
	}
	return all
}

// manifest is a script that declares this, in JSON, beside its name.
func manifest(name, more string) string {
	return "#!/bin/sh\ncat <<'END'\n{\"name\": \"" + name + "\", \"version\": \"1\", \"protocol\": 1, \"kinds\": [\"tool\"]" + more + "}\nEND\n"
}

const needy = `, "config": {"attributes": [{"name": "keep", "type": "list(string)", "required": true, "doc": "Patterns."}, {"name": "depth", "type": "number"}]}`

// TestInstallAndRemove: what installing makes, removing takes: nothing is left, and the
// configuration is byte for byte what it was.
func TestInstallAndRemove(t *testing.T) {
	const mine = "# what I wrote\nplugin \"other\" { # mine\n  path = \"/nowhere/other\"\n}\n"
	for name, path := range map[string]string{"a file": laid(t, "theirs", manifest("mine", "")), "a bundle": bundleOf(t, faultBundle)} {
		h := newHouse(t, mine)
		in, err := h.install(path, "mine", []string{"entries"}, nil, Opening{Network: true, Paths: []string{"~/notes"}})
		if err != nil {
			t.Fatal(err)
		}
		if in.Config != h.file || strings.HasSuffix(in.Note, "copy it from "+in.Path) != (name == "a bundle") || in.Kind != "plugin" || !slices.Equal(h.locked(), []string{"mine"}) {
			t.Errorf("%s: %+v %q", name, in, in.Note)
		}
		b, kind, there := h.files().labelled("mine")
		if !there || kind != "plugin" || b.SHA256 != in.Digest || b.Path != in.Path || !slices.Equal(b.Grants, []string{"entries"}) || b.Confine == nil || !b.Confine.Network || !strings.HasPrefix(h.text(), mine) || !strings.Contains(h.text(), in.Block) {
			t.Errorf("%s: %+v in %s", name, b, h.text())
		}
		found, err := h.files().Verify([]string{"mine"})
		if err != nil || len(found) != 1 || found[0].Problem != "" || found[0].Pin != PinBlock || found[0].Origin != "store" {
			t.Errorf("%s: %+v %v", name, found, err)
		}
		info, err := h.files().Info(t.Context(), "mine")
		if err != nil || info.Manifest.Name == "" || len(info.Drift) != 0 || info.File.Digest != in.Digest || !slices.Equal(info.Grants, []string{"entries"}) {
			t.Errorf("%s: %+v %v", name, info, err)
		}
		home := filepath.Join(h.data, "confined", "mine")
		if err := errors.Join(os.MkdirAll(filepath.Join(home, "home", "sub"), 0o700), os.WriteFile(filepath.Join(home, "home", "sub", "x"), nil, 0o400), os.Chmod(filepath.Join(home, "home", "sub"), 0o500)); err != nil {
			t.Fatal(err)
		}
		no := errors.New("no")
		was := []any{h.text(), h.kept(), h.locked()}
		_, err = h.files().Remove("mine", false, func() error { return no }, func() { t.Error("it was let go") })
		if is := []any{h.text(), h.kept(), h.locked()}; !errors.Is(err, no) || !reflect.DeepEqual(is, was) {
			t.Errorf("%s: after a no %v, and %v in the place of %v", name, err, is, was)
		}
		out, err := h.files().Remove("mine", false, yes, func() {})
		if err != nil || out.Config != h.file || out.Disabled || !out.Unlocked || !slices.Equal(out.Deleted, []string{in.Path}) || out.Home != home || out.Note != "" {
			t.Errorf("%s: %+v %v", name, out, err)
		}
		if h.text() != mine || len(h.locked()) != 0 || len(h.kept()) != 0 {
			t.Errorf("%s: left %v, %s", name, h.kept(), h.text())
		}
		if _, err := h.files().Remove("mine", false, yes, func() {}); sdk.OutcomeOf(err) != sdk.NotFound || !strings.Contains(err.Error(), "no plugin or provider is called mine; there are: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func yes() error { return nil }

// TestInstallRefused: what cannot be a block of this configuration is said before anything
// is changed, and leaves nothing.
func TestInstallRefused(t *testing.T) {
	plain := laid(t, "plain", manifest("plain", ""))
	provider := laid(t, "provider", strings.Replace(manifest("plain", ""), `"tool"`, `"provider"`, 1))
	for name, c := range map[string]struct {
		path, label  string
		grants, sets []string
		open         Opening
		outcome      sdk.Outcome
		want         string
	}{
		"of Bothy":      {laid(t, "x", manifest("bundled", "")), "", nil, nil, Opening{}, sdk.Conflict, "bundled is a plugin that comes with Bothy: give this one another name with --name"},
		"another type":  {provider, "theirs", nil, nil, Opening{}, sdk.Conflict, "theirs is the name of a block of another type"},
		"not installed": {plain, "theirs", nil, nil, Opening{}, sdk.Conflict, "theirs is the name of a block that is not of an installed plugin called plain"},
		"a label":       {plain, "No Label", nil, nil, Opening{}, sdk.Validation, `a block cannot be named "No Label"`},
		"a grant":       {plain, "", []string{"entries", "everything"}, nil, Opening{}, sdk.Validation, `there is no grant "everything"; there are: `},
		"an opening":    {plain, "", nil, nil, Opening{Unconfined: true, Network: true}, sdk.Validation, "give --unconfined alone"},
		"a need":        {laid(t, "x", manifest("x", `, "needs": {"paths": ["notes"]}`)), "", nil, nil, Opening{}, sdk.Validation, `x cannot be installed: it needs the path "notes"`},
		"it lacks":      {laid(t, "x", manifest("x", needy)), "", nil, []string{"depth=3"}, Opening{}, sdk.Validation, "x was not installed, since its block needs the attribute \"keep\", a list(string) (--set keep=VALUE). Patterns."},
		"no attribute":  {laid(t, "x", manifest("x", needy)), "", nil, []string{"keeep=a"}, Opening{}, sdk.Validation, `the plugin declares no attribute "keeep"; it declares: keep, depth`},
		"none at all":   {plain, "", nil, []string{"a=b"}, Opening{}, sdk.Validation, `declares no attribute "a"; it declares: none`},
		"no value":      {laid(t, "x", manifest("x", needy)), "", nil, []string{"keep"}, Opening{}, sdk.Validation, "--set keep: write NAME=VALUE"},
		"no number":     {laid(t, "x", manifest("x", needy)), "", nil, []string{"keep=a", "depth=deep"}, Opening{}, sdk.Validation, "depth"},
		"no such file":  {filepath.Join(t.TempDir(), "x"), "", nil, nil, Opening{}, sdk.NotFound, "there is no file"},
		"no plugin":     {laid(t, "x", "#!/bin/sh\necho hidden\n"), "", nil, nil, Opening{}, sdk.Validation, "is no plugin that describes itself"},
	} {
		h := newHouse(t, "plugin \"theirs\" {\n  path = \"/nowhere/theirs\"\n}\n")
		was := h.text()
		_, err := h.install(c.path, c.label, c.grants, c.sets, c.open)
		if sdk.OutcomeOf(err) != c.outcome || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if h.text() != was || len(h.locked()) != 0 || len(h.kept()) != 0 {
			t.Errorf("%s: left %v, %v, %s", name, h.kept(), h.locked(), h.text())
		}
	}
	f := newHouse(t, "").files()
	f.Inspector = New(Config{Log: quiet})
	if _, err := f.Store(t.Context(), plain, "", nil, nil, Opening{}, false); sdk.OutcomeOf(err) != sdk.Unavailable || !strings.Contains(err.Error(), "set HOME or XDG_DATA_HOME") {
		t.Error(err)
	}
}

// TestConfigureUndone: where the configuration or the lock cannot be edited, neither is,
// and the store is as before.
func TestConfigureUndone(t *testing.T) {
	path := laid(t, "theirs", manifest("mine", ""))
	for name, c := range map[string]struct {
		spoil func(h *house) error
		want  string
	}{
		"the configuration": {func(h *house) error { return os.Chmod(h.file, 0o400) }, "may not be written, so that it is not edited"},
		"a link to nothing": {func(h *house) error { return errors.Join(os.Remove(h.file), os.Symlink("/nowhere/config.hcl", h.file)) }, "make what the link"},
		"the lock":          {func(h *house) error { return os.WriteFile(config.LockPath(h.file), []byte("plugin {\n"), 0o600) }, "bothy.lock:1"},
	} {
		h := newHouse(t, "")
		if _, err := h.install(laid(t, "other", manifest("other", "")), "", nil, nil, Opening{}); err != nil {
			t.Fatal(err)
		}
		f, locked, kept := h.files(), h.locked(), h.kept()
		in, err := f.Store(t.Context(), path, "", nil, nil, Opening{}, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.spoil(h); err != nil {
			t.Fatal(err)
		}
		if err := f.Configure(&in); err == nil || !strings.Contains(err.Error(), c.want) || in.Config != "" {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if name != "the lock" && !slices.Equal(h.locked(), locked) || !slices.Equal(h.kept(), kept) {
			t.Errorf("%s: left %v, not %v", name, h.kept(), kept)
		}
	}
}

// TestUpgrade: another version takes over the block of its plugin, and what is open and
// granted stays what a person made it; with the plugin go all versions.
func TestUpgrade(t *testing.T) {
	h := newHouse(t, "")
	old, err := h.install(laid(t, "a", manifest("mine", needy)), "", []string{"entries"}, []string{"keep=a,b"}, Opening{Network: true})
	if err != nil {
		t.Fatal(err)
	}
	newer := laid(t, "b", strings.Replace(manifest("mine", strings.ReplaceAll(needy, "depth", "height")), `"tool"`, `"tool", "hook"`, 1)+"# newer\n")
	if _, err := h.install(newer, "", nil, nil, Opening{Network: true}); sdk.OutcomeOf(err) != sdk.Conflict || !strings.Contains(err.Error(), "its confine block says what is open to it: change it there, without --network") {
		t.Error(err)
	}
	if _, err := h.files().Remove("nobody", false, yes, func() {}); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Error(err)
	}
	h.write(strings.Replace(h.text(), "  path ", "  enabled = false # for now\n  path ", 1))
	in, err := h.install(newer, "", nil, nil, Opening{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"- attribute depth", "+ attribute height", "+ kind hook"}; !slices.Equal(in.Changes, want) || len(old.Changes) > 0 {
		t.Errorf("the upgrade changes %q, want %q", in.Changes, want)
	}
	if !in.Kept || !in.Opening.Network || !slices.Equal(in.Grants, []string{"entries"}) || len(in.Wanted()) != 0 || in.Path == old.Path || !strings.Contains(in.Block, "network") {
		t.Errorf("%+v", in)
	}
	b, _, _ := h.files().labelled("mine")
	if !b.Enabled || b.Path != in.Path || b.SHA256 != in.Digest || b.Locked == nil || b.Locked.Digest != in.Digest || !b.Confine.Network || !strings.Contains(h.text(), `keep = ["a", "b"]`) && !strings.Contains(h.text(), `"a", "b"`) {
		t.Errorf("%+v\n%s", b, h.text())
	}
	stranger := laid(t, "c", manifest("stranger", ""))
	if _, err := h.install(stranger, "mine", nil, nil, Opening{}); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("a stranger took the block: %v", err)
	}
	f := h.files()
	looked, err := f.Store(t.Context(), newer, "second", nil, []string{"keep=c"}, Opening{}, false)
	if err != nil || looked.Fresh {
		t.Fatalf("%+v %v", looked, err)
	}
	if err := f.Discard(looked); err != nil {
		t.Error(err)
	}
	if err := f.Configure(&looked); err != nil {
		t.Fatal(err)
	}
	out, err := h.files().Remove("mine", false, yes, func() {})
	if err != nil || !slices.Equal(out.Deleted, []string{old.Path}) {
		t.Errorf("what another block uses is gone: %+v %v", out, err)
	}
	if b, _, _ := h.files().labelled("second"); b.Binary != "mine" || !slices.Equal(h.locked(), []string{"second"}) {
		t.Errorf("%+v %v", b, h.locked())
	}
	if out, err = h.files().Remove("second", true, yes, func() {}); err != nil || !slices.Equal(out.Deleted, []string{in.Path}) || len(h.kept()) != 0 {
		t.Errorf("%+v %v, left %v", out, err, h.kept())
	}
}

// TestChanges: what the lock holds and what is an attribute is told; what only explains is not.
func TestChanges(t *testing.T) {
	low := 1.0
	m := func(grant string, attributes ...sdk.ConfigAttribute) sdk.Manifest {
		return sdk.Manifest{Name: "mine", Grants: []string{grant}, Config: &sdk.ConfigSchema{Attributes: attributes}}
	}
	was := m("entries", sdk.ConfigAttribute{Name: "gone", Type: "string"}, sdk.ConfigAttribute{Name: "same", Type: "bool", Doc: "Old."}, sdk.ConfigAttribute{Name: "x", Type: "number"})
	now := m("models", sdk.ConfigAttribute{Name: "x", Type: "number", Minimum: &low, Required: true}, sdk.ConfigAttribute{Name: "same", Type: "bool", Doc: "New."}, sdk.ConfigAttribute{Name: "fresh", Type: "string"})
	want := []string{"- attribute gone", "~ attribute x a number -> a number, 1 or more, needed", "- grant entries", "+ attribute fresh", "+ grant models"}
	if got := changes(was, now); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := changes(was, was); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// TestLookedAt: what is only looked at may lack what it needs, and says what.
func TestLookedAt(t *testing.T) {
	in, err := newHouse(t, "").files().Store(t.Context(), laid(t, "x", manifest("x", needy)), "", nil, nil, Opening{}, true)
	if err != nil || len(in.Lacks) != 1 || in.Lacks[0].Name != "keep" || !in.Fresh {
		t.Errorf("%+v %v", in, err)
	}
}

// TestInstallWhatWasDeveloped: the block that ran a plugin from where it was built becomes
// that of the installed one, and is confined then, unless it says itself what is open.
func TestInstallWhatWasDeveloped(t *testing.T) {
	path := laid(t, "mine", manifest("mine", ""))
	for name, c := range map[string]struct {
		block   string
		open    Opening
		network bool
		outcome sdk.Outcome
	}{
		"bare":          {"", Opening{}, false, ""},
		"with a flag":   {"", Opening{Network: true}, true, ""},
		"confined":      {"  confine {\n    network = true\n  }\n", Opening{}, true, ""},
		"its own words": {"  confine {\n  }\n", Opening{Network: true}, false, sdk.Conflict},
	} {
		h := newHouse(t, "plugin \"mine\" {\n  path   = \""+path+"\"\n  grants = [\"entries\"]\n"+c.block+"}\n")
		in, err := h.install(path, "", nil, nil, c.open)
		if err != nil || c.outcome != "" {
			if sdk.OutcomeOf(err) != c.outcome {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		b, _, _ := h.files().labelled("mine")
		if b.Path != in.Path || b.SHA256 != in.Digest || b.Confine == nil || b.Confine.Network != c.network || !slices.Equal(b.Grants, []string{"entries"}) {
			t.Errorf("%s: %+v\n%s", name, b, h.text())
		}
	}
}

// TestNotes: what a person has to do besides is said at the end of an installation, one
// thing, what keeps the configuration from being used first.
func TestNotes(t *testing.T) {
	channel := strings.Replace(manifest("chat", ""), `"tool"`, `"channel"`, 1)
	agent := strings.Replace(manifest("review", `, "agents": [{"name": "reviewer", "description": "Reviews."}]`), `"tool"`, `"agent"`, 1)
	skill := strings.Replace(manifest("outline", `, "skills": ["outline", "draft"]`), `"tool"`, `"skill"`, 1)
	for name, c := range map[string]struct {
		path string
		want string
		lazy bool
	}{
		"a tool":    {laid(t, "x", manifest("x", "")), "", false},
		"a channel": {laid(t, "x", channel), "nobody can write to its channel until a block says who may", false},
		"an agent":  {laid(t, "x", agent), `its agents can be chosen when its block takes them: write those that you want into it, such as agents = ["reviewer"]`, false},
		"a skill":   {laid(t, "x", skill), "a model is told of outline, draft when a folder with the SKILL.md lies among your skills; a plugin of one file brings none along", true},
	} {
		h := newHouse(t, "")
		in, err := h.install(c.path, "", nil, nil, Opening{})
		if err != nil || !strings.HasPrefix(in.Note, c.want) || c.want == "" && in.Note != "" {
			t.Errorf("%s: %q %v", name, in.Note, err)
		}
		if b, _, _ := h.files().labelled(in.Label); b.OnUse != c.lazy {
			t.Errorf("%s: on_use is %v", name, b.OnUse)
		}
	}
	h := newHouse(t, "")
	f := h.files()
	f.Check = func() error { return errors.New("config.hcl:7: hidden is wrong") }
	in, err := f.Store(t.Context(), laid(t, "x", channel), "", nil, nil, Opening{}, false)
	if err == nil {
		err = f.Configure(&in)
	}
	if err != nil || in.Note != "the configuration cannot be used like this, mend it:\nconfig.hcl:7: *** is wrong" {
		t.Errorf("%q %v", in.Note, err)
	}
}

// TestRemoveOthers: what comes with Bothy is switched off, what is elsewhere stays there,
// and what only the lock knows goes from it.
func TestRemoveOthers(t *testing.T) {
	elsewhere := copyOf(t, 0o755)
	h := newHouse(t, "plugin \"here\" {\n  path = \""+elsewhere+"\"\n}\nprovider \"model\" {\n  path = \""+elsewhere+"\"\n}\n")
	if _, err := h.files().Lock(t.Context(), []string{"here", "model"}, false); err != nil {
		t.Fatal(err)
	}
	if _, _, err := config.EditLock(config.LockPath(h.file), func(l *config.Lock) error {
		l.Plugins["gone"] = config.Locked{Digest: strings.Repeat("0", 64)}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		label    string
		want     Removal
		has, not string
	}{
		{"bundled", Removal{Label: "bundled", Config: h.file, Disabled: true}, "enabled = false", ""},
		{"gone", Removal{Label: "gone", Unlocked: true}, "", ""},
		{"here", Removal{Label: "here", Config: h.file, Unlocked: true}, "provider \"model\"", "plugin \"here\""},
		{"model", Removal{Label: "model", Config: h.file, Unlocked: true}, "", "provider"},
	} {
		out, err := h.files().Remove(c.label, false, yes, func() {})
		if err != nil || !reflect.DeepEqual(out, c.want) {
			t.Errorf("%s: %+v %v", c.label, out, err)
		}
		if !strings.Contains(h.text(), c.has) || c.not != "" && strings.Contains(h.text(), c.not) {
			t.Errorf("%s: %s", c.label, h.text())
		}
	}
	if _, err := os.Stat(elsewhere); err != nil {
		t.Error(err)
	}
	if len(h.locked()) != 0 || len(h.kept()) != 0 {
		t.Errorf("left %v %v", h.locked(), h.kept())
	}
}

// TestLock: the lock takes up what is asked for, says what it would without writing, and
// leaves the entry of what cannot be looked at.
func TestLock(t *testing.T) {
	one, two := laid(t, "one", manifest("one", "")), copyOf(t, 0o755)
	h := newHouse(t, "plugin \"one\" {\n  path = \""+one+"\"\n}\nplugin \"two\" {\n  path = \""+two+"\"\n  sha256 = \""+sha256Of(t, two)+"\"\n}\n"+
		"plugin \"bundled\" {\n  plugin = \"fault\"\n}\nplugin \"off\" {\n  path = \"/nowhere/hidden\"\n  enabled = false\n}\n")
	type said struct {
		changed, locked, scripts, failed []string
		written                          bool
	}
	step := func(name string, labels []string, look bool, want said) {
		t.Helper()
		done, err := h.files().Lock(t.Context(), labels, look)
		var changed, failed []string
		for _, x := range done.Changes {
			changed = append(changed, string(x.Kind)+" "+x.Label+" "+x.What)
		}
		for _, x := range done.Failed {
			failed = append(failed, x.Label)
			if strings.Contains(x.Reason, "hidden") {
				t.Errorf("%s: %s", name, x.Reason)
			}
		}
		slices.Sort(done.Locked)
		if got := (said{changed, append([]string(nil), done.Locked...), append([]string(nil), done.Scripts...), failed, done.Written}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v %v, want %+v", name, got, err, want)
		}
	}
	step("what needs a place is said", nil, true, said{[]string{"added one "}, []string{"one"}, []string{"one"}, nil, false})
	step("by name also what needs none", []string{"two"}, true, said{[]string{"added two "}, []string{"two"}, nil, nil, false})
	if len(h.locked()) != 0 {
		t.Fatalf("it was written: %v", h.locked())
	}
	step("all", nil, false, said{[]string{"added bundled ", "added one ", "added two "}, []string{"bundled", "one", "two"}, []string{"one"}, nil, true})
	step("again", nil, false, said{nil, []string{"bundled", "one", "two"}, []string{"one"}, nil, false})
	if err := os.WriteFile(one, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	step("what says nothing", []string{"one"}, false, said{nil, nil, nil, []string{"one"}, false})
	step("what is off, by name", []string{"off"}, false, said{nil, nil, nil, []string{"off"}, false})
	h.write("plugin \"two\" {\n  path = \"" + two + "\"\n}\n")
	step("what is gone, by name", []string{"one"}, false, said{[]string{"removed one "}, nil, nil, nil, true})
	if !slices.Equal(h.locked(), []string{"bundled", "two"}) {
		t.Errorf("%v", h.locked())
	}
	for _, label := range []string{"nobody", "one"} {
		if _, err := h.files().Lock(t.Context(), []string{"two", label}, false); sdk.OutcomeOf(err) != sdk.NotFound || !strings.Contains(err.Error(), "is called "+label) {
			t.Error(err)
		}
		if _, err := h.files().Verify([]string{"two", label}); sdk.OutcomeOf(err) != sdk.NotFound {
			t.Error(err)
		}
		if _, err := h.files().Info(t.Context(), label); sdk.OutcomeOf(err) != sdk.NotFound {
			t.Error(err)
		}
	}
	if err := os.WriteFile(two, []byte(manifest("two", "")), 0o755); err != nil {
		t.Fatal(err)
	}
	info, err := h.files().Info(t.Context(), "two")
	if err != nil || len(info.Drift) == 0 || !strings.Contains(info.File.Problem, "bothy.lock has") {
		t.Errorf("%+v %v", info, err)
	}
	if err := os.WriteFile(config.LockPath(h.file), []byte("plugin {\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := &Files{Path: h.file, Config: &config.Config{}, Defaults: &config.Config{}, Inspector: newInspector(t)}
	if _, err := f.Lock(t.Context(), nil, false); sdk.OutcomeOf(err) != sdk.Validation || !strings.Contains(err.Error(), "bothy.lock:1") {
		t.Error(err)
	}
	if _, err := f.Remove("two", false, yes, func() {}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Error(err)
	}
}

// TestVerifyAll: with all blocks the store itself is looked at, and what a block tells of
// already is told once.
func TestVerifyAll(t *testing.T) {
	h := newHouse(t, "plugin \"bundled\" {\n  enabled = false\n}\n")
	mine, err := h.install(laid(t, "a", manifest("mine", "")), "", nil, nil, Opening{})
	if err != nil {
		t.Fatal(err)
	}
	spare, err := h.files().Store(t.Context(), laid(t, "b", manifest("spare", "")), "", nil, nil, Opening{}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{mine.Path, spare.Path} {
		if err := errors.Join(os.Chmod(path, 0o755), os.WriteFile(path, []byte(manifest("evil", "")), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	found, err := h.files().Verify(nil)
	var bad []string
	for _, v := range found {
		if v.Problem != "" {
			bad = append(bad, v.Instance+" "+v.Path)
		}
	}
	if want := []string{"mine " + mine.Path, " " + spare.Path}; err != nil || !slices.Equal(bad, want) {
		t.Errorf("%q %v, want %q", bad, err, want)
	}
	if found, err := h.files().Verify([]string{"mine"}); err != nil || len(found) != 1 {
		t.Errorf("%+v %v", found, err)
	}
}

// TestBlocks: providers wait for their first use, and who runs containers is made anew when
// the sandbox is another.
func TestBlocks(t *testing.T) {
	const text = "plugin \"bundled\" {\n  enabled = false\n}\nplugin \"lazy\" {\n  path   = \"/x\"\n  on_use = true\n}\n" +
		"plugin \"boxed\" {\n  path   = \"/x\"\n  grants = [\"sandbox\"]\n}\nprovider \"model\" {\n  path = \"/x\"\n}\n"
	t.Setenv("PATH", "/usr/bin:relative:/bin/../bin::/opt/x/")
	digests := map[string]string{}
	for n, more := range []string{"", "sandbox {\n  timeout = \"7s\"\n}\n"} {
		for _, spec := range Blocks(newHouse(t, text+more).files().Config) {
			want := map[string][2]bool{"bundled": {true, false}, "lazy": {false, true}, "boxed": {false, false}, "model": {false, true}}[spec.Instance]
			if spec.Off != want[0] || spec.Lazy != want[1] {
				t.Errorf("%s: off %v, lazy %v", spec.Instance, spec.Off, spec.Lazy)
			}
			if got := strings.Join(spec.Sandbox.Path, ":"); got != "/usr/bin:/bin:/opt/x" {
				t.Errorf("%s: commands are looked for in %s", spec.Instance, got)
			}
			if was, another := digests[spec.Instance], spec.Instance == "boxed"; n == 1 && (was != spec.Digest) != another {
				t.Errorf("%s: another sandbox is another process: %v", spec.Instance, !another)
			}
			digests[spec.Instance] = spec.Digest
		}
	}
	if len(digests) != 4 {
		t.Errorf("%v", digests)
	}
}

// noSecrets is a registry of a configuration without secrets.
type noSecrets struct{}

func (noSecrets) Name(string, string)       {}
func (noSecrets) Redact(text string) string { return text }
