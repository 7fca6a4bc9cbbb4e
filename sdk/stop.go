package sdk

import "strings"

// The exit codes of `bothy` for a loop that has ended or is no longer followed.
const (
	ExitOK         = 0
	ExitFailed     = 1
	ExitUsage      = 2 // usage or configuration
	ExitStopped    = 3 // by a guard, or not finished
	ExitUnanswered = 4 // a proposal waits for a person
	ExitAborted    = 5
)

// The stop reasons of a loop: what ended it. A guard ends a loop under its own
// name instead, so that a stop which is not listed here is that of a guard.
const (
	StopAnswer   = "answer"   // the model answered without a call
	StopTerminal = "terminal" // a tool that is declared terminal
	StopRejected = "rejected" // a person rejected a proposal, and gave no reason
	StopProposal = "proposal" // never recorded: a client went while a proposal waited
	StopAborted  = "aborted"
	StopTaken    = "taken" // a person took the prompt back before any work on it
	StopFailed   = "failed"
	StopOverflow = "overflow" // the prompt does not fit the model
	StopReplay   = "replay"   // a conversation that the provider replay plays does not match
	StopMismatch = "mismatch" // the cassette that was given with the prompt does not match
	StopConfig   = "config"   // the model's provider cannot work as it is configured
	// StopNotFinished: an agent with a finish schema went on answering in plain text.
	StopNotFinished = "not_finished"
)

// StopReason is what a stop reason means for who called.
type StopReason struct {
	Name string
	Exit int    // the exit code, or ExitByStatus
	Text string // of a loop that ended well, for people; empty is that of the code
	Doc  string // what ended the loop, for the manual
}

// ExitByStatus is the Exit of a stop reason whose exit code is that of the loop's
// status.
const ExitByStatus = -1

// StopReasons are all stop reasons but the names of guards.
func StopReasons() []StopReason {
	return []StopReason{
		{StopAnswer, ExitByStatus, "", "the model answered without a call"},
		{StopTerminal, ExitByStatus, "", "a call of a tool that ends the work"},
		{StopRejected, ExitByStatus, "ended because a call was rejected", "a person rejected a call, and gave no reason"},
		{StopFailed, ExitByStatus, "", "an error"},
		{StopOverflow, ExitByStatus, "", "the prompt does not fit the model"},
		{StopProposal, ExitUnanswered, "", "nobody answered in time, and the run waits; the journal has no such end"},
		{StopAborted, ExitAborted, "", "a person"},
		{StopTaken, ExitAborted, "", "a person, before any work on the prompt"},
		{StopReplay, ExitUsage, "", "a conversation that the provider `replay` plays does not match"},
		{StopMismatch, ExitFailed, "", "the cassette of `--replay` does not match"},
		{StopConfig, ExitUsage, "", "the model's provider cannot work as it is configured"},
		{StopNotFinished, ExitStopped, "", "an agent that has to hand a result over answered in plain text instead, three times in a row"},
	}
}

// stopReason finds a stop reason. A loop that has not ended has none, and counts
// by its status.
func stopReason(name string) (StopReason, bool) {
	for _, reason := range StopReasons() {
		if reason.Name == name {
			return reason, true
		}
	}
	return StopReason{Exit: ExitByStatus}, name == ""
}

// exitTexts say in words how a loop ended, by exit code.
var exitTexts = map[int]string{
	ExitOK: "finished", ExitFailed: "failed", ExitUsage: "cannot go on", ExitStopped: "not finished",
	ExitUnanswered: "waits for an answer", ExitAborted: "aborted",
}

// StopExit is the exit code for a loop's end. The stop reason counts before the
// status, because a guard may leave any status behind.
func StopExit(stop string, status int) int {
	reason, known := stopReason(stop)
	switch {
	case !known:
		return ExitStopped
	case reason.Exit != ExitByStatus:
		return reason.Exit
	}
	switch status {
	case StatusOK, StatusNoContent:
		return ExitOK
	case StatusAborted:
		return ExitAborted
	case StatusProposed:
		return ExitUnanswered
	case StatusQueued, StatusRunning:
		return ExitStopped
	default:
		return ExitFailed
	}
}

// StopText says in words how a loop ended. The name of a guard may come from a
// plugin: escape the text before it is shown on a terminal.
func StopText(stop string, status int) string {
	reason, known := stopReason(stop)
	exit := StopExit(stop, status)
	switch {
	case !known:
		return "stopped by " + stop
	case reason.Text != "" && exit == ExitOK:
		return reason.Text
	default:
		return exitTexts[exit]
	}
}

// Excerpt is the first line of a text, cut to what a reason can hold.
func Excerpt(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(line); len(r) > 200 {
		return string(r[:200]) + "..."
	}
	return line
}
