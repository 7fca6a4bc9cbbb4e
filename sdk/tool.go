package sdk

import (
	"encoding/json"
	"slices"
	"time"
)

// ToolSpec is what a plugin declares about one tool.
type ToolSpec struct {
	Name        string          `json:"name"` // [a-z][a-z0-9_]{0,63}
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // JSON Schema of an object; undeclared arguments are refused
	Annotations Annotations     `json:"annotations,omitzero"`
	Staged      bool            `json:"staged,omitempty"`   // it can say what a call would change in files, without doing it
	Prepares    bool            `json:"prepares,omitempty"` // it can make ready what its calls in a run need, before the first
	Whole       bool            `json:"whole,omitempty"`    // it sends nothing before its result, so that a call needs no stream
	Command     string          `json:"command,omitempty"`  // the argument that is a command line, when it runs commands
	Address     string          `json:"address,omitempty"`  // the argument that is the URL which its calls ask, when their caller names one; believed of pinned plugins
	// Body is the argument that the body of a tag fills, where a model writes its calls as tags (DialectTags); it takes a
	// text. Empty is the only text that Parameters require, else a body is a JSON object of arguments.
	Body string `json:"body,omitempty"`
	// Keeps says that its calls change entries of the schemes that its plugin registers, and nothing else, so that policy
	// lets them run in every mode; believed of pinned plugins.
	Keeps bool `json:"keeps,omitempty"`
	// Unlisted says that nobody is offered the tool, and that no model, person or
	// plugin calls it: the results of this plugin's tools do (ToolResult.Follow).
	Unlisted bool `json:"unlisted,omitempty"`
	// People says that only a person calls the tool, by its name: no model and no plugin is
	// offered it. A person who types /NAME as a prompt gives a model what it answers.
	People bool `json:"people,omitempty"`
	// Source says where a tool comes from that the plugin itself only passes on,
	// such as a server of MCP. Such a tool is dynamic: it may change while the
	// plugin runs, and is pinned by its source instead of its schema; that the plugin is
	// pinned vouches for nothing that it passes on, so its annotations loosen no policy
	// before a person has accepted the source as it is.
	Source string `json:"source,omitempty"`
	// SourceName is what its source calls it: two of these may come to one Name, one after
	// the other.
	SourceName string `json:"source_name,omitempty"`
}

// FindsCommand reports whether the tool finds the command line that its calls run, and nobody names one: before hooks and
// policy look at a call, Stage says the line, which is then the argument Command of the call.
func (s ToolSpec) FindsCommand() bool { return s.Command != "" && s.Staged }

// CheckBody says why Body names no argument that takes a text; nil when it does, or is empty.
func (s ToolSpec) CheckBody() error {
	if s.Body == "" {
		return nil
	}
	var declared struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(s.Parameters, &declared); err != nil {
		return Errorf(Validation, "its JSON Schema cannot be read: %w", err)
	}
	is, ok := declared.Properties[s.Body]
	if list, several := is.Type.([]any); !ok || is.Type != nil && is.Type != any("string") && !(several && slices.Contains(list, any("string"))) {
		return Errorf(Validation, "its body is to be the argument %q, and its JSON Schema has no text of that name: name another one, or none", s.Body)
	}
	return nil
}

// Annotations describe a tool's effects. They loosen policy only for pinned
// plugins; anybody else's are shown and not believed.
type Annotations struct {
	ReadOnly    bool `json:"read_only,omitempty"`
	Destructive bool `json:"destructive,omitempty"`
	Idempotent  bool `json:"idempotent,omitempty"`
	OpenWorld   bool `json:"open_world,omitempty"`
	Terminal    bool `json:"terminal,omitempty"` // an accepted call ends the loop
	Live        bool `json:"live,omitempty"`     // the answer to the same call changes by itself: calls are made, and count for no guard
}

// OwnPlugin is what the daemon's own tools are said to be of: use_skill answers to bothy__use_skill too.
const OwnPlugin = "bothy"

