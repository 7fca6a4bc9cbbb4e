package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

const (
	instructionsHelp = `  y          agents follow it in this folder and below, from now on and whatever it comes to say
  n          agents are told that it is there, and not what it says
  d          show all its text, as agents would get it
  no answer  is n. 'bothy trust' asks again, 'bothy trust --revoke-instructions' takes a yes back.`

	notFollowed = "%s was not read, since nobody has agreed that agents follow the instructions in this folder: `bothy trust` shows them and asks, `bothy trust --accept-instructions` says yes"
)

// answerInstructions says yes or no to the instructions of a project.
func answerInstructions(ctx context.Context, cl *client.Client, project string, follow bool) (rpc.Trust, error) {
	return cl.Trust(ctx, rpc.TrustQuery{Project: project, Instructions: true, Follow: follow, Revoke: !follow})
}

// saidInstructions is what an answer came to, for people.
func (c *console) saidInstructions(project string, follow bool) {
	if follow {
		c.say("agents follow the instructions of %s and of the folders below it", show.Line(project))
		return
	}
	c.say("agents do not follow the instructions of %s", show.Line(project))
}

// aboutInstructions names a file that somebody is asked about.
func aboutInstructions(project string, in rpc.TrustInstructions) string {
	return fmt.Sprintf("%s of this folder tells agents what to do:\n  %s, %s", show.Line(in.File), show.Line(filepath.Join(project, in.File)), show.Plural(int(in.Size), "byte"))
}

// followOf reads an answer; false is none that is known.
func followOf(line string) (follow, known bool) {
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true, true
	case "", "n", "no":
		return false, true
	}
	return false, false
}

// openInstructions settles what a folder tells agents before a prompt is sent: a person
// is asked where nobody has answered yet. Where there is nobody, and what follows the
// run tells no one, a line says what is not read. A daemon that does not answer is told
// of by what comes next.
func (c *console) openInstructions(ctx context.Context, cl *client.Client, project string, asks, told bool) error {
	if !asks && told {
		return nil
	}
	found, err := cl.Trust(ctx, rpc.TrustQuery{Project: project, Instructions: true})
	in := found.Instructions
	switch {
	case err != nil || in.Trusted || in.File == "":
		return nil
	case !asks:
		c.say(notFollowed, show.Line(in.File))
		return nil
	case in.Answered:
		return nil
	}
	c.say("%s", aboutInstructions(found.Project, in))
	for {
		line, err := (&asker{c: c, cl: cl}).prompt(ctx, "Follow it? [y/N, d shows it, ? help] ")
		if err != nil {
			return err
		}
		follow, known := followOf(line)
		switch word := strings.TrimSpace(line); {
		case known:
			if _, err := answerInstructions(ctx, cl, project, follow); err != nil {
				return err
			}
			c.saidInstructions(found.Project, follow)
			return nil
		case word == "d":
			c.say("%s", indented(show.Text(in.Text), "  "))
		case word == "?":
			c.say("%s", instructionsHelp)
		default:
			c.say("  %s is no answer: ? lists them", c.exact(word))
		}
	}
}

// instructions shows what a folder tells agents and asks about it, unless that was
// answered with yes. It reports whether there is nobody to ask.
func (t *truster) instructions(ctx context.Context, in rpc.TrustInstructions) (open bool, err error) {
	if in.Problem != "" {
		if err := t.print(fmt.Sprintf("\n%s %s\n", t.c.paint(red, "the instructions of this folder cannot be read:"), show.Line(in.Problem))); err != nil {
			return false, err
		}
	}
	if in.Trusted {
		t.c.saidInstructions(t.project, true)
	}
	if in.Trusted || in.File == "" {
		return false, nil
	}
	if err := t.print("\n" + aboutInstructions(t.project, in) + "\n"); err != nil || !t.c.inTTY {
		return true, err
	}
	for {
		word, err := t.line("Have agents follow it, in this folder and below? [y/N, d shows all its text] ")
		if err != nil {
			return false, err
		}
		if word == "d" {
			alone, err := t.cl.Trust(ctx, rpc.TrustQuery{Project: t.project, Instructions: true})
			if err == nil {
				err = t.print(indented(show.Text(alone.Instructions.Text), "  "))
			}
			if err != nil {
				return false, err
			}
			continue
		}
		follow, _ := followOf(word)
		if _, err := answerInstructions(ctx, t.cl, t.project, follow); err != nil {
			t.failed = err
			t.c.complain(err)
			return false, ctx.Err()
		}
		t.c.saidInstructions(t.project, follow)
		return false, nil
	}
}
