package sdk

import (
	"reflect"
	"slices"
	"strings"
	"time"
)

// How long one subscriber of a hook may take.
const (
	hookLimit  = 5 * time.Second
	awaitLimit = 10 * time.Second // run.reset, run.expired, run.deleted, run.idle: a subscriber removes containers
	restLimit  = 5 * time.Minute  // run.rested: a subscriber asks models
)

// HookPoint is one name of the catalogue.
type HookPoint struct {
	Name    string
	Kind    HookKind
	Payload reflect.Type  // of an event's payload or a filter's value, which travel as JSON
	Doc     string        // when it comes
	Limit   time.Duration // how long one subscriber may take
	Guard   bool          // a filter whose failing subscriber denies, whatever its subscription says
	Durable bool          // an event that each subscriber is told until it answers without an error, and may call the daemon's services for
}

// Hooks lists every name that this version knows, in the order of a prompt's way
// through the daemon. A later daemon may have more.
func Hooks() []HookPoint { return slices.Clone(hookCatalogue) }

// FindHook returns what the catalogue says of a name.
func FindHook(name string) (HookPoint, bool) {
	i := slices.IndexFunc(hookCatalogue, func(p HookPoint) bool { return p.Name == name })
	if i < 0 {
		return HookPoint{}, false
	}
	return hookCatalogue[i], true
}

// hookCatalogue has all names of events and filters, in snake_case (ADR 0034 and
// ADR 0045).
var hookCatalogue = []HookPoint{
	eventPoint[Project]("project.init.started", "a project is about to be known; only its root is set"),
	eventPoint[Project]("project.init.completed", "a project is known"),
	filterPoint[ConfigChange]("run.config", "what a run has of its own, before it is made or that is changed"),
	eventPoint[RunEvent]("run.created", "a run was made or forked"),
	awaitedPoint[RunEvent]("run.reset", "a run's sandbox is to be dropped; waited for"),
	awaitedPoint[RunEvent]("run.expired", "a run was idle for too long and its sandbox is to be dropped; waited for"),
	awaitedPoint[RunEvent]("run.deleted", "a run goes, and everything kept for it must; waited for"),
	awaitedPoint[RunEvent]("run.idle", "no prompt of a run works or waits any more; waited for"),
	durablePoint[Rest]("run.rested", "nobody goes on with a run: what came since it rested last can be looked at as a whole"),
	eventPoint[TurnEvent]("run.progress", "what a turn does now: detail.status is thinking, processing or retrying"),
	eventPoint[TurnEvent]("run.state", "a run's state after an action, a turn or its end"),
	eventPoint[LoopEvent]("ask.started", "a loop that may only read was queued"),
	eventPoint[LoopEvent]("ask.completed", "a loop that may only read ended, however it did"),
	eventPoint[LoopEvent]("act.started", "a loop that may act was queued"),
	eventPoint[LoopEvent]("act.completed", "a loop that may act ended, however it did"),
	eventPoint[LoopEvent]("loop.started", "a loop left the queue and begins"),
	eventPoint[LoopEvent]("loop.completed", "a loop ended, however it did"),
	eventPoint[LoopEvent]("run.step.completed", "a turn of a loop ended"),

	eventPoint[TurnEvent]("turn.started", "a turn is open and nothing is assembled yet"),
	filterPoint[Prompt]("instructions.resolve_system_prompt", "the view's system prompt, before anything is added"),
	filterPoint[map[string]string]("instructions.tool_docs", "documentation by tool name, told to the model beside the tools' own descriptions"),
	eventPoint[TurnEvent]("context.materialized", "the run's entries became messages"),
	filterPoint[Prompt]("assembly.system", "the prompt, to change its system text"),
	filterPoint[Prompt]("assembly.user", "the prompt, to change its messages"),
	guardPoint[Prompt]("turn.before_dispatch", "the prompt that fits, before it is sent; a failure ends the loop"),
	filterPoint[Prompt]("llm.messages", "the messages exactly as they will be sent"),
	eventPoint[TurnEvent]("llm.request.started", "a model is asked"),
	filterPoint[Completion]("llm.response", "a model's whole answer, before it is read"),
	eventPoint[TurnEvent]("llm.request.completed", "a model has answered; detail.usage is what it reported"),
	filterPoint[Completion]("llm.reasoning", "the answer again, to change its reasoning before it is kept"),
	eventPoint[TurnResult]("turn.response", "the answer was read; there are no actions yet"),
	eventPoint[TurnEvent]("turn.dispatched", "every action of the turn has ended"),
	eventPoint[TurnResult]("turn.completed", "everything a turn did, before the verdict"),
	guardPoint[TurnResult]("turn.verdict", "the ruling at a turn's end; a loop that would go on can be ended, and a failure ends it"),

	guardPoint[Recording]("entry.recording", "an action about to be recorded; state failed rejects it, and so does a failure"),
	eventPoint[EntryEvent]("entry.created", "an action has ended"),
	eventPoint[EntryEvent]("entry.changed", "the engine committed a change of an entry"),
	eventPoint[EntryEvent]("tool.before", "a tool is about to run; its action is committed as started"),
	eventPoint[EntryEvent]("tool.after", "a tool has run; its action is committed as ended"),
	eventPoint[EntryEvent]("error.log", "a failure without an action was recorded"),
	eventPoint[EntryEvent]("proposal.prepare", "an action may become a proposal"),
	eventPoint[EntryEvent]("proposal.pending", "a proposal waits for a person"),
	guardPoint[Resolution]("proposal.accepting", "a proposal is about to be accepted; allow false vetoes it, and so does a failure"),
	filterPoint[Resolution]("proposal.content", "the body that an accepted proposal gets"),
	eventPoint[EntryEvent]("proposal.accepted", "a proposal was accepted and committed"),
	eventPoint[EntryEvent]("proposal.rejected", "a proposal was rejected and committed"),
	eventPoint[EntryEvent]("stream.cancelled", "an action that still ran was cancelled"),

	eventPoint[Notice]("ui.render", "what a tool says of its work, as clients are told it"),
	eventPoint[Notice]("ui.notify", "what the engine says of its own work, as clients are told it"),
	filterPoint[SocketRequest]("socket.message.raw", "a message of a client as it came, in raw, before anything of it is done"),
	filterPoint[SocketRequest]("rpc.request", "a request of a client, read and not yet handled"),
	filterPoint[SocketRequest]("rpc.response.result", "a request with the result that it will be answered with"),
	eventPoint[SocketRequest]("rpc.started", "a request of a client is being handled"),
	eventPoint[SocketRequest]("rpc.completed", "a request of a client was handled; result is set"),
	eventPoint[SocketRequest]("rpc.error", "a request of a client failed; error is set"),
}

