package main

import (
	"fmt"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// modeFlags say how much a prompt may do without a question.
type modeFlags struct {
	Mode           string         `enum:",${modes}" default:"" placeholder:"MODE" help:"interactive: every side effect is asked about. restricted: what is proven harmless runs, the rest is asked about, or denied when there is no terminal. workspace: commands work on a copy of the project and run, what leaves it is asked about. full: whatever is not denied runs; needs --allow-dangerous. The agent's own when absent."`
	AllowDangerous bool           `help:"Say that you mean --mode full."`
	Yolo           bool           `help:"Run in full mode and stay in it: this run never asks again, in later prompts either."`
	AnswerWithin   *time.Duration `placeholder:"TIME" help:"Without a terminal: how long a question waits for an answer from elsewhere before this ends with 4, as 30s; policy.answer_within of the configuration when absent."`
}

// check refuses flags that contradict each other or were not meant.
func (f modeFlags) check(ask bool) error {
	switch {
	case ask && (f.Yolo || f.Mode != "" || f.AllowDangerous):
		return usageError{"--ask only reads, in every mode: leave out --mode, --allow-dangerous and --yolo"}
	case f.Yolo && f.Mode != "" && f.Mode != string(sdk.ModeFull):
		return usageError{"--yolo is full mode: leave out --mode " + f.Mode}
	case f.Mode == string(sdk.ModeFull) && !f.AllowDangerous && !f.Yolo:
		return usageError{"--mode full runs whatever is not denied, without a question: say --allow-dangerous as well if you mean that"}
	case f.AllowDangerous && f.Mode != string(sdk.ModeFull) && !f.Yolo:
		return usageError{"--allow-dangerous goes with --mode full"}
	case f.AnswerWithin != nil && *f.AnswerWithin < 0:
		return usageError{fmt.Sprintf("--answer-within %s is negative", *f.AnswerWithin)}
	}
	return nil
}

// approver is who answers: the person at the terminal, when people read what
// is printed. The connections that are made from now on may do what it takes,
// and no more.
func (f modeFlags) approver(c *console, people bool) approver {
	who := approver{asks: people && c.asks(), within: f.AnswerWithin}
	if who.asks || f.Yolo || f.Mode == string(sdk.ModeFull) {
		c.role = rpc.RoleApprove
	}
	return who
}

// widen puts the flags into a prompt, and says loudly what --yolo does.
func (f modeFlags) widen(c *console, p *rpc.Prompt) {
	p.Mode, p.Yolo = sdk.Mode(f.Mode), f.Yolo
	if f.Yolo {
		c.say("%s", c.paint(red, "YOLO: from now on this run does whatever it wants without asking: it runs commands, and changes and deletes files of the project."))
		c.say("%s", c.paint(red, "Only the container and the deny-list are in its way. `bothy runs rm` ends the run, another run asks again."))
	}
}
