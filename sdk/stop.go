package sdk

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
	StopRejected = "rejected" // a person rejected a proposal
	StopProposal = "proposal" // never recorded: a client went while a proposal waited
	StopAborted  = "aborted"
	StopFailed   = "failed"
	StopOverflow = "overflow" // the prompt does not fit the model
	StopReplay   = "replay"   // a recorded conversation does not match
	StopConfig   = "config"   // the model's provider cannot work as it is configured
)

// stopReason is what a stop reason means for who called: the exit code and the
// words for people. exitByStatus takes the code from the loop's status; empty
// words are those of the code.
type stopReason struct {
	exit int
	text string
}

const exitByStatus = -1

// stopReasons are all stop reasons but the names of guards.
var stopReasons = map[string]stopReason{
	"":           {exitByStatus, ""},
	StopAnswer:   {exitByStatus, ""},
	StopTerminal: {exitByStatus, ""},
	StopRejected: {exitByStatus, "ended because a call was rejected"},
	StopFailed:   {exitByStatus, ""},
	StopOverflow: {exitByStatus, ""},
	StopProposal: {ExitUnanswered, ""},
	StopAborted:  {ExitAborted, ""},
	StopReplay:   {ExitUsage, ""},
	StopConfig:   {ExitUsage, ""},
}

// exitTexts say in words how a loop ended, by exit code.
var exitTexts = map[int]string{
	ExitOK: "finished", ExitFailed: "failed", ExitUsage: "cannot go on", ExitStopped: "not finished",
	ExitUnanswered: "waits for an answer", ExitAborted: "aborted",
}

// StopExit is the exit code for a loop's end. The stop reason counts before the
// status, because a guard may leave any status behind.
func StopExit(stop string, status int) int {
	reason, known := stopReasons[stop]
	switch {
	case !known:
		return ExitStopped
	case reason.exit != exitByStatus:
		return reason.exit
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
	reason, known := stopReasons[stop]
	exit := StopExit(stop, status)
	switch {
	case !known:
		return "stopped by " + stop
	case reason.text != "" && exit == ExitOK:
		return reason.text
	default:
		return exitTexts[exit]
	}
}
