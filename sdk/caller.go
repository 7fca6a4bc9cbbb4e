package sdk

// Caller is a plugin that asks the daemon for a service, with the call that it
// serves meanwhile. The daemon fills it in: nothing of it is the plugin's word.
type Caller struct {
	Instance string
	Call     string // the id of the call
	Run      string // the run's key; empty when the call belongs to none
	Project  string // the project's root
	RunDir   string
	Model    string // of the run, for an execution of a skill
	Depth    int    // 1 for a call that the engine made
	Reads    int64  // where a filter is asked: the run about whose prompt, of which it reads entries of the plugin's own schemes and does nothing else
}
