package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// spinner is drawn in turn while something works.
var spinner = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// status says in one line what is done, since when, and what it has taken. Where there is
// no room for all, the cost is left out first, then the context, then the tokens.
func (l *live) status(c *conversation) string {
	doing, since := l.doing(c), show.Going(time.Since(l.began))
	if len(l.calls.at) > 0 {
		since = " " + since + " in all"
	}
	parts := []string{"esc ends it"}
	usage := l.loop.Usage()
	if usage.Total > 0 && !usage.Estimated {
		parts = append(parts, show.Thousands(usage.Total)+" tokens")
	}
	if u := l.context; u != nil && u.Share > 0 {
		parts = append(parts, fmt.Sprintf("context %.0f%%", 100*u.Share))
	}
	if cost := strings.TrimPrefix(show.Cost(usage.Cost), ", "); cost != "" {
		parts = append(parts, cost)
	}
	room := c.columns() - 2
	doing = show.Cut(doing, max(room-lipgloss.Width(since)-1, 1))
	used, n := lipgloss.Width(doing)+1+len(since), 0
	for n < len(parts) && used+2+len(parts[n]) <= room {
		used += 2 + len(parts[n])
		n++
	}
	s := since
	for _, part := range append(parts[min(n, 1):n], parts[:min(n, 1)]...) { // how it is ended stands last
		s += "  " + part
	}
	return c.p.prompt.Render(spinner[l.step%len(spinner)]) + " " + doing + " " + c.p.dim.Render(s)
}

// doing says what is done.
func (l *live) doing(c *conversation) string {
	switch {
	case l.aborting:
		return "ending"
	case c.lost:
		return "the daemon is gone; trying again"
	case len(l.calls.at) > 0:
		return l.calls.doing()
	case l.forming.Tool != "":
		return show.Forming(l.forming)
	case l.writing.text != "":
		return "writing"
	}
	return "thinking"
}

// contextRead is how much of the model's context the run fills.
type contextRead struct{ use *rpc.ContextUse }

// readContext asks how much of the model's context the run fills. It is called when a turn
// has ended: what is not known is not shown.
func (c *conversation) readContext() tea.Cmd {
	ref := rpc.RunRef{Run: c.run, Project: c.o.project}
	return c.ask(func(ctx context.Context) tea.Msg {
		d, err := c.cl.Run(ctx, ref)
		if err != nil {
			return nil
		}
		return contextRead{d.Context}
	})
}
