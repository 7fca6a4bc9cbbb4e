package main

import (
	"errors"
	"strings"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type skillsCmd struct {
	List     skillsListCmd                 `cmd:"" default:"withargs" help:"List the skills that can be used; -a also the others, and why not."`
	Info     skillsInfoCmd                 `cmd:"" help:"Tell of one skill what it says of itself, where it lies and which files it has."`
	Enable   skillsEnableCmd               `cmd:"" help:"Turn a skill on."`
	Disable  skillsDisableCmd              `cmd:"" help:"Turn a skill off."`
	Create   skillsCreateCmd               `cmd:"" help:"Make a new skill in your folder of skills."`
	Validate offline[verbs.SkillsValidate] `cmd:"" help:"Read SKILL.md files strictly and show every diagnostic where it stands."`
	Match    skillsMatchCmd                `cmd:"" help:"Rank the skills by how well they fit a query."`
	Explain  skillsExplainCmd              `cmd:"" help:"Say why an agent is told of a skill, or is not."`
	Reload   skillsReloadCmd               `cmd:"" help:"Look at the folders of skills again at once, and list the skills that can be used."`
	Paths    skillsPathsCmd                `cmd:"" help:"List the folders in which skills are looked for, the one that counts most first."`
}

// Help adds to the verb's help.
func (skillsCmd) Help() string {
	return `A skill is a folder with a SKILL.md: a name, a description, and what an agent has to know for a kind of work. It comes with Bothy, or lies in ~/.config/bothy/skills, or in a project's .bothy/skills, or in another of the folders that bothy skills paths lists. It can be used the moment it is saved; one of a project when you have trusted it with bothy trust.

A model uses a skill when it fits. You use one with bothy run '/NAME INPUT'.

Listing skills never executes anything that they bring.

Examples:

    bothy skills
    bothy skills list -a
    bothy skills info review-change
    bothy skills create release-notes -d "Writes release notes. Use it before a release."
    bothy skills disable review-change
`
}

// skillArg is how a verb takes the skill that it is about.
type skillArg struct {
	Name    string `arg:"" name:"skill" complete:"skill" help:"The skill's name."`
	Project string `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
}

// skillsOf is the project whose skills are meant. Where there is none, as in the
// home directory, those that all projects share are.
func (c *console) skillsOf(named string) (string, error) {
	project, err := c.project(named)
	var usage usageError
	if named == "" && errors.As(err, &usage) {
		return "", nil
	}
	return project, err
}

// skillError gives a name that is not there the exit code of what failed: a
// script asks that way whether there is such a skill.
func skillError(err error) error {
	var said *rpc.Error
	if errors.As(err, &said) && sdk.OutcomeOf(said) == sdk.NotFound {
		return exitError{exitFailed, err}
	}
	return err
}

// skillStatus says a skill's status, with what a person should know beside it.
func skillStatus(s sdk.Skill) string {
	words := []string{string(s.Status)}
	for _, x := range []struct {
		is   bool
		word string
	}{{s.Stale, "its last good version"}, {s.Repaired, "repaired"}, {s.PeopleOnly, "only by /name"}} {
		if x.is {
			words = append(words, x.word)
		}
	}
	return strings.Join(words, ", ")
}

// folderTroubles says what keeps folders from being read or watched.
func (c *console) folderTroubles(folders []rpc.SkillFolder) {
	for _, f := range folders {
		if f.Problem != "" {
			c.say("%s", show.Line(folderLine(f)))
		}
	}
}