func eventPoint[T any](name, doc string) HookPoint {
	return HookPoint{Name: name, Kind: HookEvent, Payload: reflect.TypeFor[T](), Doc: doc, Limit: hookLimit}
}

func awaitedPoint[T any](name, doc string) HookPoint {
	p := eventPoint[T](name, doc)
	p.Limit = awaitLimit
	return p
}

func durablePoint[T any](name, doc string) HookPoint {
	p := eventPoint[T](name, doc)
	p.Limit, p.Durable = restLimit, true
	return p
}

func filterPoint[T any](name, doc string) HookPoint {
	return HookPoint{Name: name, Kind: HookFilter, Payload: reflect.TypeFor[T](), Doc: doc, Limit: hookLimit}
}

func guardPoint[T any](name, doc string) HookPoint {
	p := filterPoint[T](name, doc)
	p.Guard = true
	return p
}

// Check says what is wrong with a subscription: a name that is not in the
// catalogue (the nearest one is named), a
// failure mode that there is not, or one that an event cannot have. A priority
// of zero is a place like any other, not the default.
func (s Subscription) Check() error {
	point, known := FindHook(s.Name)
	switch {
	case !known:
		return Errorf(NotFound, "there is no hook %q; the nearest name is %q", s.Name, nearestHook(s.Name))
	case s.Failure != "" && s.Failure != FailOpen && s.Failure != FailClosed:
		return Errorf(Validation, "hook %s: failure is %q; write \"open\" or \"closed\"", s.Name, s.Failure)
	case point.Kind == HookEvent && s.Failure == FailClosed:
		return Errorf(Validation, "hook %s: it is an event: it tells, so it cannot fail closed; leave failure out", s.Name)
	case s.Scheme != "" && s.Name != "entry.changed":
		return Errorf(Validation, "hook %s: only entry.changed is heard for one scheme; leave scheme out", s.Name)
	}
	return nil
}

// nearestHook is the name of the catalogue with the fewest edits to what a
// person wrote, the camelCase spelling counted as none; the first of several.
func nearestHook(wrote string) string {
	names := make([]string, 0, len(hookCatalogue))
	for _, p := range hookCatalogue {
		names = append(names, p.Name)
	}
	return Nearest(wrote, names, foldHook)
}

func foldHook(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "") }
