package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// choices reads what there is to choose from, and takes the one that was named. Without a
// name it is picked; one that is not there is refused, with those that are.
func (c *conversation) choices(kind, name string, read func(ctx context.Context) ([]choice, error), take func(c *conversation, id string) tea.Cmd) tea.Cmd {
	return c.ask(func(ctx context.Context) tea.Msg {
		rows, err := read(ctx)
		if err != nil {
			return failure{err}
		}
		return shows{func(c *conversation) tea.Cmd {
			if name == "" {
				p := &picker{title: kind + "s", empty: "no " + kind + " fits", choose: func(ch choice) tea.Cmd { return take(c, ch.id) }}
				p.set(rows, false)
				return c.over(p)
			}
			if i := slices.IndexFunc(rows, func(ch choice) bool { return ch.id == name || ch.also == name }); i >= 0 {
				return take(c, rows[i].id)
			}
			return c.fail(fmt.Errorf("there is no %s %s; there are %s", kind, name, names(rows)))
		}}
	})
}

// names are the first of some rows, in words.
func names(rows []choice) string {
	var all []string
	for i, ch := range rows {
		if i == 20 {
			return strings.Join(all, ", ") + fmt.Sprintf(" and %d more", len(rows)-i)
		}
		all = append(all, ch.id)
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

// row is a choice of a name and what is said of it.
func row(name, about string) choice {
	return choice{id: name, line: show.Spans{{Style: show.Name, Text: fmt.Sprintf("%-20s", show.Line(name))}, {Style: show.Plain, Text: "  " + show.Line(show.OneLine(about))}}}
}

func (c *conversation) setModel(name string) tea.Cmd {
	return c.choices("model", name, func(ctx context.Context) ([]choice, error) {
		found, err := c.cl.Models(ctx, rpc.ModelsParams{})
		if err != nil {
			return nil, err
		}
		var rows []choice
		for _, m := range found.Models {
			ch := row(m.Alias, modelText(m))
			ch.also = m.Provider + "/" + m.Actual
			rows = append(rows, ch)
		}
		if len(rows) == 0 && len(found.Problems) > 0 {
			return nil, errors.New(strings.Join(found.Problems, "; "))
		}
		return rows, nil
	}, func(c *conversation, name string) tea.Cmd {
		c.o.model = name
		return c.say(c.p.dim.Render("  the next prompt goes to " + show.Line(name)))
	})
}

// modelText is what one chooses a model by.
func modelText(m rpc.Model) string {
	text := show.Model(m)
	switch {
	case m.Default && text != "":
		return text + ", the default"
	case m.Default:
		return "the default"
	}
	return text
}

func (c *conversation) setAgent(name string) tea.Cmd {
	return c.choices("agent", name, func(ctx context.Context) (rows []choice, err error) {
		found, err := c.cl.Agents(ctx, rpc.AgentsParams{Project: c.o.project})
		for _, a := range found {
			ch := row(a.Name, a.Description)
			ch.view = harmless(a.Description) + "\n\nmode " + show.Line(string(a.Mode)) + "\nmodel " + show.Line(a.Model) + "\ntools " + show.Line(strings.Join(a.Tools, ", "))
			rows = append(rows, ch)
		}
		return rows, err
	}, func(c *conversation, name string) tea.Cmd {
		c.o.agent = name
		return c.say(c.p.dim.Render("  the next prompt is for agent " + show.Line(name)))
	})
}

// modes are those that a person may choose here: full is said when bothy is called.
var modes = []choice{
	row(string(sdk.ModeInteractive), "asks before whatever does more than read"),
	row(string(sdk.ModeRestricted), "changes files of the project unasked; asks before commands that are not proven"),
	row(string(sdk.ModeWorkspace), "commands work on a copy of the project unasked; what they changed is judged"),
}

func (c *conversation) setMode(name string) tea.Cmd {
	return c.choices("mode", name, func(context.Context) ([]choice, error) { return modes, nil }, func(c *conversation, name string) tea.Cmd {
		c.mode = sdk.Mode(name)
		return c.say(c.p.dim.Render("  the next prompt has mode " + show.Line(name)))
	})
}

// skills puts the name of a skill into the input.
func (c *conversation) skills(name string) tea.Cmd {
	return c.choices("skill", name, func(ctx context.Context) (rows []choice, err error) {
		found, err := c.cl.Skills(ctx, rpc.SkillQuery{Project: c.o.project, Status: sdk.SkillEnabled})
		for _, s := range found.Skills {
			ch := row(s.Name, s.Description)
			ch.view = harmless(s.Description) + "\n\n" + show.Line(string(s.Tier)) + "  " + show.Line(home(s.Folder))
			rows = append(rows, ch)
		}
		return rows, err
	}, func(c *conversation, name string) tea.Cmd {
		c.menu.shut()
		c.in.set("/" + show.Line(name) + " ")
		return nil
	})
}

// tools lists the tools that are there.
func (c *conversation) tools(string) tea.Cmd {
	columns := c.columns() // it changes in Update alone
	return c.ask(func(ctx context.Context) tea.Msg {
		found, err := c.cl.Tools(ctx)
		if err != nil {
			return failure{err}
		}
		var lines []string
		for _, t := range found {
			if t.Unlisted {
				continue
			}
			what := strings.SplitN(show.OneLine(t.Description), ". ", 2)[0]
			lines = append(lines, cut(fmt.Sprintf("  %s  %s%s", c.p.tool.Render(fmt.Sprintf("%-16s", show.Line(t.Name))), c.p.dim.Render(toolText(t)), show.Line(what)), columns))
		}
		return shows{func(c *conversation) tea.Cmd { return c.sayOrPage("tools", strings.Join(lines, "\n")) }}
	})
}

// toolText is what matters of a tool before what it says of itself.
func toolText(t sdk.Tool) string {
	text := show.Line(t.Plugin)
	if t.Annotations.ReadOnly && t.Source == "" { // of what is passed on nobody vouches for that
		text += ", only reads"
	}
	return strings.TrimPrefix(text+": ", ": ")
}
