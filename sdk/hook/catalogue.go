package hook

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Point is one name of the catalogue with the type that it carries.
type Point struct {
	Name    string
	Kind    sdk.HookKind
	Payload reflect.Type
}

// Catalogue lists every name that this version knows. The daemon's own is the
// one that counts: a later daemon may have more.
func Catalogue() []Point {
	points := make([]Point, len(catalogue))
	copy(points, catalogue)
	return points
}

func points[T any](kind sdk.HookKind, names ...string) []Point {
	list := make([]Point, len(names))
	for i, name := range names {
		list[i] = Point{Name: name, Kind: kind, Payload: reflect.TypeFor[T]()}
	}
	return list
}

// catalogue is by payload. The daemon's tests hold it against the daemon's own.
var catalogue = concat(
	points[sdk.Project](sdk.HookEvent, "project.init.started", "project.init.completed"),
	points[sdk.RunEvent](sdk.HookEvent, "run.created", "run.reset", "run.expired", "run.deleted"),
	points[sdk.LoopEvent](sdk.HookEvent, "ask.started", "ask.completed", "act.started", "act.completed",
		"loop.started", "loop.completed", "run.step.completed"),
	points[sdk.TurnEvent](sdk.HookEvent, "run.progress", "run.state", "turn.started", "turn.dispatched",
		"context.materialized", "llm.request.started", "llm.request.completed"),
	points[sdk.TurnResult](sdk.HookEvent, "turn.response", "turn.completed"),
	points[sdk.TurnResult](sdk.HookFilter, "turn.verdict"),
	points[map[string]string](sdk.HookFilter, "instructions.tool_docs"),
	points[sdk.Prompt](sdk.HookFilter, "instructions.resolve_system_prompt", "assembly.system", "assembly.user",
		"turn.before_dispatch", "llm.messages"),
	points[sdk.Completion](sdk.HookFilter, "llm.response", "llm.reasoning"),
	points[sdk.Recording](sdk.HookFilter, "entry.recording"),
	points[sdk.EntryEvent](sdk.HookEvent, "entry.created", "entry.changed", "tool.before", "tool.after", "error.log",
		"proposal.prepare", "proposal.pending", "proposal.accepted", "proposal.rejected", "stream.cancelled"),
	points[sdk.Resolution](sdk.HookFilter, "proposal.accepting", "proposal.content"),
	points[sdk.Notice](sdk.HookEvent, "ui.render", "ui.notify"),
	points[sdk.SocketRequest](sdk.HookFilter, "socket.message.raw", "rpc.request", "rpc.response.result"),
	points[sdk.SocketRequest](sdk.HookEvent, "rpc.started", "rpc.completed", "rpc.error"),
)

func concat(lists ...[]Point) []Point {
	var all []Point
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// find is the point of a name, or an error that names the nearest one.
func find(name string) (Point, error) {
	names := make([]string, len(catalogue))
	for i, p := range catalogue {
		if p.Name == name {
			return p, nil
		}
		names[i] = p.Name
	}
	return Point{}, fmt.Errorf("there is no hook %q; the nearest name is %q", name, Nearest(name, names))
}

// Check says what is wrong with a subscription: a name that is not in the
// catalogue, a failure mode that there is not, or one that an event cannot have.
func Check(sub sdk.Subscription) error {
	point, err := find(sub.Name)
	switch {
	case err != nil:
		return err
	case sub.Failure != "" && sub.Failure != sdk.FailOpen && sub.Failure != sdk.FailClosed:
		return fmt.Errorf("hook %s: failure is %q; write \"open\" or \"closed\"", sub.Name, sub.Failure)
	case point.Kind == sdk.HookEvent && sub.Failure == sdk.FailClosed:
		return fmt.Errorf("hook %s: it is an event: it tells, so it cannot fail closed", sub.Name)
	}
	return nil
}

// Nearest is the name with the fewest edits to what somebody wrote, the
// camelCase spelling counted as none; the first of several.
func Nearest(wrote string, names []string) string {
	if len(wrote) > 200 {
		wrote = wrote[:200]
	}
	best, least := "", -1
	for _, name := range names {
		if d := distance(fold(wrote), fold(name)); least < 0 || d < least {
			best, least = name, d
		}
	}
	return best
}

func fold(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "") }

// distance is Levenshtein's, over bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
