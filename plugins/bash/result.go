package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
)

// What a result may hold of a command's output, so that it fits one message to
// the daemon: output is the whole as far as it goes, and metadata repeats the
// beginning of each channel. JSON writes a control character as six bytes.
const (
	shownBytes    = 11 << 20
	repeatedOut   = 512 << 10
	repeatedError = 128 << 10
)

// output collects what the two channels print.
type output struct {
	stdout, stderr []byte
	// network says that the command had one.
	network bool
	// printed is how the result begins: what the command printed, before what is said of it.
	printed string
}

// whole is what both channels printed, one behind the other.
func (o *output) whole() string { return joined(text(o.stdout), "", text(o.stderr), "", "") }

func (o *output) add(channel int, data []byte) {
	if channel == 1 {
		o.stdout = append(o.stdout, data...)
	} else {
		o.stderr = append(o.stderr, data...)
	}
}

// answer turns how a command ended into what the model and people read.
func answer(r sandbox.Result, out *output) sdk.ToolResult {
	stdout, stderr := text(out.stdout), text(out.stderr)
	result := sdk.ToolResult{
		Success:   r.ExitCode == 0 && !r.TimedOut && len(r.Violations)+len(r.Conflicts) == 0 && r.Overflow == nil,
		Truncated: r.StdoutDropped > 0 || r.StderrDropped > 0,
		Metadata:  map[string]any{"exit_code": r.ExitCode, "duration_ms": r.Duration.Milliseconds()},
	}
	droppedOut, droppedErr := dropped("stdout", r.StdoutDropped), dropped("stderr", r.StderrDropped)
	out.printed = joined(stdout, droppedOut, stderr, droppedErr, "")
	result.Output = joined(stdout, droppedOut, stderr, droppedErr, notes(r)+acrossDevices(r, stderr)+unreached(r, out))
	if short := sdk.Head(result.Output, shownBytes); short != result.Output {
		result.Output, result.Truncated = short, true
	}
	out1, out2 := sdk.Head(stdout, repeatedOut), sdk.Head(stderr, repeatedError)
	result.Metadata["stdout"], result.Metadata["stderr"] = out1, out2
	if out1 != stdout || out2 != stderr {
		result.Metadata["repeated_in_part"] = true
	}
	optional(result.Metadata, r)
	if !result.Success {
		result.Error, result.Outcome = verdict(r)
	}
	return result
}

// optional adds what is said only when it is so.
func optional(metadata map[string]any, r sandbox.Result) {
	if r.Container != "" {
		metadata["container"] = r.Container
	}
	if r.Signal != "" {
		metadata["signal"] = r.Signal
	}
	if r.TimedOut {
		metadata["timed_out"] = true
	}
	if r.OOM {
		metadata["oom"] = true
	}
	if o := r.Overflow; o != nil {
		metadata["overflow"] = map[string]any{"used": o.Used, "quota": o.Quota, "disk": o.Disk, "killed": o.Killed}
	}
	if r.Leftovers > 0 {
		metadata["killed_processes"] = r.Leftovers
	}
	if r.StdoutDropped > 0 || r.StderrDropped > 0 {
		metadata["dropped"] = map[string]int64{"stdout": r.StdoutDropped, "stderr": r.StderrDropped}
	}
	listed(metadata, "violations", r.Violations)
	listed(metadata, "conflicts", r.Conflicts)
	if r.Viewed {
		metadata["changed"] = len(r.Changes)
	}
	if len(r.Held) > 0 {
		held := make([]map[string]any, len(r.Held))
		for i, h := range r.Held {
			held[i] = map[string]any{"path": h.Path, "reason": h.Reason}
		}
		listed(metadata, "held", held)
	}
}

// listed adds a list as it will look on the other side of the wire; an empty one is
// left out.
func listed[T any](metadata map[string]any, name string, all []T) {
	var list []any
	if len(all) == 0 {
		return
	}
	if data, err := json.Marshal(all); err == nil && json.Unmarshal(data, &list) == nil {
		metadata[name] = list
	}
}

// swapped is the answer about a command that was not run, since its container
// would have had another directory than the project. It tells the violation.
func swapped(r sandbox.Result, err error) sdk.ToolResult {
	result := sdk.ToolResult{Error: "sandbox violation: " + err.Error(), Outcome: sdk.Permission, Metadata: map[string]any{}}
	optional(result.Metadata, r)
	return result
}

