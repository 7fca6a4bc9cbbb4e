package builtin

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// Stored is what the verbs read.
type Stored interface {
	Entries(ctx context.Context, q sdk.EntryQuery) ([]sdk.Entry, error)
	// Paths are those of all that a run sees, with what it shares and has no view of.
	Paths(ctx context.Context, run int64) ([]string, error)
	Scheme(name string) (sdk.Scheme, bool)
}

// Pattern is what entries are found by.
type Pattern interface {
	Match(path string) (bool, error)  // whether it fits as a whole
	Search(body string) (bool, error) // whether a part of it does
}

// Parse reads a pattern; plain says that it finds its own text and nothing else. One that is
// none is an error with outcome validation.
type Parse func(text string) (p Pattern, plain bool, err error)

// Verbs plans the uses of the six verbs (decision 88). It reads and never writes.
type Verbs struct {
	stored Stored
	parse  Parse
	redact func(string) string
}

// NewVerbs makes the one implementation of the verbs. redact takes secrets out of a text.
func NewVerbs(stored Stored, parse Parse, redact func(string) string) *Verbs {
	return &Verbs{stored, parse, redact}
}

// Plan says what some calls come to, each upon what those before it are going to write. There
// is one plan for each call; one that fails stands for nothing, and the next goes on.
func (v *Verbs) Plan(ctx context.Context, use sdk.EntryUse, calls []sdk.EntryCall) []sdk.EntryPlan {
	p := &plan{Verbs: v, ctx: ctx, use: use, now: map[string]*sight{}}
	all := make([]sdk.EntryPlan, len(calls))
	for i, c := range calls {
		s, err := p.do(c)
		if err != nil {
			all[i].Err = err
			continue
		}
		all[i] = sdk.EntryPlan{Writes: s.writes, Done: p.told(s)}
	}
	return all
}

// told is what is told of a step, which the calls behind it see.
func (p *plan) told(s step) sdk.EntryDone {
	was := make([]sdk.Entry, len(s.paths))
	for i, path := range s.paths {
		was[i] = p.now[path].Entry
	}
	for _, w := range s.writes {
		p.follow(w)
	}
	for i, path := range s.paths {
		e := p.now[path].Entry
		if !p.now[path].there { // it went
			e = was[i]
		}
		if !s.bodies {
			e.Body = ""
		}
		s.done.Entries = append(s.done.Entries, e)
	}
	return s.done
}

// step is what one call comes to.
type step struct {
	writes []sdk.Write
	done   sdk.EntryDone
	paths  []string // of what it found or changed
	bodies bool     // which is told with its bodies
}

// plan is the entries of a run while calls are planned.
type plan struct {
	*Verbs
	ctx   context.Context //nolint:containedctx // of Plan, which makes it and ends with it
	use   sdk.EntryUse
	now   map[string]*sight
	paths []string // of all that is stored, once they were read
}

// sight is an entry as the calls before leave it.
type sight struct {
	sdk.Entry
	there   bool
	bodied  bool // its body was read, or is planned
	planned bool // a call before writes it
}

// takes is what each verb may be told.
var takes = map[sdk.Verb][]string{
	sdk.VerbSet:    {"path", "body", "append", "state", "outcome", "visibility", "attributes", "summary", "pattern", "filter"},
	sdk.VerbGet:    {"path", "line", "limit", "preview", "filter"},
	sdk.VerbRemove: {"path", "filter"},
	sdk.VerbCopy:   {"path", "to", "visibility"},
	sdk.VerbMove:   {"path", "to", "visibility"},
	sdk.VerbUpdate: {"body", "status", "attributes"},
}

// do plans one call.
func (p *plan) do(c sdk.EntryCall) (step, error) {
	if err := check(c); err != nil {
		return step{}, err
	}
	c.Path, c.To = canonical(c.Path), canonical(c.To)
	switch c.Verb {
	case sdk.VerbGet:
		return p.get(c)
	case sdk.VerbRemove:
		return p.remove(c)
	case sdk.VerbCopy, sdk.VerbMove:
		return p.copy(c)
	case sdk.VerbUpdate:
		return p.update(c)
	default:
		return p.set(c)
	}
}

