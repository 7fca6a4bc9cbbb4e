package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon"
	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/daemon/internal/agent"
	"github.com/bothyd/bothy/daemon/internal/agent/markdown"
	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

type agentsCmd struct {
	Check agentsCheckCmd `cmd:"" help:"Say what is wrong with agents, where it stands."`
}

type agentsCheckCmd struct{ verbs.AgentsCheck }

// checkedAgent is an agent, or a file that is none, as it is printed.
type checkedAgent struct {
	Name     string               `json:"name"`
	Source   sdk.AgentSource      `json:"source,omitempty"`
	Place    string               `json:"place"`
	OK       bool                 `json:"ok"` // it can be used as it is
	Problems []sdk.FileDiagnostic `json:"problems"`
	Notes    []string             `json:"notes,omitempty"` // what it asks for and does not get here
}

// file is where its problems stand.
func (a checkedAgent) file() string {
	if i := strings.LastIndexByte(a.Place, ':'); i > 0 && (a.Source == sdk.AgentOfConfig || a.Source == sdk.AgentBundled) {
		return a.Place[:i]
	}
	return a.Place
}

// Run exits with 1 when one of the agents cannot be used, and with 2 when the configuration cannot be, or there is none
// of a name.
func (cmd agentsCheckCmd) Run(f *flags, c *console) error {
	_, cfg, diags := daemon.LoadConfig(f.Config, &audit.Redactor{})
	diags.Write(c.err)
	if cfg == nil {
		return toldError(exitUsage)
	}
	checked, err := cmd.check(f, c, cfg)
	err = report(c, map[string][]checkedAgent{"agents": checked}, err, func(c *console, _ map[string][]checkedAgent) error {
		return printAgents(c, checked)
	})
	if err == nil && slices.ContainsFunc(checked, func(a checkedAgent) bool { return !a.OK }) {
		return toldError(exitFailed)
	}
	return err
}

func (cmd agentsCheckCmd) check(f *flags, c *console, cfg *config.Config) (checked []checkedAgent, err error) {
	names := map[string]bool{}
	var paths []string
	for _, word := range cmd.Names {
		if _, err := os.Stat(word); err == nil || strings.Contains(word, "/") || strings.HasSuffix(word, ".md") {
			paths = append(paths, word)
		} else {
			names[word] = true
		}
	}
	if len(paths) > 0 {
		files, err := markdown.Check(context.Background(), cfg, paths)
		if err != nil {
			return nil, err
		}
		for _, x := range files {
			checked = append(checked, ofFile(x))
		}
	}
	if len(cmd.Names) > 0 && len(names) == 0 {
		return checked, nil
	}
	project, err := cmd.project()
	if err != nil {
		return nil, err
	}
	plugins, err := agentsOfPlugins(f)
	if err != nil {
		return nil, err
	}
	all, problems := agentsOf(cfg, project, plugins)
	for _, a := range all {
		if len(cmd.Names) == 0 || names[a.Name] {
			checked = append(checked, a)
			delete(names, a.Name)
		}
	}
	for _, problem := range problems {
		c.say("%s", harmless(problem))
	}
	for name := range names {
		return checked, sdk.Errorf(sdk.NotFound, "there is no agent %q, and no such file; `bothy agents check` has all", name)
	}
	return checked, nil
}

// project is the one that is meant, or empty where there is none.
func (cmd agentsCheckCmd) project() (string, error) {
	dir, err := os.Getwd()
	if cmd.Project != "" {
		return sdk.WithoutLinks(cmd.Project), nil
	}
	if err != nil {
		return "", err
	}
	root, is := sdk.ProjectOf(dir, os.Getenv("HOME"))
	if !is {
		return "", nil
	}
	return root, nil
}

// agentsOfPlugins are those that blocks take, by what their plugins declare.
func agentsOfPlugins(f *flags) ([]inspect.NamedAgent, error) {
	files, err := daemon.OpenPluginFiles(f.Config)
	if err != nil {
		return nil, err
	}
	return files.Inspector.Agents(context.Background(), files.Config), nil
}

