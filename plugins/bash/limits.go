package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
)

// configured is the sandbox block, and nothing before the daemon has configured it; who
// has mu calls it.
func (b *bash) configured() sdk.Sandbox {
	if b.settings == nil || b.settings.Sandbox == nil {
		return sdk.Sandbox{}
	}
	return *b.settings.Sandbox
}

// sandbox is the sandbox of the runs of a project; without one, of private runs.
func (b *bash) sandbox(project string) sdk.Sandbox {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.configured().For(project)
}

// runSpec is the run's place. In a private workspace there is nothing of the
// project.
func (b *bash) runSpec(key, project, runDir string) sandbox.RunSpec {
	run := sandbox.RunSpec{RunID: key, Project: project, RunDir: runDir}
	x := b.sandbox(project)
	limits := limitsOf(x)
	run.Limits = &limits
	switch x.Workspace {
	case sdk.WorkspacePrivate:
		run.Project = ""
	case sdk.WorkspaceDirect:
		run.Direct = true
	}
	return run
}

func limitsOf(x sdk.Sandbox) sandbox.Limits {
	return sandbox.Limits{Memory: x.Memory, CPUs: x.CPUs, Pids: x.Pids, Tmp: x.Tmp, Quota: x.Quota}
}

// command checks the arguments that the schema cannot.
func (b *bash) command(in arguments, project string) (sandbox.Command, error) {
	c := commandLimits(b.sandbox(project))
	c.Dir = in.Dir
	if strings.TrimSpace(in.Command) == "" {
		return c, sdk.Errorf(sdk.Validation, "command is empty")
	}
	most := sdk.MaxCommandTime.Seconds()
	if in.TimeoutSeconds < 0 || in.TimeoutSeconds > most {
		return c, sdk.Errorf(sdk.Validation, "timeout_seconds is %g; it can be up to %g", in.TimeoutSeconds, most)
	}
	if in.TimeoutSeconds > 0 {
		c.Timeout = time.Duration(in.TimeoutSeconds * float64(time.Second))
	}
	return c, nil
}

// commandLimits are those of a command that asks for none.
func commandLimits(x sdk.Sandbox) sandbox.Command {
	return sandbox.Command{
		Timeout:   cmp.Or(time.Duration(x.Timeout), sdk.CommandTime),
		StdoutCap: cmp.Or(x.MaxOutput, sdk.CommandOutput), StderrCap: cmp.Or(x.MaxErrors, sdk.CommandErrors),
	}
}

// describe is the tool's description for the model, with the limits of the sandbox
// block.
func describe(x sdk.Sandbox) string {
	c := commandLimits(x)
	return strings.NewReplacer(
		"{timeout}", strconv.FormatFloat(c.Timeout.Seconds(), 'f', -1, 64),
		"{most}", strconv.FormatFloat(sdk.MaxCommandTime.Seconds(), 'f', -1, 64),
		"{output}", strconv.FormatFloat(float64(c.StdoutCap)/(1<<20), 'g', 3, 64)+" MB",
		"{limits}", limitWords(limitsOf(x).WithDefaults()),
	).Replace(strings.TrimSpace(description))
}

// limitWords are limits as a model reads them.
func limitWords(l sandbox.Limits) string {
	processors := "processors"
	if l.CPUs == 1 {
		processors = "processor"
	}
	return fmt.Sprintf("%s of memory, %s %s, %d processes and threads, %s in /tmp",
		sizeWords(l.Memory), strconv.FormatFloat(l.CPUs, 'g', 3, 64), processors, l.Pids, sizeWords(l.Tmp))
}

func sizeWords(bytes int64) string {
	if bytes >= 1<<30 {
		return strconv.FormatFloat(float64(bytes)/(1<<30), 'g', 3, 64) + " GB"
	}
	return strconv.FormatFloat(float64(bytes)/(1<<20), 'g', 3, 64) + " MB"
}

// limitsNote tells the limits of a run that are others than the description says.
const limitsNote = "[this run has limits of its own: %s; %s for a command that asks for no other time]\n"

// ownLimits is what the model is told of the limits of a run that has others than the
// sandbox block says; else it is empty.
func (b *bash) ownLimits(project string) string {
	b.mu.Lock()
	x := b.configured()
	b.mu.Unlock()
	said := func(x sdk.Sandbox) string {
		return fmt.Sprintf(limitsNote, limitWords(limitsOf(x).WithDefaults()), commandLimits(x).Timeout)
	}
	if own := said(x.For(project)); own != said(x) {
		return own
	}
	return ""
}
