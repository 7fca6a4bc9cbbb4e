package sdk

// GuardMaxTurns is the name that a loop bears which was stopped after as many turns as
// it may take. Work that is not done can go on.
const GuardMaxTurns = "max_turns"

// The guards that stop a model which repeats itself, by the name that a stopped
// loop bears.
const (
	GuardRepeatedCalls = "repeated_calls"
	GuardWindow        = "window"     // of window_calls
	GuardMinCycles     = "min_cycles" // max_strikes, when the last strike was a pattern that repeats
)

// StopRepeats reports whether a loop was stopped because its model repeated itself.
func StopRepeats(stop string) bool {
	return stop == GuardRepeatedCalls || stop == GuardWindow || stop == GuardMinCycles
}

// Guards are the rules that can stop a loop (ADR 0013). Zero turns a
// guard off.
//
// The tags say all that there is to know of a guard outside of its rule: the
// attribute's name (json), its default, that of agents of the dialect tags where it is another (tags), the least beside 0
// (least), what people read of it (doc), and, with of, the guard of which it is a part. Whatever reads, merges, restricts or shows
// guards walks the fields, so that a new one is added here and in the daemon's package guard.
type Guards struct {
	MaxTurns          int      `json:"max_turns" default:"99" doc:"turns of one loop"`
	RepeatedCalls     int      `json:"repeated_calls" default:"2" tags:"0" least:"2" doc:"the same call so often in a row gets the result of the one before, once more stops; 0 is off"`
	ConsecutiveErrors int      `json:"consecutive_errors" default:"3" tags:"0" doc:"so many answers in a row with a failed call (not: an exit status) stop the loop; 0 is off"`
	WindowCalls       int      `json:"window_calls,omitempty" default:"0" least:"2" doc:"the same call so many times among the last window_size stops the loop; 0 is off"`
	WindowSize        int      `json:"window_size,omitempty" default:"0" of:"window_calls" doc:"how many calls window_calls looks at"`
	MaxStrikes        int      `json:"max_strikes,omitempty" default:"0" tags:"3" doc:"so many turns in a row with a strike stop the loop; 0 is off"`
	MinCycles         int      `json:"min_cycles,omitempty" default:"0" tags:"3" least:"2" doc:"a pattern of turns that repeats so often is a strike; 0 is off"`
	MaxCyclePeriod    int      `json:"max_cycle_period,omitempty" default:"0" tags:"4" of:"min_cycles" doc:"the longest pattern that min_cycles looks for, in turns"`
	Deadline          Duration `json:"deadline,omitempty" default:"0s" doc:"time of one prompt, from its first turn; 0s is off"`
	MaxChildren       int      `json:"max_children" default:"16" doc:"tasks that are delegated for one prompt, by those that it delegated to as well; 0 is off"`
	MaxCost           float64  `json:"max_cost,omitempty" default:"0" doc:"what one prompt may cost, in the currency of the models' prices; 0 is off"`
}
