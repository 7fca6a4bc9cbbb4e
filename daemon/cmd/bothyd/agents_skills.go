package main

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/daemon/internal/skill/answer"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// skillsOf reports which names are those of skills, usable or not: in the folders of a configuration and a project, and those
// that came with Bothy.
func skillsOf(cfg *config.Config, project string) func(name string) bool {
	l := skill.NewLibrary(answer.Settings(cfg, "", ""), skill.Options{
		Log: hclog.NewNullLogger(), Changed: func(rpc.SkillsChanged) {}, Trusted: func(string) map[string]string { return nil },
	})
	defer func() { _ = l.Close() }() // it was only read
	found := answer.Known(l)(project)
	return func(name string) bool {
		_, err := fs.Stat(bothy.Skills, "skills/"+name+"/SKILL.md")
		return cfg.Skills.Bundled && err == nil || found(name)
	}
}

// checkSkills says which skills there are not that an agent names: in a block that is an error where it stands, and
// in a file of whoever it may come from a warning.
func (a *checkedAgent) checkSkills(named []string, at string, knows func(string) bool) {
	severity := "warning"
	if a.Source == sdk.AgentOfConfig || a.Source == sdk.AgentBundled {
		severity = "error"
	}
	for n, name := range named {
		if slices.Contains(named[:n], name) || knows(name) {
			continue
		}
		d := sdk.FileDiagnostic{Severity: severity, Code: "skill-unknown", Message: "there is no skill " + strconv.Quote(name), Help: "Name one that `bothy skills list -a` lists, or take it out."}
		if i := strings.LastIndexByte(at, ':'); i > 0 {
			d.Line, _ = strconv.Atoi(at[i+1:]) // else the first
		}
		a.Problems = append(a.Problems, d)
		a.OK = a.OK && severity != "error"
	}
}