// Tool is a tool as the daemon offers it: a spec and where it comes from.
type Tool struct {
	ToolSpec
	Plugin string `json:"plugin"` // the plugin's name; the tool also answers to plugin__name
	// Declared is the name that its plugin declares, where Name is plugin__name because an
	// earlier block has a tool of that one. Hooks know the tool by it.
	Declared string   `json:"declared,omitempty"`
	Pinned   bool     `json:"pinned"`           // bundled with Bothy, or its digest is pinned; one that is passed on: its source is accepted as it is
	Digest   string   `json:"digest,omitempty"` // hex SHA-256 of the plugin's binary; empty for the daemon's own tools
	Grants   []string `json:"grants,omitempty"`
	// Entries says that its calls change entries of the run and nothing else, as far as the targets
	// that they name have a scheme: one of the six verbs, which are the daemon's own.
	Entries bool `json:"entries,omitempty"`
	// Runs is the name of the tool that makes its calls, where it is sh, env or search: the daemon's own names for a
	// plugin's tool that runs commands, and for one that searches the web. Hooks and rules know it by Declared too.
	Runs string `json:"runs,omitempty"`
	// Looks says that it is offered where a loop may only read, where those of its commands run that are known to
	// change nothing.
	Looks bool `json:"looks,omitempty"`
	// Named says that it is offered to agents that name it, and that no glob does.
	Named bool `json:"named,omitempty"`
	// Given says that a turn is offered the tool by what it is for, whatever the globs of its agent say, and that a
	// call has no effect, so that policy allows it in every mode: an own tool that hands over, delegates or plans.
	Given bool `json:"given,omitempty"`
	// Drift is how a tool that is passed on is not any more as it was known, in words behind
	// "it"; empty when it is. Its calls are proposed.
	Drift string `json:"drift,omitempty"`
}

// Stream is where a call, of a tool or of a code skill, sends what is known
// before its result. Its methods are safe for concurrent use and never block
// for longer than the context of the call lives. An error says that nobody
// listens any more: a call may end then.
type Stream interface {
	// Chunk sends output as it appears: channel 1 is standard output, 2
	// standard error. Bytes that are no UTF-8 are replaced on the way to people.
	Chunk(channel int, p []byte) error
	// Progress tells people what is going on; fraction is 0..1, or below 0 when unknown.
	Progress(message string, fraction float64) error
}

// Invocation is one call of a tool, with the context that the host supplies.
// None of it but Arguments was written by a model.
type Invocation struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"` // validated by the host before the plugin sees it
	CallID    string          `json:"call_id"`
	Run       string          `json:"run"`     // the run's key
	Project   string          `json:"project"` // absolute path of the project; empty for commands of a private run, and where the block grants neither project nor sandbox
	RunDir    string          `json:"run_dir"` // absolute path of the run's folder in the data directory
	Deadline  time.Time       `json:"deadline,omitzero"`

	// Argv is what policy proved the command line in Arguments to be, word by
	// word: a tool that runs commands runs these and no shell.
	Argv []string `json:"argv,omitempty"`
	// Base is the Staged.Base that a person agreed to; empty when nobody was asked.
	Base string `json:"base,omitempty"`
	// Network says that the network was opened for the project.
	Network bool `json:"network,omitempty"`
	// Protection is what is protected in the project beside what is by itself: for
	// a tool that has the project or runs commands in it.
	Protection Protection `json:"protection,omitzero"`
	// SameHost says that the call's address passed by its host alone: a redirect to another host is
	// not followed, for it could carry elsewhere what a model wrote into the address.
	SameHost bool `json:"same_host,omitempty"`
	// NotHosts are globs of hosts, in ASCII and lower case, that rules deny or ask about: a redirect to one of these
	// is not followed either, for it would be asked by no rule.
	NotHosts []string `json:"not_hosts,omitempty"`
	// View says that the call was judged as one that works on a copy of the project:
	// where it would not, it must fail with outcome unavailable and do nothing.
	View bool `json:"view,omitempty"`
	// Writes are globs of the only paths of the project that the call may change; empty is all that it may otherwise.
	Writes []string `json:"writes,omitempty"`
	// Unsaved are texts that a person's editor has otherwise than the disk, of files that
	// Arguments name, by their paths relative to the project.
	Unsaved map[string]string `json:"unsaved,omitempty"`
	// Unsure are those, likewise, of which the editor does not say whether it has them otherwise than
	// the disk: read the disk's, and change none.
	Unsure []string `json:"unsure,omitempty"`
	// Digest is of the plugin's binary that a person agreed to: the host calls
	// no other. Empty is any; plugins do not get it.
	Digest string `json:"digest,omitempty"`
}

