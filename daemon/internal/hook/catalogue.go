package hook

import (
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
)

// Limits on one subscriber's time.
const (
	ordinaryLimit  = 5 * time.Second
	lifecycleLimit = 10 * time.Second // run.reset, run.expired, run.deleted: somebody removes a container
)

// Chains is the whole catalogue of names (rummy spec, Events & Filters), one
// field each, with the type of its payload. The names are the spec's, written
// in snake_case. Left out are those that the spec's programs declared and never
// used (run.started, project.files.update.*, run.config, prompt.tools), their
// lists and their single-owner slots, which are interfaces here.
type Chains struct {
	ProjectInitStarted   *Event[sdk.Project]
	ProjectInitCompleted *Event[sdk.Project]

	RunCreated  *Event[sdk.RunEvent]
	RunReset    *Event[sdk.RunEvent]
	RunExpired  *Event[sdk.RunEvent]
	RunDeleted  *Event[sdk.RunEvent]
	RunProgress *Event[sdk.TurnEvent]
	RunState    *Event[sdk.TurnEvent]

	AskStarted       *Event[sdk.LoopEvent]
	AskCompleted     *Event[sdk.LoopEvent]
	ActStarted       *Event[sdk.LoopEvent]
	ActCompleted     *Event[sdk.LoopEvent]
	LoopStarted      *Event[sdk.LoopEvent]
	LoopCompleted    *Event[sdk.LoopEvent]
	RunStepCompleted *Event[sdk.LoopEvent]

	TurnStarted         *Event[sdk.TurnEvent]
	ContextMaterialized *Event[sdk.TurnEvent]
	TurnResponse        *Event[sdk.TurnResult]
	TurnDispatched      *Event[sdk.TurnEvent]
	TurnCompleted       *Event[sdk.TurnResult]
	TurnBeforeDispatch  *Filter[sdk.Prompt]
	TurnVerdict         *Filter[sdk.TurnResult]

	InstructionsToolDocs            *Filter[map[string]string]
	InstructionsResolveSystemPrompt *Filter[sdk.Prompt]
	AssemblySystem                  *Filter[sdk.Prompt]
	AssemblyUser                    *Filter[sdk.Prompt]

	LLMMessages         *Filter[sdk.Prompt]
	LLMResponse         *Filter[sdk.Completion]
	LLMReasoning        *Filter[sdk.Completion]
	LLMRequestStarted   *Event[sdk.TurnEvent]
	LLMRequestCompleted *Event[sdk.TurnEvent]

	EntryRecording *Filter[sdk.Recording]
	EntryCreated   *Event[sdk.EntryEvent]
	EntryChanged   *Event[sdk.EntryEvent]
	ToolBefore     *Event[sdk.EntryEvent]
	ToolAfter      *Event[sdk.EntryEvent]
	ErrorLog       *Event[sdk.EntryEvent]

	ProposalPrepare   *Event[sdk.EntryEvent]
	ProposalPending   *Event[sdk.EntryEvent]
	ProposalAccepting *Filter[sdk.Resolution]
	ProposalContent   *Filter[sdk.Resolution]
	ProposalAccepted  *Event[sdk.EntryEvent]
	ProposalRejected  *Event[sdk.EntryEvent]
	StreamCancelled   *Event[sdk.EntryEvent]

	UIRender          *Event[sdk.Notice]
	UINotify          *Event[sdk.Notice]
	SocketMessageRaw  *Filter[sdk.SocketRequest]
	RPCRequest        *Filter[sdk.SocketRequest]
	RPCResponseResult *Filter[sdk.SocketRequest]
	RPCStarted        *Event[sdk.SocketRequest]
	RPCCompleted      *Event[sdk.SocketRequest]
	RPCError          *Event[sdk.SocketRequest]

	log    hclog.Logger
	byName map[string]subscribable
	order  []string
}

