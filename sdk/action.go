package sdk

import (
	"cmp"
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// Action is one call of a tool: what was called, what was decided, what a person
// was asked and answered, and how it ended. Its JSON is the attributes of the
// entry at Path and nothing else: the members before ActionCall are the entry's
// own, and are lost when an Action is marshalled.
type Action struct {
	Path    string  `json:"-"` // ActionPath as text
	Loop    int64   `json:"-"` // 0: no prompt caused it
	Turn    int     `json:"-"`
	State   State   `json:"-"`
	Outcome Outcome `json:"-"`
	Phase   Phase   `json:"-"`
	Body    string  `json:"-"` // what the model reads

	ActionCall
	Decision *Decision       `json:"decision,omitempty"`
	Proposal *ActionProposal `json:"proposal,omitempty"` // of one that waits for a person, or did
	Answer   *ActionAnswer   `json:"answer,omitempty"`
	ActionEnd
}

// ActionCall is what was called.
type ActionCall struct {
	CallID string `json:"call_id,omitempty"` // the model's
	Tool   string `json:"tool,omitempty"`    // as the model wrote it: perhaps plugin__name, perhaps no tool there is
	// Declared is the tool's name as its plugin declares it; empty where the model wrote that.
	Declared string `json:"declared,omitempty"`
	// Arguments are an object, or the model's text as a JSON string when that is
	// none. They are stored like all attributes, without members that are null:
	// what runs is ExactArguments.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Refers says by the name of a member where its value stands,
	// "PATH#POINTER", in the reply that the call is part of, so that long
	// arguments are stored once: "arguments" as text in its attributes, and
	// "arguments/NAME", one of them, in its body (FoundCall). The store fills such
	// members in where it is read; what it leaves here is gone.
	Refers  map[string]string `json:"refers,omitempty"`
	Changed string            `json:"changed,omitempty"` // the arguments that took the place of the model's, to the byte
	Parent  string            `json:"parent,omitempty"`  // the path of the action whose plugin made the call; empty where the model did
	Index   int               `json:"index"`             // among the calls of its turn
	Plugin  string            `json:"plugin,omitempty"`
	Digest  string            `json:"digest,omitempty"` // of the plugin's binary

	// Person says that a person made the call themselves, and that the model of the run
	// reads it so.
	Person bool `json:"person,omitempty"`

	// Follows says that the result of the action Parent asked for the call (FollowUp),
	// and that no plugin waits for it.
	Follows   bool   `json:"follows,omitempty"`
	Otherwise string `json:"otherwise,omitempty"` // FollowUp.Otherwise

	// Keeps is ToolSpec.Keeps of the tool: what it was called with may be what is remembered of somebody, who may want it forgotten. So
	// the audit has no arguments of such a call, and the journal their hash.
	Keeps bool `json:"keeps,omitempty"`

	// Streams says that what the call prints is entries of their own (ActionPath.Output), which grow while it runs.
	Streams bool `json:"streams,omitempty"`

	// Asks says that the call asks the person something by ToolAskUser: Arguments are a
	// Question, and nothing runs.
	Asks bool `json:"asks,omitempty"`

	// Repeats is the path of an earlier action with the same call: its result answers
	// this one, which is not made.
	Repeats string `json:"repeats,omitempty"`

	// Child is the work that a call of ToolDelegate began; nil of every other call.
	Child *ActionChild `json:"child,omitempty"`
	Live  bool         `json:"live,omitempty"` // Annotations.Live of the tool
	// OpenWorld is that of the tool's annotations as they were. Of calls that were recorded without it nobody knows it
	// but by the tool that there is now.
	OpenWorld bool `json:"open_world,omitempty"`
}

// ActionProposal is what a person is asked about an action, beside the call. None
// of its members is left out when it is empty: attributes are merged, and an
// edited call must keep nothing of the one before it.
type ActionProposal struct {
	ID       string    `json:"id"`
	Hash     string    `json:"hash"`
	Digest   string    `json:"digest"`
	ReadOnly bool      `json:"read_only"`
	Mode     Mode      `json:"mode"`
	Created  time.Time `json:"created"`
	Expires  time.Time `json:"expires"`
	Command  string    `json:"command"`
	Dir      string    `json:"dir"`
	Bytes    int       `json:"bytes"`
	Mounts   []string  `json:"mounts"`
	Network  bool      `json:"network"`
	Diff     string    `json:"diff"`
	Base     string    `json:"base"`

	// OldForm says that it was proposed, and Hash made, in the form that
	// FromOldForm reads: the hash is verified by ToOldForm.
	OldForm bool `json:"-"`
}

// RunsClient says in ActionAnswer.Runs that a command runs at the client that accepted it, outside of the sandbox.
const RunsClient = "client"

// ActionAnswer is what a person answered.
type ActionAnswer struct {
	Answer Answer    `json:"answer"`
	By     string    `json:"by"` // for people to read
	At     time.Time `json:"at"`
	Reason string    `json:"reason,omitempty"`
	Rule   string    `json:"rule,omitempty"` // the id of the rule that the answer left
	Runs   string    `json:"runs,omitempty"` // RunsClient: who answered runs the command, and not the daemon

	// Channel is the plugin's block by whose channel it was answered, and From who did, and below which message; empty
	// at this machine.
	Channel string `json:"channel,omitempty"`
	From    *From  `json:"from,omitempty"`
}

// ActionEnd is how an action ended, beside its state, outcome and body.
type ActionEnd struct {
	Metadata   map[string]any  `json:"metadata,omitempty"`
	Structured json.RawMessage `json:"structured,omitempty"`
	Truncated  bool            `json:"truncated,omitempty"`
	Error      string          `json:"error,omitempty"`
	Reason     string          `json:"reason,omitempty"`      // for people: why the call was not made, where Body and Error tell the model what to do instead
	DurationMS *int64          `json:"duration_ms,omitempty"` // nil: it has not ended, or was refused before it was recorded
	Untold     bool            `json:"untold,omitempty"`      // it may have changed files that nothing tells of
	Told       bool            `json:"told,omitempty"`        // ToolResult.Told
	// Instructions are those of folders that the call worked below, which the model reads
	// with its result: what it was told of in this run before is not among them.
	Instructions []Instructions `json:"instructions,omitempty"`
	// Follow is a call that the result asked for, while no action is recorded of it.
	Follow *FollowUp `json:"follow,omitempty"`
}

// MetadataForeign is the member of ActionEnd.Metadata that says that the result holds what came from outside, though its
// tool reaches no network: get read it in an entry, or a plugin's call, or work that was delegated.
const MetadataForeign = "foreign"

// MetadataInSight is the member of ActionEnd.Metadata that says that get made all entries visible whose texts the result holds.
// A view that shows entries needs no second copy of it, and believes it of Bothy's own get alone.
const MetadataInSight = "in_sight"

// IsForeign reports whether the result holds what came from outside.
func (a *Action) IsForeign() bool {
	foreign, _ := a.Metadata[MetadataForeign].(bool)
	return foreign || a.OpenWorld && a.Plugin != OwnPlugin
}

// Why is the reason of a failure, for people.
func (a *ActionEnd) Why() string { return cmp.Or(a.Reason, a.Error) }

// ActionOf reads an action from its entry. An error is that not all attributes
// could be read; the others are set all the same.
func ActionOf(e Entry) (Action, error) {
	a := Action{Path: e.Path, Loop: e.Loop, Turn: e.Turn, State: e.State, Outcome: e.Outcome, Phase: e.Phase, Body: e.Body}
	if len(e.Attributes) == 0 {
		return a, nil
	}
	if err := json.Unmarshal(e.Attributes, &a); err != nil {
		return a, Errorf(Internal, "what is recorded of the call %s cannot be read: %w", e.Path, err)
	}
	return a, nil
}

// Apply takes over what a row of the journal (KindEntrySet) changed: a member is
// replaced as a whole, and one that is null is removed. A member that cannot be
// read is left empty, and one that is unknown is ignored.
func (a *Action) Apply(row JournalRow, c EntryChange) {
	a.Path, a.State, a.Outcome, a.Phase = row.Path, c.State, c.Outcome, c.Phase
	if row.Loop != 0 {
		a.Loop = row.Loop
	}
	if row.Turn != 0 {
		a.Turn = row.Turn
	}
	if row.Body != nil {
		a.Body = *row.Body
	}
	var changed map[string]json.RawMessage
	if len(c.Attributes) == 0 || json.Unmarshal(c.Attributes, &changed) != nil {
		return
	}
	v := reflect.ValueOf(a).Elem()
	for name, value := range changed {
		index, known := actionMembers[name]
		if !known {
			continue
		}
		f := v.FieldByIndex(index)
		f.SetZero()
		if string(value) != "null" && json.Unmarshal(value, f.Addr().Interface()) != nil {
			f.SetZero()
		}
	}
}

// actionMembers are the attributes of an action by name.
var actionMembers = func() map[string][]int {
	members := map[string][]int{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Action]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			members[name] = f.Index
		}
	}
	return members
}()

