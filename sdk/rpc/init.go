package rpc

// Init is the parameters of init, which makes a project that of the connection: a later request on it that
// names none is about this one, as if it were written there. From then on the connection is also sent, of the
// project's runs, run/state, run/progress, run/proposal, stream/cancelled, ui/render and ui/notify. Another
// init takes the place of the one before; one that fails leaves the connection without a project.
type Init struct {
	Name        string `json:"name,omitempty" access:"free" jsonschema:"what the client calls the project; the daemon calls it by its folder, and answers with that name"`
	ProjectRoot string `json:"projectRoot" access:"project" jsonschema:"absolute path of the project"`
	ConfigPath  string `json:"configPath,omitempty" access:"free" jsonschema:"not used: what a project says for itself is in its .bothy/config.hcl"`
	States      States `json:"states,omitempty" access:"free" jsonschema:"whole: each run/state has the whole history, also when absent; increments: what changed since the one before"`
}

// Initialized answers init. Notifications may arrive before it does.
type Initialized struct {
	ProjectID   int64  `json:"projectId"`
	Name        string `json:"name"`
	ProjectRoot string `json:"projectRoot"` // links resolved
	Watch       int64  `json:"watch"`       // the watch that sends the notifications: journal/unwatch ends it
	Seq         int64  `json:"seq"`         // the journal's position, behind which they begin
}
