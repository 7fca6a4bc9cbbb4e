package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/bothyd/bothy/daemon/internal/agent/finish"
	"github.com/bothyd/bothy/daemon/internal/agent/plan"
	"github.com/bothyd/bothy/daemon/internal/tape"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Submission is a prompt and where it goes. Empty fields are resolved: the run
// is a new one, the agent the run's or "default", the model the agent's, the
// run's or the daemon's choice.
type Submission struct {
	Project     string // absolute path of a directory
	Run         string // alias; one that does not exist is made
	Fork        bool   // it goes to a fork of Run, which has to exist
	Agent       string
	Model       string
	Prompt      string
	Quoted      int              // bytes at the end of Prompt that are no words of whoever submits
	Plan        *rpc.PlanFile    // in the place of Prompt, which is made of it
	Attachments []sdk.Attachment // files of the project that the model gets with the prompt
	Media       []sdk.Medium     // images that it gets with it, with their data
	Schema      json.RawMessage  // of the result that the agent hands over, in the place of its own; empty is its own, if it has one
	ReadOnly    bool             // whatever the mode: nothing with a side effect runs
	Mode        sdk.Mode         // empty is the usual one
	Usual       sdk.Mode         // empty is the agent's
	Yolo        bool             // full mode for every prompt of the run from now on; the caller has checked who asks
	Approved    bool             // who submits may approve: what they type as a prompt is called as they call a tool
	Origin      sdk.Origin       // of the run that it makes, and of one that it goes on with if a channel gives it; zero is whoever works at this machine
	From        *sdk.From        // whom a channel has it from; nil is no channel
	Usually     string           // the agent of a new run where nobody names one; empty is the project's choice
	Options     rpc.RunOptions   // of the run, from this prompt on
	Key         string           // chosen by whoever submits: the same again is not queued again. Empty is none
	Record      bool             // a cassette is made of what the model answers
	Replay      string           // absolute path of a cassette that is played in the place of the model; the caller has checked who asks
	Strict      bool             // with Replay: the results of all tools are compared
	Session     string           // of the connection that answers what is proposed; empty when none does
	Plugin      string           // that gives it, while it works for another prompt; empty is a client
	AtMost      sdk.Mode         // with Plugin: no more is done unasked than in this mode
	Depth       int              // with Plugin: how far it comes of a prompt of a client
	Offline     bool             // with Plugin: a run that is made for it reaches no network
	Foreign     string           // with Plugin: names what the run that it works for has read from outside; empty is nothing

	conversation string // of a channel that names no run; see conversationOf

	played *tape.Played // Replay, read
	asked  *plan.Asked  // Plan, read

	byMessage bool // Key is the message that it was
}

// Accepted says what a submission became. What it causes is in the journal
// behind Seq.
type Accepted struct {
	Run   sdk.Run
	Loop  sdk.Loop
	Seq   int64
	Model string
	Why   string // why this model was taken
	Mode  sdk.Mode
	Ahead int // prompts of the run that come first, the one at work included
}

// toolsAlias is the alias of a project's implicit run, which holds the tool
// calls that nobody made in a run of their own.
const toolsAlias = "tools"

// toolsAliasOf is that of the implicit run of an owner.
func toolsAliasOf(o sdk.Origin) string {
	if o.Channel == "" {
		return toolsAlias
	}
	return fmt.Sprintf("%s-of-%.8x", toolsAlias, sha256.Sum256([]byte(o.Channel+" "+o.Owner)))
}

// keepsTools reports whether an alias is that of an implicit run.
func keepsTools(alias string) bool {
	return alias == toolsAlias || strings.HasPrefix(alias, toolsAlias+"-of-")
}

// reaches refuses a channel a run that another began, or that is somebody else's. Whoever works at this machine goes on
// with any.
func reaches(o sdk.Origin, run sdk.Run) error {
	if o.Channel == "" || run.ID == 0 || run.Origin == o {
		return nil
	}
	return sdk.Errorf(sdk.Conflict, "the run %s is of somebody else; choose another name", run.Alias)
}

