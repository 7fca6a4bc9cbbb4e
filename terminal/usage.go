package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// fact is a line of a name and what is so.
func (c *conversation) fact(name, text string) string {
	return "  " + c.p.dim.Render(fmt.Sprintf("%-9s", name)) + show.Line(text)
}

// status says where one is.
func (c *conversation) status(string) tea.Cmd {
	model := c.model
	if c.o.model != "" && c.o.model != model {
		model = strings.TrimPrefix(model+"; the next prompt goes to "+c.o.model, "; ")
	}
	facts := []string{
		c.fact("run", c.run), c.fact("project", home(c.o.project)), c.fact("model", model), c.fact("agent", c.o.agent), c.fact("mode", cmp.Or(string(c.mode), "the agent's")),
		c.fact("prompts", fmt.Sprintf("%d, %d wait", len(c.line.Loops), len(c.queue))),
	}
	usage := sdk.Usage{}
	for _, l := range c.line.Loops {
		u := l.Usage()
		usage.Add(&u)
	}
	facts = append(facts, c.fact("used", usageText(usage)+"; /usage tells more"))
	if line := c.besideLine(); line != "" {
		facts = append(facts, "  "+line)
	}
	return c.say(strings.Join(facts, "\n"))
}

// usage says what the run and its last prompt cost, and how full the context is.
func (c *conversation) usage(string) tea.Cmd {
	last := ""
	if n := len(c.line.Loops); n > 0 {
		last = usageText(c.line.Loops[n-1].Usage())
	}
	return c.ofRun(func(ctx context.Context, ref rpc.RunRef) (string, error) {
		d, err := c.cl.Run(ctx, ref)
		if err != nil {
			return "", err
		}
		u := sdk.Usage{}
		if t := d.Telemetry; t != nil {
			u = sdk.Usage{Prompt: t.PromptTokens, Cached: t.CachedTokens, Completion: t.CompletionTokens, Cost: t.Cost, Estimated: t.Estimated}
		}
		facts := []string{c.fact("run", usageText(u))}
		if last != "" {
			facts = append(facts, c.fact("prompt", last))
		}
		if x := d.Context; x != nil {
			facts = append(facts, c.fact("context", contextText(*x)))
		}
		return strings.Join(facts, "\n"), nil
	})
}

// usageText says what was used, as far as providers told.
func usageText(u sdk.Usage) string {
	return cmp.Or(show.Used(u), "the provider did not tell")
}

// contextText says how much of a model's context is filled.
func contextText(x rpc.ContextUse) string {
	text := fmt.Sprintf("%d tokens", x.Tokens)
	if x.Limit > 0 {
		text = fmt.Sprintf("%d of %d tokens, %.0f%%", x.Tokens, x.Limit, 100*x.Share)
	}
	if x.Estimated {
		text += ", estimated"
	}
	return text
}

// config says where the configuration is, and what is not right with it.
func (c *conversation) config(string) tea.Cmd {
	return c.ask(func(ctx context.Context) tea.Msg {
		found, err := c.cl.CheckConfig(ctx, rpc.ConfigCheck{Project: c.o.project})
		if err != nil {
			return failure{err}
		}
		lines := []string{c.fact("file", home(found.Path))}
		for _, d := range found.Diagnostics {
			style := c.p.bad
			if d.Severity == "warning" {
				style = c.p.ask
			}
			lines = append(lines, style.Render("! ")+harmless(strings.TrimSpace(d.Text)))
		}
		if len(found.Diagnostics) == 0 {
			lines = append(lines, c.p.dim.Render("  nothing is wrong with it; `bothy config show` lists what is in force"))
		}
		return shows{func(c *conversation) tea.Cmd { return c.sayOrPage("configuration", strings.Join(lines, "\n")) }}
	})
}