// Buffer is how a front end has a file. The zero value is: as the disk has it.
type Buffer struct {
	Unsaved bool   // it has Text, and the disk another
	Text    string // at most about 3 MB
	Unknown bool   // it does not say, not in time, or not at that length
}

// Place is where the calls of a tool will work: what an Invocation says of its
// run, when there is no call yet.
type Place struct {
	Tool    string `json:"tool"`
	Run     string `json:"run"`     // the run's key
	Project string `json:"project"` // absolute path of the project; empty for commands of a private run, and where the block grants neither project nor sandbox
	RunDir  string `json:"run_dir"` // absolute path of the run's folder in the data directory
	Network bool   `json:"network,omitempty"`
}

// Prepared is what a tool says of a place that it has made ready.
type Prepared struct {
	// View says that calls work on a copy of the project, of which only what may
	// be is applied to the project itself.
	View bool `json:"view"`
	// Reason says in a sentence for people why there is no view, where there
	// could be one.
	Reason string `json:"reason,omitempty"`
}

// MetadataRunning is the member of a result's metadata that is true when the call left
// something that lives until the run is idle (the event run.idle).
const MetadataRunning = "running"

// MetadataCancelled is the member of an action's metadata that says why a command was cancelled that a client ran.
const MetadataCancelled = "cancelled"

// ToolResult is what a tool answers. A tool that did its work and found a
// failure (a command's exit status) says so here; a Go error is for a call
// that could not be made.
type ToolResult struct {
	Success    bool            `json:"success"`
	Output     string          `json:"output"`          // what the model reads
	Error      string          `json:"error,omitempty"` // one sentence when Success is false
	Outcome    Outcome         `json:"-"`               // when Success is false; empty means Internal
	Truncated  bool            `json:"truncated"`
	Metadata   map[string]any  `json:"metadata,omitempty"`
	Structured json.RawMessage `json:"structured,omitempty"`
	// Changes are what the call changed in the project's files, as far as the
	// tool can tell, also when it failed half-way: `bothy runs undo` takes back
	// these and no others.
	Changes []FileChange `json:"changes,omitempty"`
	// ChangesKept stands in the place of Changes when there are more than
	// MostChanges: the digest of their JSON in the store of replaced contents
	// (package kept).
	ChangesKept string `json:"changes_kept,omitempty"`
	// Told says that Changes are all that the call changed in the project, though its
	// tool runs commands: they worked on a copy of it, or on none of it. Of a tool in the sandbox that
	// does not say so, people are told that what it changed is not known.
	Told bool `json:"told,omitempty"`
	// Untold says that the call may have changed more than Changes tells of. The
	// host sets it; what a plugin says here is not asked.
	Untold bool `json:"untold,omitempty"`
	// Writes are entries that the commit which records the end of the call makes true, and nothing does
	// before: what a verb comes to (Tool.Entries), or what a plugin's call brings, such as a page that it
	// read. Of a plugin's Path, Body, Attributes and Visibility count, of MostWrites at most; the grant
	// entries and the schemes of its block hold as for Host.Write. Where one cannot be written the call has failed.
	Writes []Write `json:"-"`
	// Follow is a call that has to be made after this one, for example to ask a
	// person about what this one found. Only a pinned plugin's is heeded.
	Follow *FollowUp `json:"follow,omitempty"`
}

// MostChanges is how many changes a result tells of itself; more are kept
// (ToolResult.ChangesKept), so that no message and no entry grows with what a
// command does.
const MostChanges = 200

// MostWrites is how many entries a plugin's call may bring (ToolResult.Writes).
const MostWrites = 50

// FollowUp is a call that the result of another asks for, of an unlisted tool of
// the same plugin. It is an action of its own, in the same turn: policy decides
// about it, and a person may be asked. The model's next request waits for it, and
// has what it came to behind the result that asked for it.
type FollowUp struct {
	Tool      string          `json:"tool"` // its own name
	Arguments json.RawMessage `json:"arguments"`
	// Otherwise is what the model is told, behind the reason, when the call is not made:
	// what then became of what it was about.
	Otherwise string `json:"otherwise,omitempty"`
}

// Failed is the result of a call that ended with err. An *Error keeps its
// outcome; any other error is Internal.
func Failed(err error) ToolResult {
	o := OutcomeOf(err)
	return ToolResult{Error: err.Error(), Output: err.Error(), Outcome: o}
}