// Submit queues a prompt and returns when that is durable; it waits for no
// model and no run. A busy run whose agent says so refuses with conflict. What was
// submitted before under the same key is answered with what became of it then.
func (e *Engine) Submit(ctx context.Context, s Submission) (Accepted, error) {
	leave, err := e.enter()
	if err != nil {
		return Accepted{}, err
	}
	defer leave()
	if s, err = withPlan(s); err != nil {
		return Accepted{}, err
	}
	if err := checkPrompt(s); err != nil {
		return Accepted{}, err
	}
	if s.Schema, err = finish.Kept(s.Schema); err != nil {
		return Accepted{}, err
	}
	s.Key, s.byMessage = s.key()
	done, err := e.holdKey(ctx, s.Key)
	if err != nil {
		return Accepted{}, err
	}
	defer done()
	if a, given, err := e.given(ctx, s); err != nil || given {
		return a, err
	}
	s.conversation = conversationOf(s)
	said, err := e.holdKey(ctx, s.conversationKey()) // two messages at once are of one run
	if err != nil {
		return Accepted{}, err
	}
	defer said()
	if s.played, err = tape.ToPlay(s.Replay, s.Strict, s.Model); err != nil {
		return Accepted{}, err
	}
	p, err := e.place(ctx, s)
	if err != nil {
		return Accepted{}, err
	}
	typed, err := e.typed(ctx, p, s)
	if err != nil {
		return Accepted{}, err
	}
	attached, pictures, err := e.attached(ctx, p, s)
	if err != nil {
		return Accepted{}, err
	}
	if s.Media, err = e.media(ctx, p, s.Media, pictures); err != nil {
		return Accepted{}, err
	}
	if s.Options, err = e.filterOptions(ctx, p, s); err != nil {
		return Accepted{}, err
	}
	if err := e.wantView(ctx, p, s); err != nil { // before a run is made
		return Accepted{}, err
	}
	if s.Fork {
		p.run, err = e.Fork(ctx, Fork{Run: p.run.ID})
	} else {
		p.run, err = e.ensureRun(ctx, p, s)
	}
	if err != nil {
		return Accepted{}, err
	}
	if err := reaches(s.Origin, p.run); err != nil { // somebody else may have made it at the same moment
		return Accepted{}, err
	}
	if s.Offline && !p.run.Offline { // the same
		return Accepted{}, sdk.Errorf(sdk.Permission, "the run %s reaches the network, and the run that the plugin works for does not; choose another name", p.run.Alias)
	}
	if err := e.wantView(ctx, p, s); err != nil {
		return Accepted{}, err
	}
	return e.enqueue(ctx, p, s, typed, attached)
}

// StartRun makes a run without a prompt. An alias that is taken is a conflict.
func (e *Engine) StartRun(ctx context.Context, s Submission) (Accepted, error) {
	leave, err := e.enter()
	if err != nil {
		return Accepted{}, err
	}
	defer leave()
	p, err := e.place(ctx, s)
	if err != nil {
		return Accepted{}, err
	}
	if p.run.ID != 0 {
		return Accepted{}, sdk.Errorf(sdk.Conflict, "the project has a run called %s already; choose another name, or go on with that one", s.Run)
	}
	if s.Options, err = e.filterOptions(ctx, p, s); err != nil {
		return Accepted{}, err
	}
	r, err := e.createRun(ctx, p, s)
	if err != nil {
		return Accepted{}, err
	}
	if s.Yolo {
		if _, err := e.commit(ctx, once, sdk.Change{Run: r.ID, Writes: []sdk.Write{grantAllWrite()}}); err != nil {
			return Accepted{}, fmt.Errorf("the run %s was made, and has no full mode: %w", r.Alias, err)
		}
	}
	return Accepted{Run: r, Seq: e.cfg.Store.Seq(), Model: p.choice.Alias, Why: p.choice.Why}, nil
}

func checkPrompt(s Submission) error {
	switch {
	case strings.TrimSpace(s.Prompt) == "":
		return sdk.Errorf(sdk.Validation, "the prompt is empty; say what to do")
	case !utf8.ValidString(s.Prompt):
		return sdk.Errorf(sdk.Validation, "the prompt is not valid UTF-8")
	case s.Quoted < 0 || s.Quoted > len(s.Prompt):
		return sdk.Errorf(sdk.Validation, "quoted is %d; it can be 0 to the length of the prompt, which is %d", s.Quoted, len(s.Prompt))
	case s.Fork && s.Run == "":
		return sdk.Errorf(sdk.Validation, "a fork is of a run: name the run")
	case s.Key != "" && !validAlias(s.Key):
		return sdk.Errorf(sdk.Validation, "the key of a prompt is %.80q; it takes 1 to 64 of A-Z a-z 0-9 _ -", s.Key)
	case s.Mode != "" && !s.Mode.Valid():
		return sdk.Errorf(sdk.Validation, "there is no mode %q; it may be %s", s.Mode, sdk.ModeWords())
	}
	return nil
}

// placed is where a submission goes, resolved.
type placed struct {
	project sdk.Project
	run     sdk.Run // ID 0: to be made
	agent   sdk.Agent
	choice  sdk.ModelChoice
	played  *tape.Played // in the place of the choice
}

// model is the one that a run keeps.
func (p placed) model() string {
	if p.played != nil {
		return p.played.Model
	}
	return p.choice.Alias
}