// agentsOf are the agents of a configuration, of files and of plugins, which nothing has to be started for, and what cannot
// be looked at.
func agentsOf(cfg *config.Config, project string, plugins []inspect.NamedAgent) (all []checkedAgent, problems []string) {
	files, problems := markdown.Look(cfg, project)
	var found, brought []sdk.Definition // without their own problems, which are told with their place
	for _, x := range files {
		if x.Loaded {
			found = append(found, sdk.Definition{Agent: x.Agent, Source: sourceOf(x), Place: x.Path})
		}
	}
	for _, x := range plugins {
		if len(x.Wrong) == 0 {
			brought = append(brought, x.Taken)
		}
	}
	library := agent.NewLibrary(func() *config.Config { return cfg }, agent.Sources{
		Files: func(string) []sdk.Definition { return found }, Plugins: func() []sdk.Definition { return brought },
	})
	knows := skillsOf(cfg, project)
	type at struct{ name, place string }
	held := map[at][]string{}
	for _, d := range library.List(project) {
		held[at{d.Agent.Name, d.Place}] = d.Notes
		if d.Source == sdk.AgentOfConfig || d.Source == sdk.AgentBundled {
			a := checkedAgent{Name: d.Agent.Name, Source: d.Source, Place: d.Place, OK: true, Problems: []sdk.FileDiagnostic{}, Notes: d.Notes}
			a.checkSkills(d.Agent.Skills, d.From["skills"], knows)
			all = append(all, a)
		}
		for _, s := range d.Shadowed {
			held[at{d.Agent.Name, s.Place}] = s.Notes
		}
	}
	for _, x := range files {
		a := ofFile(x)
		a.Notes = held[at{a.Name, x.Path}]
		a.checkSkills(x.Agent.Skills, fmt.Sprintf("%s:%d", x.Path, x.SkillsLine), knows)
		all = append(all, a)
	}
	for _, x := range plugins {
		a := ofPlugin(cfg, x)
		a.Notes = held[at{a.Name, a.Place}]
		all = append(all, a)
	}
	return all, problems
}

// ofPlugin is what an agent came to that the block of a plugin names; one that cannot be taken stands where the block does.
func ofPlugin(cfg *config.Config, x inspect.NamedAgent) checkedAgent {
	a := checkedAgent{Name: x.Name, Source: sdk.AgentOfPlugin, Place: x.Taken.Place, OK: len(x.Wrong) == 0, Problems: []sdk.FileDiagnostic{}}
	for _, w := range x.Wrong {
		for _, d := range config.FromHCL(cfg.Files, w.Diagnostic) {
			a.Place = d.File
			a.Problems = append(a.Problems, sdk.FileDiagnostic{Severity: "error", Code: "agent-not-taken", Line: d.Line, Column: d.Column, Message: d.Summary, Help: d.Detail})
		}
	}
	return a
}

// ofFile is what a file came to.
func ofFile(x *markdown.File) checkedAgent {
	return checkedAgent{Name: x.Agent.Name, Source: sourceOf(x), Place: x.Path, OK: x.Loaded, Problems: append([]sdk.FileDiagnostic{}, x.Diagnostics...)}
}

func sourceOf(x *markdown.File) sdk.AgentSource {
	if x.Tier == sdk.TierWorkspace {
		return sdk.AgentOfWorkspace
	}
	return sdk.AgentOfUser
}

// printAgents prints each problem with its place and what to do, then how many agents there are.
func printAgents(c *console, checked []checkedAgent) error {
	w := bufio.NewWriter(c.out)
	failed := 0
	for _, a := range checked {
		failed += count(!a.OK)
		for _, d := range a.Problems {
			fmt.Fprintf(w, "%s:%d:%d: %s: %s [%s]\n      %s\n", oneLine(a.file()), max(1, d.Line), max(1, d.Column), d.Severity, oneLine(d.Message), d.Code, oneLine(d.Help))
		}
		for _, note := range a.Notes {
			fmt.Fprintf(w, "%s: %s: %s\n", oneLine(a.Place), oneLine(a.Name), oneLine(note))
		}
	}
	fmt.Fprintf(w, "agents: %d, that cannot be used: %d\n", len(checked), failed)
	return w.Flush()
}
