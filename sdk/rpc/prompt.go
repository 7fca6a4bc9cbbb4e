package rpc

import (
	"encoding/json"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// Prompt is the parameters of ask and act. ask never has side effects.
type Prompt struct {
	Project string `json:"project" access:"project" jsonschema:"absolute path of the project"`
	Prompt  string `json:"prompt" access:"free" jsonschema:"what to do, in plain words; empty with a plan"`
	Run     string `json:"run,omitempty" access:"alias" jsonschema:"alias of the run to continue or to make; a new one when absent, or of a channel the one in which the conversation goes on that from names"`
	Fork    bool   `json:"fork,omitempty" access:"free" jsonschema:"the prompt goes to a fork of the run, as that is now; the answer names it"`
	Agent   string `json:"agent,omitempty" access:"free" jsonschema:"name of an agent block"`
	Model   string `json:"model,omitempty" access:"free" jsonschema:"a model's alias or provider/name; resolved when absent"`
	Key     string `json:"key,omitempty" access:"free" jsonschema:"chosen by the client, 1 to 64 of A-Z a-z 0-9 _ -, another one for each prompt: the same prompt given again under its key, since no answer came, is not queued again. Of a channel the message in from is the key where there is none"`

	RunOptions // for the run, from this prompt on

	Quoted int `json:"quoted,omitempty" access:"free" jsonschema:"how many bytes at the end of the prompt are no words of the person: a text that an editor gives along, or that a model wrote. An address there is judged as one that a model came up with"`

	Attachments []sdk.Attachment `json:"attachments,omitempty" access:"free" jsonschema:"files of the project, or ranges of their lines, that the model gets with the prompt"`

	Media []sdk.Medium `json:"media,omitempty" access:"free" jsonschema:"images that the model gets with the prompt, before its text, each with its data in base64; PNG, JPEG, GIF or WebP"`

	Schema json.RawMessage `json:"schema,omitempty" access:"free" jsonschema:"JSON Schema of an object that the agent hands over as its result, whichever agent it is: the arguments of the call of finish_task that ends the work"`
	Plan   *PlanFile       `json:"plan,omitempty" access:"free" jsonschema:"a plan in the place of the prompt, which is left out: the daemon reads it and makes a prompt of it, and its steps are entries of the run, plan://1 and so on, in the place of those of a plan before"`

	Record bool   `json:"record,omitempty" access:"free" jsonschema:"make a cassette of the work, which prompts/cassette hands out when it has ended"`
	Replay string `json:"replay,omitempty" access:"approve" jsonschema:"absolute path of a cassette, at most 64 MiB, that is played in the place of the model; the daemon reads the file, so that it needs the role approve"`
	Strict bool   `json:"strict,omitempty" access:"free" jsonschema:"with replay: compare the results of all tools, also of those that do more than read"`

	Mode   sdk.Mode `json:"permission_mode,omitempty" access:"approve" jsonschema:"interactive, restricted, workspace or full; the agent's when absent. workspace is refused where commands cannot work on a copy of the project; full needs the role approve"`
	Yolo   bool     `json:"yolo,omitempty" access:"approve" jsonschema:"full for every prompt of this run from now on; needs the role approve"`
	Attend bool     `json:"attend,omitempty" access:"approve" jsonschema:"this connection answers what the run proposes; needs the role approve"`

	// Usual is the mode in the place of the agent's when none is named. No client says it: it is
	// interactive over a connection that sent init.
	Usual sdk.Mode `json:"-"`
	// Usually is the agent of a new run when none is named. No client says it: the person block does.
	Usually string `json:"-"`

	From *sdk.From `json:"from,omitempty" access:"free" jsonschema:"of a channel: whom it has the prompt from. No other client says it"`
}

// PlanFile is a plan as a person wrote it, and which of its steps are asked for.
type PlanFile struct {
	File  string `json:"file" jsonschema:"name of the file, whose ending says how it is written: .yaml, .yml, .json or .md"`
	Text  string `json:"text" jsonschema:"what is in the file, at most 256 KiB"`
	From  int    `json:"from,omitempty" jsonschema:"the first step that is asked for, counted from 1; the plan's first when absent"`
	Until int    `json:"until,omitempty" jsonschema:"the last one; the plan's last when absent"`
}

// Accepted answers ask and act at once. What the prompt causes is in the
// journal behind Seq.
type Accepted struct {
	Run      string   `json:"run"` // the run's alias
	ID       int64    `json:"id"`  // the run's id
	Loop     int64    `json:"loop"`
	Sequence int      `json:"sequence"` // the loop's number in the run
	Status   int      `json:"status"`   // of the prompt: 102 when it is worked on, 100 when it waits
	Seq      int64    `json:"seq"`      // watch with after = seq
	Model    string   `json:"model"`
	Why      string   `json:"why,omitempty"`   // why this model was taken
	Mode     sdk.Mode `json:"permission_mode"` // empty where nothing can be called, as for a summary
	Ahead    int      `json:"ahead,omitempty"` // how many prompts of the run come first, the one at work included
}

// StartRun is the parameters of startRun, which makes a run without a prompt.
type StartRun struct {
	Project string `json:"project" access:"project" jsonschema:"absolute path of the project"`
	Run     string `json:"run,omitempty" access:"alias" jsonschema:"the alias to give it; made up when absent"`
	Agent   string `json:"agent,omitempty" access:"free" jsonschema:"name of an agent block"`
	Model   string `json:"model,omitempty" access:"free" jsonschema:"a model's alias or provider/name; resolved when absent"`
	Yolo    bool   `json:"yolo,omitempty" access:"approve" jsonschema:"full for every prompt of this run; needs the role approve"`
	RunOptions

	From    *sdk.From `json:"from,omitempty" access:"free" jsonschema:"as that of act"`
	Usually string    `json:"-"` // as that of act
}

// Inject is the parameters of run/inject, which queues a prompt in a run that is there, given as its last
// prompt was: by ask or by act. It interrupts nothing. Accepted answers it.
type Inject struct {
	Run     string `json:"run" access:"run" jsonschema:"the run's alias in the project, or its id"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Message string `json:"message" access:"free" jsonschema:"the prompt"`
	Quoted  int    `json:"quoted,omitempty" access:"free" jsonschema:"as that of act"`
	Key     string `json:"key,omitempty" access:"free" jsonschema:"as that of act"`

	From *sdk.From `json:"from,omitempty" access:"free" jsonschema:"as that of act"`
}

// Started answers startRun.
type Started struct {
	Run   string `json:"run"`
	ID    int64  `json:"id"`
	Model string `json:"model"`
	Why   string `json:"why,omitempty"`
}

// RunRef names a run: by alias in a project, or by id. It is the parameters of
// getRun and of what is done to a run as a whole: abort, resume, reset, delete.
type RunRef struct {
	Run     string `json:"run" access:"run" jsonschema:"the run's alias in the project, or its id"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
}

// RunsParams is the parameters of getRuns.
type RunsParams struct {
	Project string    `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; all projects when absent"`
	Hidden  bool      `json:"hidden,omitempty" access:"free" jsonschema:"include the implicit runs behind tools/call"`
	Last    bool      `json:"last,omitempty" access:"free" jsonschema:"only runs that were given a prompt, none of a channel, and first the one that was given one last"`
	From    *sdk.From `json:"from,omitempty" access:"free" jsonschema:"of a channel: only runs of the conversation in which this was written, and first the one that was given a prompt last"`
	Search  string    `json:"search,omitempty" access:"free" jsonschema:"only those with this text in their alias or in a prompt, whatever the case of A to Z"`
	Limit   int       `json:"limit,omitempty" access:"free" jsonschema:"at most so many, 100 when absent"`
	Offset  int       `json:"offset,omitempty" access:"free"`
}

// RunSummary is one line of getRuns, newest first unless Last was asked for. Of the persona, which getRun has
// whole, it has 16 KiB.
type RunSummary struct {
	sdk.Run
	ProjectRoot string `json:"project_root"`
	Summary     string `json:"summary"`          // the first line of the last prompt
	Queued      int    `json:"queued,omitempty"` // prompts that wait
	Held        bool   `json:"held,omitempty"`   // they are not begun until run/release

	LastPrompt   string    `json:"last_prompt,omitempty"` // cut to 16 KiB
	LastActivity time.Time `json:"last_activity"`         // when something was done in it, or given to it
	Waiting      []Waiting `json:"waiting,omitempty"`     // what waits for an answer, oldest first

	// Children are the runs that it delegated work to, oldest first, and behind each those that it did. A search has
	// none: it finds children as it finds other runs.
	Children []RunChild `json:"children,omitempty"`
}

// RunChild is a run that work was delegated to, below the one in which it began.
type RunChild struct {
	sdk.Run                // without its persona
	Depth        int       `json:"depth"`   // how many delegations lie between, itself counted
	Summary      string    `json:"summary"` // the first line of its last prompt
	LastActivity time.Time `json:"last_activity"`
	Waiting      []Waiting `json:"waiting,omitempty"` // what waits for an answer, oldest first
}

// Waiting is a question of a run that waits for an answer; proposals/get has all of it.
type Waiting struct {
	ID      string    `json:"id"` // the proposal's
	Tool    string    `json:"tool"`
	What    string    `json:"what"` // the begin of the command, or of the arguments
	Since   time.Time `json:"since"`
	Expires time.Time `json:"expires"`
}

// RunDetail answers getRun: what the notification run/state tells, with the
// loops and turns beside it.
type RunDetail struct {
	RunState
	ID        int64     `json:"id"`
	Project   string    `json:"project"`
	Parent    *RunName  `json:"parent,omitempty"` // the run it was forked from
	Inherited int       `json:"inherited"`        // the turns it has from its parent: its own begin behind them
	Forks     []RunName `json:"forks"`            // the runs that were forked from it

	Delegator   *RunName   `json:"delegator,omitempty"`    // the run that delegated its work
	DelegatedBy string     `json:"delegated_by,omitempty"` // the path of that call there
	Children    []RunChild `json:"children,omitempty"`     // the runs that it delegated work to, oldest first, and behind each those that it did

	Agent string `json:"agent"`
	Model string `json:"model"`
	sdk.RunConfig
	Queued int        `json:"queued"` // prompts that wait
	Seq    int64      `json:"seq"`    // the journal's position when this was read; watch from here
	Loops  []sdk.Loop `json:"loops"`
	Turns  []Turn     `json:"turns"`
	Notes  []Note     `json:"notes"` // what the engine said of its own work: retries, pruning, what it took up

	// Price is that of the run's model as the configuration says now; nil is unknown, or told by
	// the provider alone. MaxCost is what a prompt of the run's agent may cost; 0 is no limit.
	Price   *sdk.Price `json:"price,omitempty"`
	MaxCost float64    `json:"max_cost,omitempty"`

	Plan         []sdk.PlanStep    `json:"plan,omitempty"` // its steps; their texts are cut to 16 KiB
	Held         bool              `json:"held,omitempty"` // the prompts that wait are not begun until run/release
	Context      *ContextUse       `json:"context"`        // nil before the first answer
	Instructions []RunInstructions `json:"instructions"`   // the files that told the run's model something, the newest state of each
}

// ContextUse is how much of the model's context a run has filled, by its last answer.
type ContextUse struct {
	Tokens    int     `json:"tokens"`              // what was sent and answered
	Limit     int     `json:"limit,omitempty"`     // of the model; 0 is unknown
	Share     float64 `json:"share,omitempty"`     // from 0 to 1; 0 while the limit is unknown
	Estimated bool    `json:"estimated,omitempty"` // the provider reported nothing: what was sent was counted here
}

// RunInstructions is one file that tells agents something.
type RunInstructions struct {
	File      string `json:"file"`                // relative to the project; of the user's own the name alone
	Of        string `json:"of"`                  // "user", "project" or "folder", which is one below the project's root
	Untrusted bool   `json:"untrusted,omitempty"` // it was not read, for nobody has agreed to it
}

// RunName names another run. One that was deleted has only its id.
type RunName struct {
	ID  int64  `json:"id"`
	Run string `json:"run,omitempty"` // the alias
}

// Note is a row of the run's journal that speaks of no entry: what happened to
// the run as a whole, or what the engine said of its own work.
type Note struct {
	Seq  int64           `json:"seq"`
	Time time.Time       `json:"time"`
	Kind string          `json:"kind"`
	Loop int64           `json:"loop,omitempty"`
	Turn int             `json:"turn,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
}