func (e *Engine) place(ctx context.Context, s Submission) (placed, error) {
	p := placed{played: s.played}
	var err error
	if p.project, err = e.openProject(ctx, s.Project); err != nil {
		return p, err
	}
	switch {
	case s.conversation != "":
		if p.run, _, err = e.cfg.Store.Conversation(ctx, p.project.ID, s.Origin, s.conversation); err != nil {
			return p, err
		}
	case s.Run != "":
		if p.run, err = e.findRun(ctx, p.project.ID, s.Run); err != nil {
			return p, err
		}
		if err := reaches(s.Origin, p.run); err != nil {
			return p, err
		}
		if p.run.Hidden || keepsTools(s.Run) {
			return p, sdk.Errorf(sdk.Conflict, "the run %s keeps the project's tool calls and takes no prompts; choose another name", s.Run)
		}
	}
	if s.Fork && p.run.ID == 0 {
		return p, sdk.Errorf(sdk.NotFound, "there is no run %s in this project that could be forked", s.Run)
	}
	narrowed := e.narrowing(p.project.Root)
	chosen := cmp.Or(s.Agent, p.run.Agent, s.Usually)
	if p.agent, err = e.AgentOf(agentsAt(p.project, p.run.Private || s.Origin.Channel != ""), cmp.Or(chosen, narrowed.Agent, defaultAgent)); err != nil && chosen == "" && narrowed.Agent != "" {
		err = sdk.Errorf(sdk.OutcomeOf(err), "a workspace block chooses the agent of this project (in its .bothy/config.hcl, or in yours): %w", err)
	}
	if err != nil {
		return p, err
	}
	told := p.agent // p has its definition, which the loop keeps beside the schema
	if told.Finish, err = finish.Of(p.agent, s.Schema); err != nil {
		return p, err
	}
	if p.choice, err = e.chosen(ctx, s, p, narrowed.Model); err != nil {
		return p, err
	}
	return p, e.canWork(told, p.choice)
}

// canWork says why an agent cannot work with a model.
func (e *Engine) canWork(agent sdk.Agent, choice sdk.ModelChoice) error {
	if e.takesTools(agent, choice) || len(choice.Fallback) > 0 || agent.Finish == nil && len(e.toolsOf(agent)) == 0 {
		return nil
	}
	others := "another model (`bothy models` lists them)"
	if len(choice.Able) > 0 {
		others = "one that can (" + strings.Join(choice.Able, ", ") + ")"
	}
	return sdk.Errorf(sdk.Validation, "the model %s cannot call tools, and agent %q works through them; choose %s, an agent without tools or one with dialect = \"tags\"", choice.Alias, agent.Name, others)
}

// readAndEnter is R_OK and X_OK of access(2).
const readAndEnter = 4 | 1

// openProject finds the project of a directory, symlinks resolved.
func (e *Engine) openProject(ctx context.Context, root string) (sdk.Project, error) {
	if !filepath.IsAbs(root) {
		return sdk.Project{}, sdk.Errorf(sdk.Validation, "the project must be the absolute path of a directory, not %q", root)
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return sdk.Project{}, sdk.Errorf(sdk.NotFound, "the project directory cannot be found: %w", err)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return sdk.Project{}, sdk.Errorf(sdk.Validation, "the project %s is not a directory", real)
	}
	if err := syscall.Access(real, readAndEnter); err != nil {
		return sdk.Project{}, sdk.Errorf(sdk.Validation, "the project %s cannot be entered by the user that the daemon runs as: %w; give that user the right to read and enter it (chmod u+rx), or choose another project", real, err)
	}
	e.cfg.Hooks.ProjectInitStarted.Emit(ctx, sdk.Project{Root: real})
	p, err := e.cfg.Store.OpenProject(ctx, real)
	if err != nil {
		return sdk.Project{}, fmt.Errorf("open project %s: %w", real, err)
	}
	e.cfg.Hooks.ProjectInitCompleted.Emit(ctx, p)
	return p, nil
}

// ensureRun returns the run of a submission; two that name the same new alias
// at once get the same run.
func (e *Engine) ensureRun(ctx context.Context, p placed, s Submission) (sdk.Run, error) {
	if p.run.ID != 0 {
		return p.run, nil
	}
	r, err := e.createRun(ctx, p, s)
	if s.Run != "" && err != nil && sdk.OutcomeOf(err) == sdk.Conflict {
		return e.cfg.Store.RunByAlias(ctx, p.project.ID, s.Run)
	}
	return r, err
}

func (e *Engine) createRun(ctx context.Context, p placed, s Submission) (sdk.Run, error) {
	r := sdk.Run{
		Project: p.project.ID, Alias: s.Run, Agent: p.agent.Name, Model: p.model(), Hidden: keepsTools(s.Run), Private: s.Origin.Channel != "", Origin: s.Origin, Offline: s.Offline,
	}
	if s.Origin.Channel != "" && s.From != nil {
		r.Conversation = s.From.Name()
	}
	s.Options.Apply(&r.RunConfig)
	var marked []sdk.Write
	if s.Foreign != "" {
		marked = append(marked, foreignWrite(s.Foreign))
	}
	r, err := e.cfg.Store.CreateRun(ctx, r, marked...)
	if err != nil {
		return r, err
	}
	e.cfg.Hooks.RunCreated.Emit(ctx, sdk.RunEvent{Run: r.ForHook(), Project: p.project.Root, RunDir: e.runDir(r)})
	return r, nil
}
