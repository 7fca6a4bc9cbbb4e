package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type auditCmd struct {
	List   auditListCmd   `cmd:"" default:"withargs" help:"List the actions, refused ones included, and the security events."`
	Verify auditVerifyCmd `cmd:"" help:"Check that nothing of the journal was changed or taken out."`
	Export auditExportCmd `cmd:"" help:"Write the commands as lines of text."`
}

// auditFilter is what the records are of.
type auditFilter struct {
	RunName string `name:"run" short:"r" placeholder:"RUN" complete:"run" help:"Those of one run: its alias or id."`
	lastFlag
	Project string `placeholder:"DIR" complete:"dir" help:"Those of one project; of all when absent."`
	Since   string `placeholder:"TIME" help:"Not before: how long ago, as 2h, or when, as 2026-01-31."`
	Events  bool   `help:"Security events only: violations of the sandbox, escapes from the project, refused approvals."`
}

// params is the filter as the daemon takes it.
func (f auditFilter) params(ctx context.Context, c *console) (rpc.AuditParams, error) {
	p := rpc.AuditParams{Events: f.Events}
	var err error
	if p.Since, err = since(f.Since, time.Now()); err != nil {
		return p, err
	}
	if f.RunName, err = f.name(ctx, c, f.RunName, f.Project); err != nil {
		return p, err
	}
	p.Run, p.Project, err = c.filter(f.RunName, f.Project)
	return p, err
}

// records calls do with each record that fits, page by page, until there are no
// more or there were so many; 0 is all.
func (f auditFilter) records(ctx context.Context, c *console, most int, do func(rpc.AuditRecord) error) error {
	p, err := f.params(ctx, c)
	if err != nil {
		return err
	}
	cl, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close(cl)
	for n := 0; ; {
		page, err := cl.Audit(ctx, p)
		if err != nil {
			return err
		}
		for _, r := range page.Records {
			if n++; most > 0 && n > most {
				return errMore
			}
			if err := do(r); err != nil {
				return err
			}
		}
		if page.Next == 0 {
			return nil
		}
		if page.Next <= p.After {
			return fmt.Errorf("the audit's page after %d leads back to %d", p.After, page.Next)
		}
		p.After = page.Next
	}
}

// errMore says that there are more records than were asked for.
var errMore = fmt.Errorf("there are more records: --limit 0 has all, --since the newer ones")

type auditListCmd struct {
	auditFilter
	Limit int `short:"n" default:"1000" help:"At most so many, the oldest first; 0 is all."`
}

// Help adds to the verb's help.
func (auditListCmd) Help() string {
	return `One line an action: when, in which run, what, what was decided by which rule, and how it ended. It is a view of the journal, made when it is asked for. With --json each record is one object on a line of its own, with everything there is.

Examples:

    bothy audit --since 2h
    bothy audit --run fix-42 --json | jq -r 'select(.verdict == "deny") | .rule'
    bothy audit --events
    bothy audit verify
    bothy audit export --to audit.log
`
}

// Run prints the records as they come with --json, else as one table.
func (cmd auditListCmd) Run(ctx context.Context, c *console) error {
	if cmd.Limit < 0 {
		return usageError{"--limit must not be negative"}
	}
	var found []rpc.AuditRecord
	err := cmd.records(ctx, c, cmd.Limit, func(r rpc.AuditRecord) error {
		if c.json {
			return writeJSON(c.out, r, "")
		}
		found = append(found, r)
		return nil
	})
	more := err == errMore
	if err != nil && !more {
		return err
	}
	if err = nil; !c.json {
		err = tableOf(c, found, "the audit has no such records", []string{"TIME", "RUN", "WHAT", "DECIDED", "RULE", "ENDED", "COMMAND"}, auditRow)
	}
	if more {
		c.say("bothy: %v", errMore)
	}
	return err
}

// auditRow is one record of the table. The command's place is the last one,
// which is shortened on a terminal.
func auditRow(r rpc.AuditRecord) []string {
	what, text := r.Tool, cmp.Or(r.Command, show.Readable(r.Arguments))
	if r.Event != "" {
		what = "! " + r.Event
	}
	if text == "" || r.Event != "" && r.Detail != "" {
		text = r.Detail
	}
	decided := string(r.Verdict)
	if r.Answer != "" {
		decided += ", " + string(r.Answer)
	}
	if r.From != nil {
		decided += " by " + sdk.PersonID(r.Channel, r.From.Person)
	}
	if r.Runs != "" {
		decided += " by the " + r.Runs + " that runs it"
	}
	return []string{r.Time.Local().Format("2006-01-02 15:04:05"), r.Run, what, decided, r.Rule, auditEnd(r), text}
}

// auditEnd says how an action ended.
func auditEnd(r rpc.AuditRecord) string {
	switch {
	case r.Exit != nil && byExit(r):
		return fmt.Sprintf("exit %d", *r.Exit)
	case r.State == sdk.StateResolved:
		return "ok"
	case r.Outcome != "":
		return string(r.Outcome)
	case r.State != "":
		return string(r.State)
	case r.Event != "":
		return ""
	default: // a plugin's call, of which the journal keeps no end
		return "called"
	}
}

// byExit reports whether a command's status is what it came to. One that was
// killed for its time or its memory has a status as well, which says less.
func byExit(r rpc.AuditRecord) bool {
	_, exit := r.Outcome.ExitCode()
	return r.Outcome == "" || exit
}

type auditVerifyCmd struct{}

// Run prints what the check found, and fails when the chain is broken.
func (auditVerifyCmd) Run(ctx context.Context, c *console) error {
	return query(ctx, c, func(cl *client.Client) (rpc.AuditVerdict, error) {
		v, err := cl.AuditVerify(ctx)
		if err != nil {
			err = fmt.Errorf("checking the journal: %w", err)
		}
		return v, err
	}, told(c, func(v rpc.AuditVerdict) string {
		if v.Whole {
			return fmt.Sprintf("the journal is whole: %s, each chained to the one before it", show.Plural(int(v.Rows), "row"))
		}
		return fmt.Sprintf("the journal is broken at row %d: %s", v.BrokenAt, v.Detail)
	}), exitUnless(exitFailed, func(v rpc.AuditVerdict) bool { return v.Whole }))
}
