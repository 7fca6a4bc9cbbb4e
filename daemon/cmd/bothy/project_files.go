package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type projectCmd struct {
	Init      projectInitCmd      `cmd:"" help:"Make the project's files entries, as a run's first prompt does."`
	Files     projectFilesCmd     `cmd:"" default:"withargs" help:"List the files that are entries."`
	Constrain projectConstrainCmd `cmd:"" help:"Say which files are entries, and which no run may write."`
}

// Help adds to the verb's help.
func (projectCmd) Help() string {
	return `Each file of a project is an entry under its path, so that an agent finds it by a pattern and reads it with get. What git ignores is none, nor what holds secrets by its name, a link, or anything in .git. The text of a file is read when a run has it in sight, and not kept longer.

Examples:

    bothy project init
    bothy project files 'src/**'
    bothy project constrain ignore testdata
    bothy project constrain readonly 'vendor/**'
    bothy project constrain --clear testdata
`
}

// inProject is how a verb takes the project that it is about.
type inProject struct {
	Project string `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
}

// queryProject is query about a project.
func queryProject[A any](ctx context.Context, c *console, in inProject, ask func(*client.Client, string) (A, error), show func(A) error) error {
	project, err := c.project(in.Project)
	if err != nil {
		return err
	}
	return query(ctx, c, func(cl *client.Client) (A, error) { return ask(cl, project) }, show)
}

type projectInitCmd struct{ inProject }

// Run says what the scan came to.
func (cmd projectInitCmd) Run(ctx context.Context, c *console) error {
	return queryProject(ctx, c, cmd.inProject, func(cl *client.Client, project string) (rpc.ProjectScan, error) {
		return cl.ScanProject(ctx, project)
	}, told(c, scanned))
}

// scanned is a scan in a line.
func scanned(s rpc.ProjectScan) string {
	text := fmt.Sprintf("%s: %s", show.Line(s.Project), show.Plural(s.Files, "file"))
	for _, part := range []struct {
		n    int
		does string
	}{{s.Changed, "new or changed"}, {s.Removed, "gone"}, {s.Left, "left out, since no entry can have their names"}} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.does)
		}
	}
	if s.Partial {
		text += "; there is more than is looked at, or than can be read"
	}
	return text
}

type projectFilesCmd struct {
	Pattern string `arg:"" optional:"" help:"Which paths, as 'src/**'; all when absent."`
	inProject
	Limit int `short:"n" default:"1000" help:"At most so many."`
}

// Run prints one line a file.
func (cmd projectFilesCmd) Run(ctx context.Context, c *console) error {
	if cmd.Limit < 1 {
		return usageError{"--limit must be at least 1"}
	}
	return queryProject(ctx, c, cmd.inProject, func(cl *client.Client, project string) ([]rpc.TreeFile, error) {
		all := []rpc.TreeFile{}
		p := rpc.TreeParams{Project: project, Pattern: cmd.Pattern}
		for {
			p.Limit = min(cmd.Limit-len(all), 1000)
			page, err := cl.Tree(ctx, p)
			if err != nil {
				return nil, err
			}
			all = append(all, page.Files...)
			if p.Offset = page.Next; page.Next == 0 || len(all) >= cmd.Limit {
				return all, nil
			}
		}
	}, func(all []rpc.TreeFile) error {
		return tableOf(c, all, "no file fits; `bothy project init` looks at what there is", []string{"PATH", "BYTES", "TOKENS", "CONSTRAINT", "CHANGED"}, func(f rpc.TreeFile) []string {
			return []string{f.Path, strconv.FormatInt(f.Size, 10), strconv.Itoa(f.Tokens), string(f.Constraint), show.When(f.Time)}
		})
	})
}

type projectConstrainCmd struct {
	Constraint string `arg:"" optional:"" help:"add, readonly or ignore; without it what is set is listed."`
	Pattern    string `arg:"" optional:"" help:"The files or folders, as vendor or 'src/**/*.gen.go'."`
	inProject
	Clear string `placeholder:"PATTERN" help:"Take away what was set for a pattern."`
}

// Help adds to the verb's help.
func (projectConstrainCmd) Help() string {
	return `add makes files entries that git ignores; readonly does so too, and no run writes them: neither by a verb nor by a tool for files. ignore makes them no entries. A pattern that fits a folder means all that is in it. Of those that fit a file the one that was set last counts.

A command in the sandbox is held to what the configuration protects (bothy help policy), and not to readonly.
`
}

// Run lists what is set, or sets or takes away one.
func (cmd projectConstrainCmd) Run(ctx context.Context, c *console) error {
	p := rpc.Constrain{Pattern: cmd.Pattern, Constraint: sdk.Constraint(cmd.Constraint)}
	switch {
	case cmd.Clear != "" && cmd.Constraint != "":
		return usageError{"--clear takes the pattern alone"}
	case cmd.Clear != "":
		p = rpc.Constrain{Pattern: cmd.Clear}
	case cmd.Constraint == "":
		return cmd.list(ctx, c)
	case cmd.Pattern == "":
		return usageError{"name the files: " + strings.TrimSpace("bothy project constrain "+show.Line(cmd.Constraint)) + " PATTERN"}
	}
	return queryProject(ctx, c, cmd.inProject, func(cl *client.Client, project string) (rpc.ProjectScan, error) {
		p.Project = project
		return cl.Constrain(ctx, p)
	}, told(c, scanned))
}

func (cmd projectConstrainCmd) list(ctx context.Context, c *console) error {
	return queryProject(ctx, c, cmd.inProject, func(cl *client.Client, project string) ([]sdk.FileConstraint, error) {
		return cl.Constraints(ctx, project)
	}, func(all []sdk.FileConstraint) error {
		return tableOf(c, all, "nothing is set: git says which files are entries", []string{"PATTERN", "CONSTRAINT", "SET"}, func(f sdk.FileConstraint) []string {
			return []string{f.Pattern, string(f.Constraint), show.When(f.Created)}
		})
	})
}