// ExactArguments are the arguments that run: to the byte once something took the
// place of the model's, else as they are stored.
func (a *Action) ExactArguments() json.RawMessage {
	if a.Changed != "" {
		return json.RawMessage(a.Changed)
	}
	return a.Arguments
}

// Remark is what a model reads of a call that the result of another asked for
// (Follows), behind that result.
func (a *Action) Remark() string {
	text := strings.TrimSpace(a.Body)
	if a.State == StateResolved {
		return text
	}
	if a.Otherwise == "" {
		return text
	}
	return strings.TrimRight(text, ".") + ". " + a.Otherwise
}

// Took is how long the call ran; 0 when it did not.
func (a *Action) Took() time.Duration {
	if a.DurationMS == nil {
		return 0
	}
	return time.Duration(*a.DurationMS) * time.Millisecond
}

// ProposalID names its proposal; empty when it was never proposed.
func (a *Action) ProposalID() string {
	if a.Proposal == nil {
		return ""
	}
	return a.Proposal.ID
}

// Finished reports whether the call handed over a result that was accepted: its ExactArguments.
func (a *Action) Finished() bool {
	return a.State == StateResolved && a.Plugin == OwnPlugin && cmp.Or(a.Declared, a.Tool) == ToolFinish && a.Parent == ""
}