// verdict is the one sentence of a failure.
func verdict(r sandbox.Result) (string, sdk.Outcome) {
	switch {
	case r.Overflow != nil && (r.Overflow.Killed || r.ExitCode == 0 && len(r.Violations)+len(r.Conflicts) == 0):
		return r.Overflow.Error(), sdk.Overflow
	case r.TimedOut:
		return fmt.Sprintf("timed out after %s", r.Timeout), sdk.Timeout
	case r.OOM:
		return "killed: out of memory", sdk.OutOfMemory
	case r.Signal == "SIGKILL":
		return fmt.Sprintf("ended by signal SIGKILL (exit status %d): it killed itself, or the machine ran out of memory", r.ExitCode), sdk.Exit(r.ExitCode)
	case r.Signal != "":
		return fmt.Sprintf("ended by signal %s (exit status %d)", r.Signal, r.ExitCode), sdk.Exit(r.ExitCode)
	case r.ExitCode != 0:
		return fmt.Sprintf("exit status %d", r.ExitCode), sdk.Exit(r.ExitCode)
	}
	if len(r.Violations) == 0 {
		return conflicted(r.Conflicts), sdk.Conflict
	}
	var paths []string
	for _, v := range r.Violations {
		paths = append(paths, v.Path)
	}
	return "sandbox violation: a command may not change " + strings.Join(paths, ", "), sdk.Permission
}

// conflicted says in one sentence why changes were not applied.
func conflicted(conflicts []sandbox.Conflict) string {
	var changed, refused, clauses []string
	for _, c := range conflicts {
		if c.Reason != "" {
			refused = append(refused, c.Path+" ("+c.Reason+")")
			continue
		}
		changed = append(changed, c.Path)
	}
	if len(changed) > 0 {
		clauses = append(clauses, "somebody else changed "+strings.Join(changed, ", ")+" while the command ran; the command's version was not applied")
	}
	if len(refused) > 0 {
		clauses = append(clauses, "what the command made of "+strings.Join(refused, ", ")+" could not be applied to the project")
	}
	return strings.Join(clauses, "; ")
}

func dropped(channel string, n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("[%d more bytes of %s were dropped]\n", n, channel)
}

// notes tell what the sandbox did about the quota and about protected paths.
func notes(r sandbox.Result) string {
	var b strings.Builder
	if r.Overflow != nil {
		fmt.Fprintf(&b, "[%s; %s]\n", r.Overflow.Error(), r.Overflow.Hint())
	}
	for _, v := range r.Violations {
		switch v.Action {
		case sandbox.ActionRestored:
			fmt.Fprintf(&b, "[sandbox violation: %s is protected; it was restored to what it was]\n", v.Path)
		case sandbox.ActionRemoved:
			fmt.Fprintf(&b, "[sandbox violation: %s is protected; what the command made there was removed]\n", v.Path)
		case sandbox.ActionRefused:
			fmt.Fprintf(&b, "[sandbox violation: what the command made of %s was not applied to the project (%s)]\n", v.Path, v.Detail)
		default:
			fmt.Fprintf(&b, "[sandbox violation: %s is protected and may have been changed: %s]\n", v.Path, v.Detail)
		}
	}
	for _, h := range r.Held {
		fmt.Fprintf(&b, "[%s was not applied to the project yet: a person has to agree (%s)]\n", h.Path, h.Reason)
	}
	for _, c := range r.Conflicts {
		if c.Reason != "" {
			fmt.Fprintf(&b, "[what the command made of %s could not be applied to the project: %s; the project has it as before]\n", c.Path, c.Reason)
			continue
		}
		fmt.Fprintf(&b, "[%s was changed by somebody else while the command ran: that stays, and the command's version was not applied; look at it again]\n", c.Path)
	}
	return b.String()
}

// acrossDevices explains why a program could not rename a folder of the project.
func acrossDevices(r sandbox.Result, stderr string) string {
	if !r.Viewed || !strings.Contains(stderr, "cross-device") && !strings.Contains(stderr, "EXDEV") {
		return ""
	}
	return "[a folder that was there before the command cannot be renamed in one step here: use mv, which copies, and then git add]\n"
}

// joined puts notes on lines of their own; without notes it is the output as it
// was.
func joined(stdout, stdoutNote, stderr, stderrNote, notes string) string {
	var b strings.Builder
	last := byte('\n')
	add := func(s string, line bool) {
		if s == "" {
			return
		}
		if line && last != '\n' {
			b.WriteByte('\n')
		}
		b.WriteString(s)
		last = s[len(s)-1]
	}
	add(stdout, false)
	add(stdoutNote, true)
	add(stderr, false)
	add(stderrNote, true)
	add(notes, true)
	return b.String()
}

// text makes output fit for JSON: what is no UTF-8 becomes U+FFFD.
func text(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