// check refuses what no entries have to be read for.
func check(c sdk.EntryCall) error {
	fields, known := takes[c.Verb]
	if !known {
		return sdk.Errorf(sdk.Validation, "there is no verb %.80q; there are %v", c.Verb, sdk.Verbs())
	}
	if c.Attributes != nil {
		if err := checkAttributes(c.Attributes); err != nil {
			return err
		}
	}
	text, err := json.Marshal(c)
	if err != nil {
		return sdk.Errorf(sdk.Validation, "what %s was told cannot be read: %w", c.Verb, err)
	}
	var told map[string]json.RawMessage
	if err := json.Unmarshal(text, &told); err != nil {
		return sdk.Errorf(sdk.Validation, "what %s was told cannot be read: %w", c.Verb, err)
	}
	for _, name := range slices.Sorted(maps.Keys(told)) {
		if name != "verb" && !slices.Contains(fields, name) {
			return sdk.Errorf(sdk.Validation, "%s takes no %s; it takes %s", c.Verb, name, strings.Join(fields, ", "))
		}
	}
	for _, name := range []string{"path", "to"} {
		if !slices.Contains(fields, name) {
			continue
		}
		target := c.Path
		if name == "to" {
			target = c.To
		}
		if err := checkTarget(c.Verb, name, target); err != nil {
			return err
		}
	}
	return checkLevels(c)
}

func checkLevels(c sdk.EntryCall) error {
	switch {
	case !slices.Contains([]sdk.Visibility{"", sdk.Visible, sdk.Summarized, sdk.Archived}, c.Visibility):
		return sdk.Errorf(sdk.Validation, "there is no visibility %.80q; there are visible, summarized and archived", c.Visibility)
	case c.State == sdk.StateProposed:
		return sdk.Errorf(sdk.Permission, "%s: only an action waits for a person, so no entry can be set to proposed", c.Path)
	case !slices.Contains([]sdk.State{"", sdk.StateStreaming, sdk.StateResolved, sdk.StateFailed, sdk.StateCancelled}, c.State):
		return sdk.Errorf(sdk.Validation, "there is no state %.80q; there are resolved, failed and cancelled", c.State)
	case c.Outcome != "" && c.State != sdk.StateFailed && c.State != sdk.StateCancelled:
		return sdk.Errorf(sdk.Validation, "an outcome belongs to the state failed or cancelled")
	case c.Body != nil && !utf8.ValidString(*c.Body):
		return sdk.Errorf(sdk.Validation, "a body must be valid UTF-8")
	case c.Append && c.Body == nil:
		return sdk.Errorf(sdk.Validation, "append needs a body")
	case c.Limit < 0:
		return sdk.Errorf(sdk.Validation, "limit is a number of lines; to read from the end write line = -%d", -c.Limit)
	}
	return nil
}

// checkTarget refuses what is no name, as of a model that thinks in the place of a path.
func checkTarget(verb sdk.Verb, name, target string) error {
	switch {
	case target == "":
		return sdk.Errorf(sdk.Validation, "%s needs %s", verb, name)
	case len(target) > sdk.MaxTarget:
		return sdk.Errorf(sdk.Validation, "%s of %s has %d bytes and may have %d: %.60q...", name, verb, len(target), sdk.MaxTarget, target)
	case !utf8.ValidString(target), strings.ContainsFunc(target, unicode.IsControl):
		return sdk.Errorf(sdk.Validation, "%s of %s has characters that no path has: %.80q", name, verb, target)
	}
	return nil
}

func checkAttributes(attributes json.RawMessage) error {
	if _, err := object(attributes); err != nil {
		return sdk.Errorf(sdk.Validation, "attributes must be a JSON object: %w", err)
	}
	return nil
}

// object reads a JSON object; nothing is an empty one.
func object(text json.RawMessage) (map[string]any, error) {
	if len(text) == 0 {
		return map[string]any{}, nil
	}
	v, err := sdk.AnyJSON(text)
	if err != nil {
		return nil, err
	}
	o, ok := v.(map[string]any)
	if !ok {
		return nil, sdk.Errorf(sdk.Validation, "it is none: %.40s", text)
	}
	return o, nil
}

// canonical is a path as it is stored: a scheme has no capitals.
func canonical(path string) string {
	i := strings.Index(path, "://")
	if i <= 0 || strings.ContainsFunc(path[:i], func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("+-._", r)
	}) {
		return path // it may be a pattern
	}
	return strings.ToLower(path[:i]) + path[i:]
}

