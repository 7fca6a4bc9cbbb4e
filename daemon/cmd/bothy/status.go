package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// dyingTime is how long a daemon that was killed may still have its socket.
const dyingTime = time.Second

// shownWaits is how many of what waits status names.
const shownWaits = 5

type statusCmd struct{}

// Help adds to the verb's help.
func (statusCmd) Help() string {
	return "It does not start the daemon: without one it says so and exits with 1."
}

// Run prints how the daemon is.
func (statusCmd) Run(ctx context.Context, c *console) error {
	cl, err := c.daemon().AttachSoon(ctx, dyingTime)
	var down *client.NotRunningError
	if errors.As(err, &down) {
		if c.json {
			return errors.Join(c.printJSON(map[string]any{"running": false, "socket": down.Socket}), exitError{code: exitFailed})
		}
		if pid := start.Holder(down.Socket); pid != 0 {
			return fmt.Errorf("bothyd (pid %d) runs and has no socket at %s: it starts, ends, or makes again what was removed; ask again in a few seconds", pid, down.Socket)
		}
		return fmt.Errorf("bothyd is not running: `bothy run` starts it (no answer at %s)%s", down.Socket, c.whyNot(ctx))
	}
	if err != nil {
		return err
	}
	defer c.close(cl)
	type running struct {
		Running bool `json:"running"`
		AtWork  int  `json:"at_work"` // what Status calls running, which is taken here
		rpc.Status
		Waits []wait `json:"waits"` // for an answer
	}
	return queryWith(c, cl, func(cl *client.Client) (running, error) {
		s, err := cl.Status(ctx)
		if err != nil {
			return running{}, err
		}
		waits, err := waitsOf(ctx, cl)
		return running{true, s.Running, s, waits}, err
	}, func(r running) error { return c.printStatus(r.Status, r.Waits) })
}

// whyNot says what would keep a daemon from starting here: a configuration
// that cannot be used, or no daemon at all.
func (c *console) whyNot(ctx context.Context) string {
	path, err := c.daemon().Program()
	if err != nil {
		return "\n" + err.Error()
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "config", "show") // check also tells of what stops a plugin only
	cmd.Dir, cmd.Env = c.dir, c.environ
	out, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	return "; it cannot start:\n" + strings.TrimSpace(string(out))
}

func (c *console) printStatus(s rpc.Status, waits []wait) error {
	lines := [][2]string{
		{"version", s.Version + ", protocol " + s.Protocol},
		{"process", fmt.Sprintf("%d, up %s, %s in memory", s.PID, time.Since(s.Started).Round(time.Second), size(s.RSS))},
		{"socket", s.Socket + ", " + show.Plural(s.Connections, "connection")},
		{"database", fmt.Sprintf("%s, journal at %d", s.Database, s.Seq)},
		{"log", s.Log},
		{"config", s.Config + reading(s)},
		{"work", fmt.Sprintf("%d running, %d queued", s.Running, s.Queued) + leaving(s)},
	}
	if s.Web != "" {
		lines = append(lines, [2]string{"web", "WebSockets at " + s.Web + ", tokens beside the socket"})
	}
	for i, w := range waits {
		if i == shownWaits {
			lines = append(lines, [2]string{"waits", fmt.Sprintf("and %d more: `bothy proposals` lists them", len(waits)-i)})
			break
		}
		lines = append(lines, [2]string{"waits", w.line(time.Now()) + " (`bothy proposals show " + w.ID + "`)"})
	}
	lines = append(lines, [2]string{"skills", fmt.Sprintf("%d can be used", s.Skills.Usable)})
	for _, f := range s.Skills.Folders {
		lines = append(lines, [2]string{"skills", folderLine(f)})
	}
	if len(s.HomeTools) > 0 {
		lines = append(lines, [2]string{"home", "commands have " + strings.Join(s.HomeTools, ", ") + " (bothy doctor names the folders)"})
	}
	for _, text := range s.Waiting {
		lines = append(lines, [2]string{"prompts", show.Text(text)})
	}
	for _, p := range s.Plugins {
		lines = append(lines, [2]string{"plugin", pluginLine(p)})
	}
	if err := c.facts(9, lines); err != nil {
		return err
	}
	for _, p := range s.Problems {
		if _, err := fmt.Fprintf(c.out, "%-9s %s\n", "problem", show.Text(p)); err != nil {
			return err
		}
	}
	return nil
}

// leaving says that the daemon stops.
func leaving(s rpc.Status) string {
	if !s.Stopping {
		return ""
	}
	return "; it is stopping: what runs has a while to end, what is queued waits for the next start"
}

// reading says how a change of the configuration is found, when it is found late.
func reading(s rpc.Status) string {
	if s.Polling == "" {
		return ""
	}
	return ", read every few seconds: it cannot be watched (" + s.Polling + ")"
}

// folderLine says what is not as it should be with a folder of skills.
func folderLine(f rpc.SkillFolder) string {
	switch {
	case f.Watching == "polling" && f.Problem != "":
		return f.Path + " is read every few seconds: " + f.Problem
	case f.Watching == "polling":
		return f.Path + " is read every few seconds: it cannot be watched"
	case strings.Contains(f.Problem, f.Path): // it names the folder, or the one in it that it is about
		return f.Problem
	case f.Problem != "":
		return f.Path + ": " + f.Problem
	default:
		return ""
	}
}

func pluginLine(p rpc.Plugin) string {
	text := p.Instance + " " + p.State
	if p.PID != 0 {
		text += fmt.Sprintf(" (%d, %s)", p.PID, size(p.RSS))
	}
	if p.Error != "" {
		text += ": " + p.Error
	} else if p.Detail != "" {
		text += ": " + p.Detail
	}
	return text
}

// size writes bytes for a person.
func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	default:
		return fmt.Sprintf("%d KB", n>>10)
	}
}

// close ends a client; an error of that changes nothing for the caller.
func (c *console) close(cl *client.Client) { _ = cl.Close() }
