package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
)

// restricting is what a workspace's own file may hold.
var restricting = schemaOf("workspace", "guard", "sandbox", "rule", "hosts", protectBlock)

const onlyNarrows = "The file of a workspace can only narrow: it may have the blocks workspace (agent, model, deny), rule (to deny or propose), protect (refuse, ask), guard and sandbox, with limits that are lower than yours."

// workspacePrefix begins the Source of a rule of a workspace.
const workspacePrefix = "workspace "

// WorkspaceFile is where a project has its own configuration.
func WorkspaceFile(project string) string { return filepath.Join(project, ".bothy", "config.hcl") }

// ownFile is what the own file of a project said, as it was then. No tool can write it, so that its time and
// size tell whether it is another.
type ownFile struct {
	key   watch.Key
	says  Workspace
	diags Diagnostics
}

// WorkspaceOf is what the file of a project says now, read against cfg, which Load returned. Without a file it
// says nothing; one that is there and cannot be looked at is read, which says why.
func WorkspaceOf(project string, cfg *Config) (Workspace, Diagnostics) {
	file := WorkspaceFile(project)
	if _, err := os.Lstat(file); project == "" || watch.Missing(err) {
		return Workspace{}, nil
	}
	info, err := os.Stat(file)
	if err != nil {
		return ReadWorkspace(file, cfg)
	}
	was, _ := cfg.own.Load(project)
	now, _ := was.(ownFile)
	if key := watch.KeyOf(info); now.key != key {
		now.key = key
		now.says, now.diags = ReadWorkspace(file, cfg)
		cfg.own.Store(project, now)
	}
	return now.says, now.diags
}

// ReadWorkspace reads .bothy/config.hcl of a project, which can only restrict what the user has
// configured: choose among the agents and models, deny tools or have them proposed, lower limits.
// Anything else is an error and has no effect, for who wrote the project is not who runs it; functions
// are none, so that the file reads nothing. What the file denies, and cannot be read, makes it Broken.
func ReadWorkspace(path string, cfg *Config) (Workspace, Diagnostics) {
	l := &loader{src: Source{Path: path, Required: true}, parser: hclparse.NewParser()}
	l.cfg = &Config{Agents: cfg.Agents, Policy: cfg.Policy, Models: cfg.Models, Providers: cfg.Providers, Context: &hcl.EvalContext{}}
	w := &l.cfg.Workspace
	text, ok := l.userFile()
	ok = ok && l.blocks(text, path, restricting, onlyNarrows, func(b *hcl.Block, _ bool) {
		before := len(l.diags)
		if !l.restrict(b, cfg) && w.Broken == "" {
			w.Broken, w.BrokenAt = l.firstError(before)
		}
	})
	if !ok {
		w.Broken, w.BrokenAt = l.firstError(0)
		return *w, l.diags
	}
	w.Guards, w.Protect, w.Shell = l.cfg.Guards, l.cfg.Protect, l.cfg.Sandbox.Shell
	l.choose(w, cfg)
	return *w, l.diags
}

// choose takes the choice of an agent and a model back where nobody trusts the project with it: another
// agent may have other tools, and another model sends what is said elsewhere.
func (l *loader) choose(w *Workspace, cfg *Config) {
	root := sdk.WithoutLinks(filepath.Dir(filepath.Dir(l.src.Path)))
	if w.Agent == "" && w.Model == "" || cfg.Workspace.Trusts(root) {
		return
	}
	w.Agent, w.Model = "", ""
	l.diags = append(l.diags, Diagnostic{
		Severity: "warning", Summary: "The choice of an agent or a model has no effect", File: l.src.Path, Line: 1, Column: 1,
		Detail: fmt.Sprintf("Nobody trusts this project with it. If you do, write workspace { trust = [%q] } into your own configuration.", root),
	})
}

// firstError is the first mistake from the nth diagnostic on, with its place.
func (l *loader) firstError(n int) (what, where string) {
	for _, d := range l.diags[n:] {
		if d.Severity == "error" {
			return strings.TrimSuffix(d.Summary, ".") + ": " + d.Detail, fmt.Sprintf("%s:%d", l.src.Path, max(1, d.Line))
		}
	}
	return "it cannot be read", l.src.Path + ":1"
}

// restrict takes one block. It reports false when it is not known what the block denies.
func (l *loader) restrict(b *hcl.Block, cfg *Config) bool {
	body := b.Body.(*hclsyntax.Body)
	switch b.Type {
	case "workspace":
		return l.workspace(body, workspacePrefix)
	case "rule":
		rule, ok := l.readRule(&block{b.Labels[0], body, b.DefRange})
		if !ok {
			return false
		}
		if rule.Verdict == sdk.Allow {
			l.reportAt(attributeRange(body, "decision"), "Not for a workspace to say", fmt.Sprintf("Rule %q would allow something. The rules of a workspace can only deny or propose; write this one into your own configuration if you want it.", rule.Name))
			return true
		}
		rule.Source = workspacePrefix + rule.Source
		l.cfg.Workspace.Rules = append(l.cfg.Workspace.Rules, rule)
	case "hosts":
		rules, ok := l.hosts(body, workspacePrefix, "")
		l.cfg.Workspace.Rules = append(l.cfg.Workspace.Rules, rules...)
		return ok
	default:
		return l.clamp(b, cfg) || b.Type != protectBlock
	}
	return true
}

// clamp takes each setting of a block that is a limit, and below the user's. It
// reports false when one of them cannot be read.
func (l *loader) clamp(b *hcl.Block, cfg *Config) bool {
	attrs, diags := b.Body.JustAttributes()
	l.report(diags)
	return l.take(l.cfg, b.Type, attrs, setting.limits, "Not for a workspace to say", b.Type+".%s is no limit that a workspace could lower.", func(s setting, a *hcl.Attribute, value any, text string) error {
		if err := s.below(value, text, cfg); err != nil {
			return err
		}
		if b.Type == "sandbox" && s.key() != shellForm {
			l.report(hcl.Diagnostics{{Severity: hcl.DiagWarning, Subject: &a.NameRange, Summary: "A lower sandbox." + a.Name + " has no effect yet",
				Detail: "It is read without a mistake and will count in a later version."}})
		}
		return nil
	}) && !diags.HasErrors()
}

// shellForm has no order but one of its values is less than the other.
const shellForm = "sandbox.shell"

// limits reports whether less of a setting is never more freedom. One that is unknown is none.
func (s setting) limits() bool {
	switch s.kind {
	case "", kindString, kindPath, kindBool:
		return s.key() == shellForm
	case kindList:
		return s.block == protectBlock && s.name != "free"
	}
	return s.tag.Get("of") == ""
}

// below reports an error unless a value is at most the user's, 0 being no limit.
func (s setting) below(value any, text string, cfg *Config) error {
	most := reflect.ValueOf(cfg).Elem().FieldByIndex(s.index)
	switch {
	case s.key() == shellForm && text != "argv":
		return fmt.Errorf("%s is %q and can only be \"argv\" here, the strict form", s.key(), text)
	case s.key() == shellForm || s.kind == kindList:
		return nil
	}
	if is, limit := number(reflect.ValueOf(value)), number(most); limit > 0 && (is == 0 || is > limit) {
		return fmt.Errorf("%s is %s and can only be lowered here; yours is %s", s.key(), text, cfg.Values[s.at].text)
	}
	return nil
}
