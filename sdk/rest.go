package sdk

// Why a run rests.
const (
	RestIdle  = "idle"  // nobody gave it a prompt for the time that `store { rest }` says
	RestLeft  = "left"  // whoever worked in it went on to another run, or ended
	RestReset = "reset" // its sandbox was dropped
)

// Unrested says which runs that are to rest are meant.
type Unrested string

// The runs that come to rest by the time of `store { rest }`, by that of channel_rest, and at once.
const (
	UnrestedHere     Unrested = "here"
	UnrestedChannels Unrested = "channels"
	UnrestedLeft     Unrested = "left"
)

// OwedRest is a rest of a run that a plugin has yet to hear of. The rest is From to Why.
type OwedRest struct {
	Run      int64
	Plugin   string
	From, To int
	Why      string
}

// Rest is the payload of run.rested: a run in which nothing is at work and nobody goes on, with the prompts that it was
// given since it rested last. It is told to each plugin that subscribes, one rest at a time, until the plugin answers without an
// error: again after a failure, each time later, and again where the daemon or the plugin ended meanwhile. So a plugin may hear of
// one rest twice, and does what it does for it in a way that bears that. No run that was deleted is told of, none behind
// tools/call, and of a child nothing but its parent's rest.
//
// While it works for the event a plugin may read and write entries of the run, of scope owner those of its owner, and ask for
// completions, which the run pays for. It may call no tool.
type Rest struct {
	ID      string `json:"id"`      // of this rest, the same each time that it is told
	Run     Run    `json:"run"`     // whose Owner says whose it is; a prompt may have come since it rested
	Project string `json:"project"` // its root; empty where the run is private
	RunDir  string `json:"run_dir"`
	From    int    `json:"from"` // the first prompt since the run rested last, by the Sequence of its loop
	To      int    `json:"to"`   // the last one
	Why     string `json:"why"`  // RestIdle, RestLeft or RestReset; another one of a later daemon is as RestIdle
}

// Call is the id of the call in which a plugin, by its block, is told of it: on its behalf the daemon's services are asked.
func (r Rest) Call(plugin string) string { return r.ID + "-" + plugin }