// find is what the run has at a path, as it is stored or planned.
func (p *plan) find(path string) (*sight, error) {
	x := p.now[path]
	if x != nil && (x.bodied || !x.there) {
		return x, nil
	}
	scheme, _ := p.stored.Scheme(sdk.SchemeOf(path))
	found, err := p.stored.Entries(p.ctx, sdk.EntryQuery{Run: p.use.Run.ID, Path: path, Shared: scheme.Scope != "run"})
	if sdk.OutcomeOf(err) == sdk.Validation { // a pattern need be no path
		if pattern, _ := p.pattern(path); pattern != nil {
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	switch {
	case x != nil && len(found) > 0: // what was listed without its body
		x.Body, x.bodied = found[0].Body, true
	case x == nil && len(found) > 0:
		x = &sight{Entry: found[0], there: true, bodied: true}
	case x == nil:
		x = &sight{Entry: sdk.Entry{Path: path}}
	}
	p.now[path] = x
	return x, nil
}

// many is from how many on entries are read together.
const many = 32

// matches are the entries that a pattern finds, by path: none of the audit, no files, none out of the
// caller's reach.
func (p *plan) matches(pattern Pattern, filter string, bodies bool) ([]*sight, error) {
	bodies = bodies || filter != ""
	paths, err := p.fitting(pattern)
	if err != nil {
		return nil, err
	}
	if err := p.load(paths, bodies); err != nil {
		return nil, err
	}
	var all []*sight
	for _, path := range paths {
		x := p.now[path]
		if x == nil || bodies && !x.bodied {
			if x, err = p.find(path); err != nil {
				return nil, err
			}
		}
		if x.there {
			all = append(all, x)
		}
	}
	return p.filtered(all, filter)
}

// filtered are those of a list whose body has what a pattern says.
func (p *plan) filtered(all []*sight, filter string) ([]*sight, error) {
	if filter == "" {
		return all, nil
	}
	pattern, _, err := p.parse(filter)
	if err != nil {
		return nil, err
	}
	var some []*sight
	for _, x := range all {
		if err := p.ctx.Err(); err != nil {
			return nil, err
		}
		has, err := pattern.Search(x.Body)
		if err != nil {
			return nil, err
		}
		if has {
			some = append(some, x)
		}
	}
	return some, nil
}

// pattern reads a path as a pattern; nil where it is its own text and nothing more.
func (p *plan) pattern(path string) (Pattern, error) {
	pattern, plain, err := p.parse(path)
	if plain || err != nil {
		return nil, err
	}
	return pattern, nil
}

// fitting are the paths that fit, of what is stored and planned, in order.
func (p *plan) fitting(pattern Pattern) ([]string, error) {
	if p.paths == nil {
		var err error
		if p.paths, err = p.stored.Paths(p.ctx, p.use.Run.ID); err != nil {
			return nil, err
		}
	}
	var found []string
	for _, path := range slices.Concat(p.paths, slices.Collect(maps.Keys(p.now))) {
		if !p.findable(path) {
			continue
		}
		fits, err := pattern.Match(path)
		if err != nil {
			return nil, err
		}
		if fits {
			found = append(found, path)
		}
		if err := p.ctx.Err(); err != nil {
			return nil, err
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

func (p *plan) findable(path string) bool {
	name := sdk.SchemeOf(path)
	scheme, known := p.stored.Scheme(name)
	return known && name != "file" && scheme.Category != sdk.CategoryAudit && (p.use.Within == nil || p.use.Within(path))
}

// load reads what is missing of some paths, together where it is much.
func (p *plan) load(paths []string, bodies bool) error {
	missing := 0
	for _, path := range paths {
		if x := p.now[path]; x == nil || bodies && x.there && !x.bodied {
			missing++
		}
	}
	if missing < many {
		return nil // one by one
	}
	all, err := p.stored.Entries(p.ctx, sdk.EntryQuery{Run: p.use.Run.ID, Shared: true, Brief: !bodies})
	if err != nil {
		return err
	}
	for _, e := range all {
		if _, wanted := slices.BinarySearch(paths, e.Path); !wanted {
			continue
		}
		switch x := p.now[e.Path]; {
		case x == nil:
			p.now[e.Path] = &sight{Entry: e, there: true, bodied: bodies}
		case bodies && x.there && !x.bodied:
			x.Body, x.bodied = e.Body, true
		}
	}
	return nil
}

// reads says why the caller may not look at an entry; nil when it may.
func (p *plan) reads(path string) error {
	name := sdk.SchemeOf(path)
	scheme, known := p.stored.Scheme(name)
	switch {
	case name == "file":
		return sdk.Errorf(sdk.Validation, "%s has no scheme, so it is a file, and files have tools of their own, as read_file, write_file and edit_file; an entry is known://NAME, say", path)
	case !known:
		return sdk.Errorf(sdk.Validation, "nothing is registered under %.80s://, so there is no %s; known:// keeps a fact", name, path)
	case len(path) == len(name)+len("://"):
		return sdk.Errorf(sdk.Validation, "the path %q names nothing: something must follow the scheme", path)
	case scheme.Category == sdk.CategoryAudit:
		return sdk.Errorf(sdk.Permission, "%s is of the audit, which no verb reaches", path)
	}
	return nil
}

// changes says why the caller may not change an entry; nil when it may.
func (p *plan) changes(path string) error {
	if err := p.reads(path); err != nil {
		return err
	}
	name := sdk.SchemeOf(path)
	scheme, _ := p.stored.Scheme(name)
	switch {
	case strings.HasPrefix(path, sdk.TurnPrefix):
		return sdk.Errorf(sdk.Permission, "%s tells what happened in a turn, so it stays as it is", path)
	case !scheme.Admits(p.use.Writer):
		return sdk.Errorf(sdk.Permission, "%s may not be written by %q: %s entries are written by %v only", path, p.use.Writer, name, scheme.WritableBy)
	case p.redact(path) != path:
		return sdk.Errorf(sdk.Validation, "a path may hold no secret")
	}
	return nil
}

// write is a write of the caller.
func (p *plan) write(path string) sdk.Write {
	return sdk.Write{Path: path, Writer: p.use.Writer, Loop: p.use.Loop, Turn: p.use.Turn}
}

// look is a write that changes how much of an entry the run has in sight.
func (p *plan) look(path string, to sdk.Visibility) sdk.Write {
	w := p.write(path)
	w.Look, w.Visibility = true, to
	return w
}

// shared reports whether an entry is not the run's own.
func shared(e sdk.Entry) bool { return e.Scope != "" && !strings.HasPrefix(e.Scope, "run:") }

// follow has the calls behind see what a write will have done. Its entry was found before.
func (p *plan) follow(w sdk.Write) {
	x := p.now[w.Path]
	switch {
	case w.Look:
		if x.Version == 0 { // a view is made
			x.Version, x.Loop, x.Turn = 1, w.Loop, w.Turn
		}
		x.Visibility = w.Visibility
		return
	case w.Remove && shared(x.Entry):
		x.State, x.Outcome, x.Visibility, x.Version, x.Loop, x.Turn = sdk.StateResolved, "", sdk.Archived, 0, 0, 0
		return
	case w.Remove:
		*x = sight{Entry: sdk.Entry{Path: w.Path}, planned: true}
		return
	case w.Chunk != nil:
		x.Body += w.Chunk.Text
		x.planned = true
		return
	}
	if !x.there || x.Version == 0 {
		x.State, x.Outcome, x.Visibility = sdk.StateResolved, "", sdk.Visible
	}
	if !x.there {
		x.bodied = true // all of it is known, whatever is stored
		if scheme, _ := p.stored.Scheme(sdk.SchemeOf(w.Path)); scheme.Scope != "run" {
			x.Scope = scheme.Scope // what is shared outlasts the run's look at it
		}
	}
	x.planned, x.there = true, true
	if w.State != "" {
		x.State, x.Outcome = w.State, w.Outcome
	}
	x.Visibility, x.Writer = cmp.Or(w.Visibility, x.Visibility), w.Writer
	x.Loop, x.Turn = cmp.Or(w.Loop, x.Loop), cmp.Or(w.Turn, x.Turn)
	x.Version++
	if w.Attributes != nil {
		x.Attributes = patched(x.Attributes, w.Attributes)
	}
	switch {
	case w.Body == nil:
	case w.Append:
		x.Body += *w.Body
	default:
		x.Body, x.bodied = *w.Body, true
	}
}

// patched is attributes with a patch that was checked.
func patched(old, patch json.RawMessage) json.RawMessage {
	have, err := object(old)
	if err != nil {
		return patch
	}
	more, err := object(patch)
	if err != nil {
		return old
	}
	merged, ok := sdk.MergePatch(have, more).(map[string]any)
	if !ok || len(merged) == 0 {
		return nil
	}
	text, err := json.Marshal(merged)
	if err != nil {
		return old
	}
	return text
}