// New makes the catalogue without subscribers.
func New(log hclog.Logger) *Chains {
	c := &Chains{log: log, byName: map[string]subscribable{}}
	c.addLifecycle()
	c.addTurn()
	c.addEntries()
	c.addSurface()
	return c
}

func (c *Chains) addLifecycle() {
	c.ProjectInitStarted = event[sdk.Project](c, "project.init.started", "a project is about to be known; only its root is set")
	c.ProjectInitCompleted = event[sdk.Project](c, "project.init.completed", "a project is known")
	c.RunCreated = event[sdk.RunEvent](c, "run.created", "a run was made or forked")
	c.RunReset = awaited[sdk.RunEvent](c, "run.reset", "a run's sandbox is to be dropped; waited for")
	c.RunExpired = awaited[sdk.RunEvent](c, "run.expired", "a run was idle for too long and its sandbox is to be dropped; waited for")
	c.RunDeleted = awaited[sdk.RunEvent](c, "run.deleted", "a run goes, and everything kept for it must; waited for")
	c.RunProgress = event[sdk.TurnEvent](c, "run.progress", "what a turn does now: detail.status is thinking, processing or retrying")
	c.RunState = event[sdk.TurnEvent](c, "run.state", "a run's state after an action, a turn or its end")
	c.AskStarted = event[sdk.LoopEvent](c, "ask.started", "a loop of mode ask was queued")
	c.AskCompleted = event[sdk.LoopEvent](c, "ask.completed", "a loop of mode ask ended, however it did")
	c.ActStarted = event[sdk.LoopEvent](c, "act.started", "a loop of mode act was queued")
	c.ActCompleted = event[sdk.LoopEvent](c, "act.completed", "a loop of mode act ended, however it did")
	c.LoopStarted = event[sdk.LoopEvent](c, "loop.started", "a loop left the queue and begins")
	c.LoopCompleted = event[sdk.LoopEvent](c, "loop.completed", "a loop ended, however it did")
	c.RunStepCompleted = event[sdk.LoopEvent](c, "run.step.completed", "a turn of a loop ended")
}

func (c *Chains) addTurn() {
	c.TurnStarted = event[sdk.TurnEvent](c, "turn.started", "a turn is open and nothing is assembled yet")
	c.InstructionsResolveSystemPrompt = filter[sdk.Prompt](c, "instructions.resolve_system_prompt", "the view's system prompt, before anything is added")
	c.InstructionsToolDocs = filter[map[string]string](c, "instructions.tool_docs", "documentation by tool name, told to the model beside the tools' own descriptions")
	c.ContextMaterialized = event[sdk.TurnEvent](c, "context.materialized", "the run's entries became messages")
	c.AssemblySystem = filter[sdk.Prompt](c, "assembly.system", "the prompt, to change its system text")
	c.AssemblyUser = filter[sdk.Prompt](c, "assembly.user", "the prompt, to change its messages")
	c.TurnBeforeDispatch = guard[sdk.Prompt](c, "turn.before_dispatch", "the prompt that fits, before it is sent; a failure ends the loop")
	c.LLMMessages = filter[sdk.Prompt](c, "llm.messages", "the messages exactly as they will be sent")
	c.LLMRequestStarted = event[sdk.TurnEvent](c, "llm.request.started", "a model is asked")
	c.LLMResponse = filter[sdk.Completion](c, "llm.response", "a model's whole answer, before it is read")
	c.LLMRequestCompleted = event[sdk.TurnEvent](c, "llm.request.completed", "a model has answered; detail.usage is what it reported")
	c.LLMReasoning = filter[sdk.Completion](c, "llm.reasoning", "the answer again, to change its reasoning before it is kept")
	c.TurnResponse = event[sdk.TurnResult](c, "turn.response", "the answer was read; there are no actions yet")
	c.TurnDispatched = event[sdk.TurnEvent](c, "turn.dispatched", "every action of the turn has ended")
	c.TurnCompleted = event[sdk.TurnResult](c, "turn.completed", "everything a turn did, before the verdict")
	c.TurnVerdict = guard[sdk.TurnResult](c, "turn.verdict", "the ruling at a turn's end; a loop that would go on can be ended")
	c.TurnVerdict.take = onlyStop
}

