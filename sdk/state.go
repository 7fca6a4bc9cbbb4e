package sdk

// State says where an entry is in its life.
type State string

// The states of an entry. The empty State in a Write keeps what is there.
const (
	StateProposed  State = "proposed"  // waits for a person
	StateStreaming State = "streaming" // its body still grows, or its action still runs
	StateResolved  State = "resolved"  // done, and well
	StateFailed    State = "failed"    // done, and not; Outcome says why
	StateCancelled State = "cancelled" // given up; Outcome says by what
)

// Ended reports whether no further change of an action is to be expected.
func (s State) Ended() bool {
	return s == StateResolved || s == StateFailed || s == StateCancelled
}

// Visibility says how much of an entry a model sees next turn.
type Visibility string

// The levels of visibility, from most to least.
const (
	Visible    Visibility = "visible"
	Summarized Visibility = "summarized"
	Archived   Visibility = "archived"
)

// Writer is who writes an entry; each scheme lists the writers it admits.
type Writer string

// The four writer tiers.
const (
	WriterSystem Writer = "system"
	WriterPlugin Writer = "plugin"
	WriterClient Writer = "client"
	WriterModel  Writer = "model"
)

// Phase is how far an action has come. Only the engine writes it, and each
// change is part of one commit, so that after a crash it tells what may have
// happened: nothing before PhaseStarted, perhaps everything after it.
type Phase string

// The phases of an action, in order. An entry that is no action has none.
const (
	PhaseNone     Phase = ""
	PhaseRecorded Phase = "recorded"
	PhaseApproved Phase = "approved"
	PhaseStarted  Phase = "started"
	PhaseEnded    Phase = "ended"
)
