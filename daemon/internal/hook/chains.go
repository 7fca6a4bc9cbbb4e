package hook

import (
	"reflect"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
)

// Chains are the subscribers of every name of the catalogue (sdk.Hooks): one field each, with the name in its tag and the type of the
// payload in its own.
type Chains struct {
	ProjectInitStarted   *Event[sdk.Project] `hook:"project.init.started"`
	ProjectInitCompleted *Event[sdk.Project] `hook:"project.init.completed"`

	RunConfig   *Filter[sdk.ConfigChange] `hook:"run.config"`
	RunCreated  *Event[sdk.RunEvent]      `hook:"run.created"`
	RunReset    *Event[sdk.RunEvent]      `hook:"run.reset"`
	RunExpired  *Event[sdk.RunEvent]      `hook:"run.expired"`
	RunDeleted  *Event[sdk.RunEvent]      `hook:"run.deleted"`
	RunIdle     *Event[sdk.RunEvent]      `hook:"run.idle"`
	RunRested   *Event[sdk.Rest]          `hook:"run.rested"`
	RunProgress *Event[sdk.TurnEvent]     `hook:"run.progress"`
	RunState    *Event[sdk.TurnEvent]     `hook:"run.state"`

	AskStarted       *Event[sdk.LoopEvent] `hook:"ask.started"`
	AskCompleted     *Event[sdk.LoopEvent] `hook:"ask.completed"`
	ActStarted       *Event[sdk.LoopEvent] `hook:"act.started"`
	ActCompleted     *Event[sdk.LoopEvent] `hook:"act.completed"`
	LoopStarted      *Event[sdk.LoopEvent] `hook:"loop.started"`
	LoopCompleted    *Event[sdk.LoopEvent] `hook:"loop.completed"`
	RunStepCompleted *Event[sdk.LoopEvent] `hook:"run.step.completed"`

	TurnStarted         *Event[sdk.TurnEvent]   `hook:"turn.started"`
	ContextMaterialized *Event[sdk.TurnEvent]   `hook:"context.materialized"`
	TurnResponse        *Event[sdk.TurnResult]  `hook:"turn.response"`
	TurnDispatched      *Event[sdk.TurnEvent]   `hook:"turn.dispatched"`
	TurnCompleted       *Event[sdk.TurnResult]  `hook:"turn.completed"`
	TurnBeforeDispatch  *Filter[sdk.Prompt]     `hook:"turn.before_dispatch"`
	TurnVerdict         *Filter[sdk.TurnResult] `hook:"turn.verdict"`

	InstructionsToolDocs            *Filter[map[string]string] `hook:"instructions.tool_docs"`
	InstructionsResolveSystemPrompt *Filter[sdk.Prompt]        `hook:"instructions.resolve_system_prompt"`
	AssemblySystem                  *Filter[sdk.Prompt]        `hook:"assembly.system"`
	AssemblyUser                    *Filter[sdk.Prompt]        `hook:"assembly.user"`

	LLMMessages         *Filter[sdk.Prompt]     `hook:"llm.messages"`
	LLMResponse         *Filter[sdk.Completion] `hook:"llm.response"`
	LLMReasoning        *Filter[sdk.Completion] `hook:"llm.reasoning"`
	LLMRequestStarted   *Event[sdk.TurnEvent]   `hook:"llm.request.started"`
	LLMRequestCompleted *Event[sdk.TurnEvent]   `hook:"llm.request.completed"`

	EntryRecording *Filter[sdk.Recording] `hook:"entry.recording"`
	EntryCreated   *Event[sdk.EntryEvent] `hook:"entry.created"`
	EntryChanged   *Event[sdk.EntryEvent] `hook:"entry.changed"`
	ToolBefore     *Event[sdk.EntryEvent] `hook:"tool.before"`
	ToolAfter      *Event[sdk.EntryEvent] `hook:"tool.after"`
	ErrorLog       *Event[sdk.EntryEvent] `hook:"error.log"`

	ProposalPrepare   *Event[sdk.EntryEvent]  `hook:"proposal.prepare"`
	ProposalPending   *Event[sdk.EntryEvent]  `hook:"proposal.pending"`
	ProposalAccepting *Filter[sdk.Resolution] `hook:"proposal.accepting"`
	ProposalContent   *Filter[sdk.Resolution] `hook:"proposal.content"`
	ProposalAccepted  *Event[sdk.EntryEvent]  `hook:"proposal.accepted"`
	ProposalRejected  *Event[sdk.EntryEvent]  `hook:"proposal.rejected"`
	StreamCancelled   *Event[sdk.EntryEvent]  `hook:"stream.cancelled"`

	UIRender *Event[sdk.Notice] `hook:"ui.render"`
	UINotify *Event[sdk.Notice] `hook:"ui.notify"`

	SocketMessageRaw  *Filter[sdk.SocketRequest] `hook:"socket.message.raw"`
	RPCRequest        *Filter[sdk.SocketRequest] `hook:"rpc.request"`
	RPCResponseResult *Filter[sdk.SocketRequest] `hook:"rpc.response.result"`
	RPCStarted        *Event[sdk.SocketRequest]  `hook:"rpc.started"`
	RPCCompleted      *Event[sdk.SocketRequest]  `hook:"rpc.completed"`
	RPCError          *Event[sdk.SocketRequest]  `hook:"rpc.error"`

	// Owns reports whether a plugin, by its name as a subscriber, has a scheme for its entries: it is told their texts where
	// others are not. Nil is that none has any. It is set before any plugin subscribes.
	Owns func(owner, scheme string) bool

	byName map[string]subscribable
}

// New makes the chains without subscribers.
func New(log hclog.Logger) *Chains {
	c := &Chains{byName: map[string]subscribable{}}
	fields := reflect.ValueOf(c).Elem()
	for i := range fields.NumField() {
		name, tagged := fields.Type().Field(i).Tag.Lookup("hook")
		if !tagged {
			continue
		}
		point, _ := sdk.FindHook(name) // a test holds the tags to the catalogue
		made := reflect.New(fields.Field(i).Type().Elem())
		fields.Field(i).Set(made)
		s := made.Interface().(subscribable)
		s.open(point, log)
		c.byName[name] = s
	}
	c.TurnVerdict.take = onlyStop
	c.EntryRecording.take = onlyReject
	c.ProposalAccepting.take = onlyVeto
	c.RunConfig.take = onlyTighten
	for _, f := range []*Filter[sdk.Prompt]{c.TurnBeforeDispatch, c.InstructionsResolveSystemPrompt, c.LLMMessages} {
		f.give, f.take = withoutRows, keepRows
	}
	for _, f := range []*Filter[sdk.Prompt]{c.AssemblySystem, c.AssemblyUser} {
		f.give, f.take = c.ownRows, keepRows
	}
	for _, f := range []*Filter[sdk.SocketRequest]{c.SocketMessageRaw, c.RPCRequest, c.RPCResponseResult} {
		f.take = nothing
	}
	return c
}