// EndsWork reports whether the call is an update that was accepted and ended the work. Other calls of its answer may stand
// behind it: it is made when they have ended.
func (a *Action) EndsWork() bool {
	var said struct {
		Status int `json:"status"`
	}
	if a.State != StateResolved || a.Plugin != OwnPlugin || cmp.Or(a.Declared, a.Tool) != string(VerbUpdate) || a.Parent != "" {
		return false
	}
	return json.Unmarshal(a.ExactArguments(), &said) == nil && said.Status != 0 && said.Status != StatusRunning
}

// Rejected reports whether a person said no to it.
func (a *Action) Rejected() bool { return a.Answer != nil && a.Answer.Answer == Reject }

// ExitCode is the status of the command that the call ran; nil when none is known.
func (a *Action) ExitCode() *int {
	if n, ok := a.Outcome.ExitCode(); ok {
		return &n
	}
	if n, ok := a.Metadata["exit_code"].(float64); ok {
		return new(int(n))
	}
	return nil
}

// Container is the id of the container that the call's command ran in; empty
// when it ran in none.
func (a *Action) Container() string {
	id, _ := a.Metadata["container"].(string)
	return id
}

// Violations are what the call's command was kept from, "ACTION PATH" each.
func (a *Action) Violations() []string {
	list, _ := a.Metadata["violations"].([]any)
	var all []string
	for _, v := range list {
		m, _ := v.(map[string]any)
		action, _ := m["action"].(string)
		path, _ := m["path"].(string)
		all = append(all, strings.TrimSpace(action+" "+path))
	}
	return all
}

// Question is the proposal of an action for people to see; false when it was
// never proposed. Said is what the model wrote beside the call.
func (a *Action) Question(run Run, project Project, said string) (Proposal, bool) {
	kept := a.Proposal
	if kept == nil {
		return Proposal{}, false
	}
	p := Proposal{
		ID: kept.ID, Hash: kept.Hash, Run: run.ID, Alias: run.Alias, Project: project.Root, Path: a.Path,
		Tool: a.Tool, Plugin: a.Plugin, Digest: kept.Digest, ReadOnly: kept.ReadOnly, Mode: kept.Mode, Created: kept.Created, Expires: kept.Expires,
		Arguments: a.ExactArguments(), Command: kept.Command, Dir: kept.Dir, Bytes: kept.Bytes, Mounts: kept.Mounts, Network: kept.Network,
		Diff: kept.Diff, Said: said, State: a.State, Outcome: a.Outcome,
	}
	if a.Decision != nil {
		p.Decision = *a.Decision
	}
	if a.Asks {
		if q, err := QuestionOf(p.Arguments); err == nil {
			p.Question = &q
		}
	}
	return p, true
}
