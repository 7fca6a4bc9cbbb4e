package guard

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// digest names a call, or what a whole turn called.
type digest = [sha256.Size]byte

// madeCall is a call as guards compare it: equal for one tool with equal
// arguments, whatever the order of their keys.
type madeCall struct {
	tool   string
	plugin string
	path   string // of its action
	sum    digest
	about  digest // sum without what the model tells by it, where the tool is for telling
	cut    bool   // it was interrupted, or never made for no fault of the model's, which may make it again
	live   bool   // its tool said that the answer changes by itself: it counts for no guard
}

// recordedCall is a call that is about to be recorded, by the model's own words: by those
// an earlier daemon's are known.
func recordedCall(r sdk.Recording) madeCall {
	a, err := sdk.ActionOf(sdk.Entry{Attributes: r.Attributes})
	if err != nil {
		a.Arguments = r.Attributes
	}
	if r.Said != nil {
		a.Arguments = r.Said
	}
	a.Tool, a.Path = cmp.Or(a.Tool, r.Tool), r.Path
	return callOf(a)
}

// earlierCall is a call that an earlier daemon recorded. Its arguments are taken
// as the model wrote them: those of the entry may have been changed.
func earlierCall(a sdk.Action, answer func() sdk.Completion) madeCall {
	if a.Changed == "" {
		return callOf(a)
	}
	for _, wrote := range answer().Calls {
		if wrote.ID == a.CallID && json.Valid([]byte(wrote.Arguments)) {
			a.Arguments = json.RawMessage(wrote.Arguments)
		}
	}
	return callOf(a)
}

// callOf compares a tool by its plugin and bare name, whichever of its two names
// the model wrote.
func callOf(a sdk.Action) madeCall {
	name := a.Tool
	if a.Plugin != "" {
		name = strings.TrimPrefix(name, a.Plugin+"__")
	}
	c := madeCall{tool: name, plugin: a.Plugin, path: a.Path, live: a.Live}
	c.sum = sha256.Sum256([]byte(a.Plugin + "\x00" + name + "\x00" + canonical(a.Arguments)))
	if c.about = c.sum; a.Plugin == sdk.OwnPlugin && slices.Contains(telling, name) {
		c.about = sha256.Sum256([]byte(a.Plugin + "\x00" + name + "\x00" + canonical(a.Arguments, "body")))
	}
	return c
}

// telling are the own tools whose body is what the model tells: other words each time hide no pattern of turns.
var telling = []string{string(sdk.VerbUpdate), "think"}

// canonical writes arguments in one form. Text that holds JSON is read as what
// it holds, for arguments that could not be used are kept as text; members that
// are null are left out, for an entry's attributes cannot hold them, and those that are named.
func canonical(arguments json.RawMessage, without ...string) string {
	v, err := sdk.AnyJSON(arguments)
	if err != nil {
		return string(arguments)
	}
	if text, is := v.(string); is {
		if inner, err := sdk.AnyJSON([]byte(text)); err == nil {
			v = inner
		}
	}
	v = sdk.WithoutNulls(v)
	if object, is := v.(map[string]any); is {
		for _, name := range without {
			delete(object, name)
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(text)
}

// repeated stops a model that makes the same call again and again. The call that
// reaches the limit is not made: the result of the one before it answers it, and a note
// says so. The one behind that stops the loop.
type repeated struct {
	limit     int
	past, now row    // now is past and the calls of the turn that is recorded
	tool      string // that was called once too often in the last turn
	times     int
}

// row is how often the last call came in a row.
type row struct {
	last madeCall
	n    int
	made string // the path of the last one that was made
}

func (r *row) add(c madeCall, limit int) int {
	if r.n == 0 || c.sum != r.last.sum {
		*r = row{last: c}
	}
	if r.n++; r.n < limit {
		r.made = c.path
	}
	return r.n
}

func (g *repeated) screen(c madeCall) screened {
	if c.live {
		g.now = row{}
		return screened{}
	}
	switch n := g.now.add(c, g.limit); {
	case n < g.limit:
		return screened{}
	case n == g.limit && g.now.made != "":
		return screened{repeats: g.now.made}
	default:
		return screened{refusal: fmt.Sprintf("this call was not made: it is the same as the one before it, %d times in a row", n)}
	}
}

func (g *repeated) take(t *judged) {
	g.tool, g.times = "", 0
	g.now = g.past
	for _, c := range t.calls {
		if c.live {
			g.past, g.now = row{}, row{}
			continue
		}
		n := g.now.add(c, g.limit)
		if c.cut { // the model has to look again at what it knew before
			g.past = row{}
			continue
		}
		if g.past.add(c, g.limit); n > g.limit || n == g.limit && g.now.made == "" {
			g.tool, g.times = c.tool, n
		}
	}
	g.now = g.past
}

func (g *repeated) stop() (string, string) {
	if g.tool == "" {
		return "", ""
	}
	return repeatedCalls, fmt.Sprintf("the model made the same call of %s %d times in a row, so it was stopped (guard repeated_calls)", g.tool, g.times)
}

// window stops a model that comes back to the same call too often, with others
// in between.
type window struct {
	limit, size int
	past, now   []digest // the last calls, at most size
	tool        string
}

func (g *window) add(calls []digest, c madeCall) ([]digest, int) {
	calls = append(calls, c.sum)
	calls = calls[max(0, len(calls)-g.size):]
	n := 0
	for _, sum := range calls {
		if sum == c.sum {
			n++
		}
	}
	return calls, n
}

func (g *window) screen(c madeCall) screened {
	if c.live {
		return screened{}
	}
	n := 0
	if g.now, n = g.add(g.now, c); n >= g.limit {
		return screened{refusal: fmt.Sprintf("this call was not made: it is the same as others before it, %d of the last %d", n, len(g.now))}
	}
	return screened{}
}

func (g *window) take(t *judged) {
	g.tool = ""
	g.now = slices.Clone(g.past)
	for _, c := range t.calls {
		if c.live {
			continue
		}
		n := 0
		g.now, n = g.add(g.now, c)
		if c.cut {
			g.past = nil
			continue
		}
		if g.past, _ = g.add(g.past, c); n >= g.limit {
			g.tool = c.tool
		}
	}
	g.now = slices.Clone(g.past)
}

func (g *window) stop() (string, string) {
	if g.tool == "" {
		return "", ""
	}
	return windowCalls, fmt.Sprintf("the model made the same call of %s %d times within %d calls, so it was stopped (guard window)", g.tool, g.limit, g.size)
}