func (c *Chains) addEntries() {
	c.EntryRecording = guard[sdk.Recording](c, "entry.recording", "an action about to be recorded; state failed rejects it")
	c.EntryRecording.take = onlyReject
	c.EntryCreated = event[sdk.EntryEvent](c, "entry.created", "an action has ended")
	c.EntryChanged = event[sdk.EntryEvent](c, "entry.changed", "the engine committed a change of an entry")
	c.ToolBefore = event[sdk.EntryEvent](c, "tool.before", "a tool is about to run; its action is committed as started")
	c.ToolAfter = event[sdk.EntryEvent](c, "tool.after", "a tool has run; its action is committed as ended")
	c.ErrorLog = event[sdk.EntryEvent](c, "error.log", "a failure without an action was recorded")
	c.ProposalPrepare = event[sdk.EntryEvent](c, "proposal.prepare", "an action may become a proposal")
	c.ProposalPending = event[sdk.EntryEvent](c, "proposal.pending", "a proposal waits for a person")
	c.ProposalAccepting = guard[sdk.Resolution](c, "proposal.accepting", "a proposal is about to be accepted; allow false vetoes it")
	c.ProposalAccepting.take = onlyVeto
	c.ProposalContent = filter[sdk.Resolution](c, "proposal.content", "the body that an accepted proposal gets")
	c.ProposalAccepted = event[sdk.EntryEvent](c, "proposal.accepted", "a proposal was accepted and committed")
	c.ProposalRejected = event[sdk.EntryEvent](c, "proposal.rejected", "a proposal was rejected and committed")
	c.StreamCancelled = event[sdk.EntryEvent](c, "stream.cancelled", "an action that still ran was cancelled")
}

func (c *Chains) addSurface() {
	c.UIRender = event[sdk.Notice](c, "ui.render", "text for whoever follows the project")
	c.UINotify = event[sdk.Notice](c, "ui.notify", "a notice for whoever follows the project")
	c.SocketMessageRaw = filter[sdk.SocketRequest](c, "socket.message.raw", "a line of the socket as it came, in raw")
	c.RPCRequest = filter[sdk.SocketRequest](c, "rpc.request", "a request, read and not yet handled")
	c.RPCResponseResult = filter[sdk.SocketRequest](c, "rpc.response.result", "a request with the result it will be answered with")
	c.RPCStarted = event[sdk.SocketRequest](c, "rpc.started", "a request is being handled")
	c.RPCCompleted = event[sdk.SocketRequest](c, "rpc.completed", "a request was handled; result is set")
	c.RPCError = event[sdk.SocketRequest](c, "rpc.error", "a request failed; error is set")
}

func event[T any](c *Chains, name, doc string) *Event[T] {
	e := &Event[T]{}
	e.point = sdk.HookPoint{Name: name, Kind: sdk.HookEvent, Doc: doc}
	e.log, e.limit = c.log, ordinaryLimit
	c.register(name, e)
	return e
}

func awaited[T any](c *Chains, name, doc string) *Event[T] {
	e := event[T](c, name, doc)
	e.limit = lifecycleLimit
	return e
}

func filter[T any](c *Chains, name, doc string) *Filter[T] {
	f := &Filter[T]{}
	f.point = sdk.HookPoint{Name: name, Kind: sdk.HookFilter, Doc: doc}
	f.log, f.limit = c.log, ordinaryLimit
	c.register(name, f)
	return f
}

func guard[T any](c *Chains, name, doc string) *Filter[T] {
	f := filter[T](c, name, doc)
	f.guard = true
	return f
}

func (c *Chains) register(name string, s subscribable) {
	c.byName[name] = s
	c.order = append(c.order, name)
}
