package sdk

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Mode is how much a run may do without asking a person. It says who has to agree
// to side effects; a loop that is read-only has none in any mode.
type Mode string

// The modes, from least to most.
const (
	ModeInteractive Mode = "interactive" // side effects are proposed
	ModeRestricted  Mode = "restricted"  // what is proven runs; the rest is proposed, or denied when nobody is there to ask
	// ModeWorkspace: what stays in the copy of the project that commands work on
	// runs, since it can be taken back; the rest is proposed. Where there is no
	// such copy another mode holds; see PolicyRequest.Otherwise.
	ModeWorkspace Mode = "workspace"
	ModeFull      Mode = "full" // what is not denied runs; nothing is asked
)

// Valid reports whether m is one of the modes.
func (m Mode) Valid() bool {
	return slices.Contains(ModeNames(), string(m))
}

// ModeNames are all modes, from the one that asks most to the one that asks least.
func ModeNames() []string {
	return []string{string(ModeInteractive), string(ModeRestricted), string(ModeWorkspace), string(ModeFull)}
}

// AsksLess reports whether a person is asked less in the mode than in another.
func (m Mode) AsksLess(other Mode) bool {
	order := ModeNames()
	return slices.Index(order, string(m)) > slices.Index(order, string(other))
}

// ModeWords names all modes for a sentence: interactive, restricted, workspace or full.
func ModeWords() string {
	names := ModeNames()
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Protection is what was configured of the paths that are protected in a project
// beside those that are by themselves: patterns of names at any depth, or of paths
// from the project on. What refuses or asks only adds; what frees takes away. The
// tags say all that there is to know of an attribute of the block.
type Protection struct {
	Refuse []string `json:"refuse,omitempty" doc:"patterns of paths that nothing changes, such as [\"deploy/keys/**\"]"`
	Ask    []string `json:"ask,omitempty" doc:"patterns of paths that a person is asked about before they change"`
	Free   []string `json:"free,omitempty" doc:"patterns of paths that are no longer protected; a star opens neither .git nor .bothy"`
}

// PolicyRequest is a tool call that policy is asked about. None of it but Arguments
// was written by a model.
type PolicyRequest struct {
	Tool      Tool
	Arguments json.RawMessage
	Verb      string // by which Tool is called, where that is one; what denies or proposes the verb counts too
	Project   string // absolute path
	ReadOnly  bool   // the loop may have no side effects
	Mode      Mode   // empty is ModeRestricted
	Attended  bool   // a client that may approve follows the run

	// Writes are Run.Writes: the only paths of the project that the call may change; nil is all.
	Writes []string

	// Without are Agent.Without: a call that may do the work of such a tool is denied, by whichever tool it is made.
	Without []string

	// Foreign names what the run has read that came from outside; empty is nothing. Outlives says that the call changes
	// entries which other runs see.
	Foreign  string
	Outlives bool

	Offline bool // nothing that the call does reaches a network; see Agent.Network

	// AddressFrom is where the address of the call stands besides what the model wrote; empty is nowhere.
	AddressFrom AddressFrom
	// Leaks is the name of a live secret that stands in the arguments, plain or encoded; empty is none.
	Leaks string

	// Unwritten says that the arguments are not known yet. What is decided then is the most that may
	// be: a rule that allows some arguments counts, and of the others those that fit whatever they are.
	Unwritten bool

	// Otherwise is the mode in the place of ModeWorkspace, where commands cannot
	// work on a copy of the project; empty is ModeRestricted.
	Otherwise Mode

	// Private says that the call is of a private run: Project is the folder of that, see Run.Folder, and Settled the root of
	// its project, by whose settings is decided.
	Private bool
	Settled string

	// Links says where paths lead that the call names, as it names them and
	// relative to the project, when a symbolic link is on the way: to a path of the
	// project, or an absolute one outside of it. Whoever asks has looked.
	Links map[string]string
}

// AddressFrom is where an address stands byte for byte that a call names (ToolSpec.Address).
type AddressFrom string

// The places that a model cannot write to, and one that repeats what it wrote.
const (
	AddressOfPrompt AddressFrom = "prompt" // a prompt of the person in this run
	AddressOfSearch AddressFrom = "search" // a result of a search of the web in this run
	AddressOfQuery  AddressFrom = "query"  // such a result, whose address repeats the words that the model searched for
)

// Verdict is what policy rules about an action.
type Verdict string

// The verdicts on an action.
const (
	Allow   Verdict = "allow"
	Propose Verdict = "propose"
	Deny    Verdict = "deny"
)

// Decision is a verdict with the rule that gave it, for people to look up.
type Decision struct {
	Verdict Verdict `json:"verdict"`
	Rule    string  `json:"rule"`
	Source  string  `json:"source,omitempty"` // of the rule: "built-in", "FILE:LINE", "remembered", "workspace FILE:LINE", "caller"
	Reason  string  `json:"reason"`           // for the person: why it was asked or refused, or may run
	// Instead is for the model: what to do instead, beginning with the verb. Only a call that
	// may not run, or not yet, has one; who shows a decision to a person leaves it out.
	Instead string `json:"instead,omitempty"`
	// Commands are those that were seen in a command line.
	Commands []SeenCommand `json:"commands,omitempty"`
	// Argv is set when a command line is one simple command, word by word: a
	// tool that runs commands then needs no shell (Invocation.Argv).
	Argv []string `json:"-"`
	// View says that the call is allowed because it works on a copy of the project
	// (Invocation.View).
	View bool `json:"view,omitempty"`
	// Host is that of the address which the call names (ToolSpec.Address), in ASCII and lower case.
	Host string `json:"host,omitempty"`
	// SameHost says that the call is allowed because of its address' host alone (Invocation.SameHost).
	SameHost bool `json:"same_host,omitempty"`
	// NotHosts are globs of the hosts that rules deny or ask about (Invocation.NotHosts).
	NotHosts []string `json:"not_hosts,omitempty"`
	// Violation names a security event when a denial is one, such as
	// "path_escape"; an ordinary refusal has none.
	Violation string `json:"violation,omitempty"`
}

// RuleProven is the rule that decides about a command line which is known to read only.
const RuleProven = "shell.proven"

// RuleLeak is the rule that decides about a call with which a live secret would leave this machine.
const RuleLeak = "leak"

// SeenCommand is one command of a command line, as policy read it.
type SeenCommand struct {
	Text    string   `json:"text"`
	Argv    []string `json:"argv,omitempty"` // decoded; absent when it depends on what happens at run time
	Via     []string `json:"via,omitempty"`  // the wrappers that lead to it, outermost first
	Verdict Verdict  `json:"verdict"`        // what it would be by itself
	Rule    string   `json:"rule,omitempty"`
	Reason  string   `json:"reason,omitempty"`
	// Whole is what a rule is about that an answer leaves; nil when the command needs none,
	// or cannot be remembered: what it does is not in its words alone.
	Whole *WholeCommand `json:"whole,omitempty"`
}

// WholeCommand is a command that a rule is about as it stands: these words and no others,
// started in this folder. It is no prefix, as those of PolicyRule.Commands are.
type WholeCommand struct {
	Argv  []string `json:"argv"`
	Dir   string   `json:"dir"`             // as commands see it: "/workspace"
	Plain []string `json:"plain,omitempty"` // options that only change what is printed: the command may have them or lack them
}

// PolicyRule is a rule of an operator, of a workspace, or one that was
// remembered from an answer. All of its conditions that are not empty must hold.
// Of the rules that fit, deny goes before propose before allow.
type PolicyRule struct {
	Name    string   `json:"name"`
	Source  string   `json:"source"` // as in Decision.Source
	Verdict Verdict  `json:"verdict" hcl:"decision"`
	Tools   []string `json:"tools,omitempty" hcl:"tools,optional"` // globs over tool names, bare and plugin__tool
	// Arguments are globs over arguments by name; a value that is no text is
	// compared as JSON.
	Arguments map[string]string `json:"arguments,omitempty" hcl:"arguments,optional"`
	// Paths are globs over the paths that the call names, relative to the
	// project, ** over any depth. An allow rule needs every path to fit one, the
	// others any.
	Paths []string `json:"paths,omitempty" hcl:"paths,optional"`
	// Commands are the first words of commands, such as "go test"; a last word
	// "*" is implied. Of a line, an allow rule allows the commands that fit one:
	// each that is not proven has to be allowed by a rule. The others need any.
	Commands []string `json:"commands,omitempty" hcl:"commands,optional"`
	// Hosts are globs over the host of the address that a call names (ToolSpec.Address), in ASCII and lower
	// case. A call that names none fits no rule that has them.
	Hosts []string `json:"hosts,omitempty" hcl:"hosts,optional"`
	// Whole are commands as they stand, which only an answer leaves, and only to allow.
	Whole   []WholeCommand `json:"whole,omitempty"`
	Modes   []Mode         `json:"modes,omitempty" hcl:"modes,optional"` // in which it holds; empty is all
	Project string         `json:"project,omitempty"`                    // root of the only project where it holds; empty is all
	Exact   string         `json:"exact,omitempty"`                      // the hash of the only call that it is about (Proposal.Hash without its run)
}

// RememberedRule is a rule that an answer left, as people see and remove it.
type RememberedRule struct {
	PolicyRule
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
	From    string    `json:"from,omitempty"` // the proposal whose answer it was
}
