package builtin

import (
	"context"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Stored is what the verbs read.
type Stored interface {
	Entries(ctx context.Context, q sdk.EntryQuery) ([]sdk.Entry, error)
	// Paths are those of all that a run sees, with what it shares and has no view of.
	Paths(ctx context.Context, run int64) ([]string, error)
	// Bodies gives the bodies of sorted paths to use, one after the other.
	Bodies(ctx context.Context, run int64, paths []string, use func(path, body string) error) error
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
	stored   Stored
	patterns func() Parse
	redact   func(string) string
	files    Files                    // nil: no file is an entry
	most     func() int               // tokens of an entry of known://; nil is no bound
	worded   func() map[string]string // the schemes of whose entries a plugin says what models read; nil: of none
}

// NewVerbs makes the one implementation of the verbs. patterns is asked for a Parse for each plan; redact takes
// secrets out of a text.
func NewVerbs(stored Stored, patterns func() Parse, redact func(string) string) *Verbs {
	return &Verbs{stored: stored, patterns: patterns, redact: redact}
}

// With makes files of projects entries that the verbs find and get.
func (v *Verbs) With(files Files) *Verbs {
	v.files = files
	return v
}

// Worded tells of which schemes a plugin says what models read of their entries: what get finds of those is in its result
// too. It is asked each time, and names who says it.
func (v *Verbs) Worded(schemes func() map[string]string) *Verbs {
	v.worded = schemes
	return v
}

// Plan says what some calls come to, each upon what those before it are going to write. There
// is one plan for each call; one that fails stands for nothing, and the next goes on.
func (v *Verbs) Plan(ctx context.Context, use sdk.EntryUse, calls []sdk.EntryCall) []sdk.EntryPlan {
	p := v.plan(ctx, use)
	all := make([]sdk.EntryPlan, len(calls))
	for i, c := range calls {
		s, err := p.do(c)
		if err != nil {
			all[i].Err = err
			continue
		}
		all[i] = sdk.EntryPlan{Writes: s.writes, Done: p.told(s), Foreign: s.foreign, InSight: s.inSight}
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
	size := 0
	for i, path := range s.paths {
		e := p.now[path].Entry
		if !p.now[path].there { // it went
			e = was[i]
		}
		if !s.bodies {
			e.Body = ""
		}
		if size += len(e.Attributes); i > 0 && size > mostGotBytes {
			s.done.More += len(s.paths) - i
			break
		}
		s.done.Entries = append(s.done.Entries, e)
	}
	return s.done
}

// step is what one call comes to.
type step struct {
	writes  []sdk.Write
	done    sdk.EntryDone
	paths   []string // of what it found or changed
	bodies  bool     // which is told with its bodies
	foreign bool     // of get: some of it came from outside
	inSight bool     // of get: models are shown all of it with its entries
}

// change adds writes of one of many entries, of which the first are told.
func (s *step) change(path string, writes ...sdk.Write) {
	s.writes = append(s.writes, writes...)
	if len(s.paths) < mostTold {
		s.paths = append(s.paths, path)
	} else {
		s.done.More++
	}
}

// changed is how many entries a step changes that found them by a pattern.
func (s *step) changed() int { return len(s.paths) + s.done.More }

// plan is the entries of a run while calls are planned.
type plan struct {
	*Verbs
	parse  Parse
	ctx    context.Context //nolint:containedctx // of Plan, which makes it and ends with it
	use    sdk.EntryUse
	now    map[string]*sight
	paths  []string // of all that is stored, once they were read
	opened int64    // bytes of files that were read
	wide   int      // writes of calls that found entries by patterns
}

// plan begins one, with nothing planned yet.
func (v *Verbs) plan(ctx context.Context, use sdk.EntryUse) *plan {
	return &plan{Verbs: v, parse: v.patterns(), ctx: ctx, use: use, now: map[string]*sight{}}
}

// widen refuses to change more by patterns than one commit holds.
func (p *plan) widen(c sdk.EntryCall, s *step) error {
	if p.wide+len(s.writes) > mostChanged {
		return sdk.Errorf(sdk.Overflow, "%s fits %d entries, and patterns change %d at once together: narrow it", c.Path, s.changed(), mostChanged)
	}
	p.wide += len(s.writes)
	return nil
}

// sight is an entry as the calls before leave it.
type sight struct {
	sdk.Entry
	there   bool
	bodied  bool           // its body was read, or is planned
	added   string         // behind a body that was not read
	planned bool           // a call before writes it
	file    *sdk.FileFacts // of a file whose body is as the disk has it
}

// expect has a write be refused where the entry is not as it was seen, and reports whether it was seen in the
// store, and not in a plan.
func (x *sight) expect(w *sdk.Write) bool {
	if x.planned {
		return false
	}
	w.ExpectHash, w.ExpectVersion = x.Hash, x.Version
	return true
}

// takes is what each verb may be told.
var takes = map[sdk.Verb][]string{
	sdk.VerbSet:    {"path", "body", "append", "state", "outcome", "visibility", "attributes", "summary", "pattern", "filter"},
	sdk.VerbGet:    {"path", "line", "limit", "preview", "visibility", "filter"},
	sdk.VerbRemove: {"path", "preview", "filter"},
	sdk.VerbCopy:   {"path", "to", "visibility"},
	sdk.VerbMove:   {"path", "to", "visibility"},
	sdk.VerbUpdate: {"body", "status", "attributes"},
}

// do plans one call.
func (p *plan) do(c sdk.EntryCall) (step, error) {
	if err := check(c); err != nil {
		return step{}, err
	}
	s, err := p.step(c)
	if err == nil {
		err = p.fits(s.writes)
	}
	return s, err
}

// step is what a call comes to, whatever room there is for it.
func (p *plan) step(c sdk.EntryCall) (step, error) {
	c.Path, c.To = canonical(c.Path), canonical(c.To)
	switch {
	case c.Verb == sdk.VerbGet:
		return p.get(c)
	case c.Verb == sdk.VerbRemove:
		return p.remove(c)
	case onlyLooks(c):
		return p.set(sdk.EntryCall{Verb: sdk.VerbSet, Path: c.Path, Visibility: c.Visibility})
	case c.Verb == sdk.VerbCopy, c.Verb == sdk.VerbMove:
		return p.copy(c)
	case c.Verb == sdk.VerbUpdate:
		return p.update(c)
	default:
		return p.set(c)
	}
}

// onlyLooks reports whether a cp or mv names no destination and a visibility, which what it names then has.
func onlyLooks(c sdk.EntryCall) bool {
	return (c.Verb == sdk.VerbCopy || c.Verb == sdk.VerbMove) && c.To == "" && c.Visibility != ""
}

// reads says why the caller may not look at an entry; nil when it may.
func (p *plan) reads(path string) error {
	name := sdk.SchemeOf(path)
	scheme, known := p.stored.Scheme(name)
	switch {
	case p.use.Within != nil && !p.use.Within(path): // what names it could be a pattern as well
		return sdk.Errorf(sdk.Permission, "%s is out of reach of who asks for it", path)
	case name == fileScheme && p.hasFiles():
		return nil
	case name == fileScheme:
		return sdk.Errorf(sdk.Validation, "%s has no scheme, so it is a file, and files have tools of their own, as read_file, write_file and edit_file; an entry is known://NAME, say", path)
	case !known:
		return sdk.Errorf(sdk.Validation, "nothing is registered under %.80s://, so there is no %s; known:// keeps a fact", name, path)
	case len(path) == len(name)+len("://"):
		return sdk.Errorf(sdk.Validation, "the path %q names nothing: something must follow the scheme", path)
	case scheme.Category == sdk.CategoryAudit:
		return sdk.Errorf(sdk.Permission, "%s is of the audit, which no verb reaches", path)
	case p.keptFrom(scheme):
		return sdk.Errorf(sdk.Permission, "%s is kept for a plugin and for people, and no verb of a model reaches it; the plugin's tools do", path)
	}
	return nil
}

// keptFrom reports whether the caller is a model from which entries of a scheme are kept.
func (p *plan) keptFrom(s sdk.Scheme) bool { return p.use.Writer == sdk.WriterModel && s.Unseen() }

// changes says why the caller may not change an entry; nil when it may.
func (p *plan) changes(path string) error {
	if err := p.reads(path); err != nil {
		return err
	}
	name := sdk.SchemeOf(path)
	scheme, _ := p.stored.Scheme(name)
	switch {
	case name == fileScheme:
		return sdk.Errorf(sdk.Validation, "%s is a file, and files are changed with tools of their own, as write_file and edit_file; an entry is known://NAME, say", path)
	case strings.HasPrefix(path, sdk.TurnPrefix):
		return sdk.Errorf(sdk.Permission, "%s tells what happened in a turn, so it stays as it is", path)
	case !scheme.Admits(p.use.Writer):
		return sdk.Errorf(sdk.Permission, "%s may not be written by %q: %s entries are written by %v only", path, p.use.Writer, name, scheme.WritableBy)
	case scheme.Scope != "run" && scheme.Scope != "owner" && p.use.Run.Private && p.use.Writer != sdk.WriterPlugin:
		return sdk.Errorf(sdk.Permission, "%s is shared with runs of others, and a run of a channel changes nothing that is", path)
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

// owned reports whether an entry is that of the run's owner, from whom it goes when it is removed.
func owned(e sdk.Entry) bool { return strings.HasPrefix(e.Scope, "owner:") }

// shared reports whether an entry is not the run's own.
func shared(e sdk.Entry) bool { return e.Scope != "" && !strings.HasPrefix(e.Scope, "run:") }
