package packet

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bothyd/bothy/daemon/internal/view"
	"github.com/bothyd/bothy/sdk"
)

// cache keeps the pieces of one run, in the order of the entries that they are of.
type cache struct {
	extra atomic.Int64         // see Packet.extra
	ratio atomic.Uint64        // see Packet.Ratio; the bits of a float64, 0 is none
	sums  atomic.Pointer[sums] // of the rows that were summed up last

	mu     sync.Mutex
	limit  int // that results were shown by
	pieces []piece
	index  map[string]int
	hung   map[string]hung // by projector

	said    string   // in the instructions of the turn, but for images
	inputs  []string // what its model takes
	images  map[string]string
	prompts []*piece // that have images
}

// mark is what a rendered piece depends on. Version counts an entry's writes in this run, so it stands for attributes and state
// as well.
type mark struct {
	hash       string
	version    int
	visibility sdk.Visibility
	facts      string // of a file, which no version counts
	projector  string // the plugin that says what it shows
}

// piece is an entry as a row, with what its place depends on.
type piece struct {
	path     string
	mark     mark
	shows    bool               // it is a row; what else it says is found all the same
	row      *sdk.Row           // which is as it is: another turn has another one
	pictures *pictures          // of a prompt that has images
	nested   []sdk.Instructions // that an action brought
	data     string             // of an image
	model    string             // of an answer that has a ratio
	ratio    float64            // see sdk.Reply
	failed   bool               // nobody says yet what it shows, its plugin or who registers its scheme: they are asked again
}

// found are the pieces of a turn.
type found struct {
	pieces  []*piece
	prompts []*piece // of them, those with images
	images  map[string]string
	ratios  map[string]float64 // by model, of its last answer that has one
}

// find renders what changed of a run's entries.
func (c *cache) find(ctx context.Context, cfg Config, in *sdk.Assembly) (f found) {
	if limit := view.ResultLimit(in.Context); limit != c.limit || c.index == nil {
		c.limit, c.pieces, c.index = limit, make([]piece, 0, len(in.Entries)), make(map[string]int, len(in.Entries))
	}
	c.arrange(in.Entries)
	var projectors map[string]string
	if cfg.Projectors != nil {
		projectors = cfg.Projectors()
	}
	var anew []int
	back := view.ComesBack(in.Entries)
	for i := range in.Entries {
		e, p := &in.Entries[i], &c.pieces[i]
		now := mark{hash: e.Hash, version: e.Version, visibility: back.Level(e)}
		if e.Visibility != sdk.Archived && e.Scheme() == "file" {
			now.facts = string(e.Attributes)
		}
		if projectors != nil {
			now.projector = projectors[e.Scheme()]
		}
		if p.mark != now || p.failed {
			p.mark = now
			anew = append(anew, i)
		}
	}
	c.render(ctx, cfg, in, anew)
	var with []int // the prompts with images
	f.pieces = make([]*piece, 0, len(in.Entries))
	for i := range c.pieces {
		switch p := &c.pieces[i]; {
		case p.data != "":
			if f.images == nil {
				f.images = map[string]string{}
			}
			f.images[p.path] = p.data
		case p.ratio > 0:
			if f.ratios == nil {
				f.ratios = map[string]float64{}
			}
			f.ratios[p.model] = p.ratio
		case p.shows:
			f.pieces = append(f.pieces, p)
			if p.pictures != nil {
				f.prompts = append(f.prompts, p)
				with = append(with, i)
			}
		}
	}
	for _, i := range with { // of all images, which may stand behind their prompts
		c.pictured(cfg, in, i, f.imagesOf(&c.pieces[i], in))
	}
	return f
}

// arrange gives each entry its piece, at the same index. Entries come at the end, as a rule, and stay where they are.
func (c *cache) arrange(entries []sdk.Entry) {
	same := min(len(entries), len(c.pieces))
	for i := range same {
		if c.pieces[i].path != entries[i].Path {
			same = i
			break
		}
	}
	if same < len(c.pieces) {
		old := slices.Clone(c.pieces[same:])
		c.pieces = c.pieces[:same]
		for i := range old {
			c.index[old[i].path] = i
		}
		for _, e := range entries[same:] {
			if i, was := c.index[e.Path]; was && i < len(old) && old[i].path == e.Path {
				c.pieces = append(c.pieces, old[i])
			} else {
				c.pieces = append(c.pieces, piece{path: e.Path})
			}
		}
		return
	}
	for _, e := range entries[same:] {
		c.pieces = append(c.pieces, piece{path: e.Path})
	}
}

// render makes the pieces of entries anew, by their indexes. Plugins are asked first, all together.
func (c *cache) render(ctx context.Context, cfg Config, in *sdk.Assembly, anew []int) {
	texts := c.project(ctx, cfg, in, anew)
	for _, i := range anew {
		at := in.Entries[i]
		at.Visibility = c.pieces[i].mark.visibility
		e := &at
		scheme, known := cfg.Scheme(e.Scheme())
		p := piece{path: e.Path, mark: c.pieces[i].mark, failed: !known}
		switch {
		case e.Scheme() == sdk.MediumImage:
			p.data = e.Body
		case e.Scheme() == "assistant":
			if at, err := sdk.ReplyOf(e.Attributes); err == nil {
				p.model, p.ratio = at.Model, at.Ratio
			}
		case known && shows(e, &scheme):
			p.shows = true
			p.row = rowOf(in.Run.Key, e, &scheme, c.limit, texts[i], images{})
			p.failed = texts[i] != nil && texts[i].failed
			if scheme.Category == sdk.CategoryPrompt {
				p.pictures = picturesOf(e)
			}
			if a := actionOf(e); a != nil {
				p.nested = a.Instructions
			}
		}
		c.pieces[i] = p
	}
}

// pictured makes the row of a prompt say what images go with it.
func (c *cache) pictured(cfg Config, in *sdk.Assembly, i int, with images) {
	p, e := &c.pieces[i], in.Entries[i]
	if p.pictures.with == with {
		return
	}
	e.Visibility, p.pictures.with = p.mark.visibility, with
	scheme, _ := cfg.Scheme(e.Scheme())
	p.row = rowOf(in.Run.Key, &e, &scheme, c.limit, nil, with)
}

// shows reports whether an entry is a row of packets: not what is archived or waits for a person, the audit, prompts that were
// taken back, and calls that plugins made for others.
func shows(e *sdk.Entry, scheme *sdk.Scheme) bool {
	if e.Visibility == sdk.Archived || e.State == sdk.StateProposed || scheme.Category == sdk.CategoryAudit || !scheme.ModelVisible {
		return false
	}
	if scheme.Category == sdk.CategoryPrompt {
		return e.State != sdk.StateCancelled
	}
	switch a := actionOf(e); {
	case a == nil:
		return true
	case a.Follows, a.Person:
		return e.State.Ended()
	default:
		return a.Parent == ""
	}
}

func rowOf(key string, e *sdk.Entry, scheme *sdk.Scheme, limit int, texts *projected, with images) *sdk.Row {
	r := &sdk.Row{
		Path: e.Path, Scheme: e.Scheme(), Category: cmp.Or(scheme.Category, sdk.CategoryLogging), Visibility: cmp.Or(e.Visibility, sdk.Visible),
		State: e.State, Outcome: e.Outcome, Status: e.Status(), Loop: e.Loop, Turn: e.Turn, Attributes: e.Attributes,
	}
	visible, summary := elements(key, e, scheme, limit, texts)
	with.say(&visible, &summary)
	r.Visible, r.Summary, r.Tokens = shown(visible, summary, r.Category == sdk.CategoryData)
	return r
}

// nested are the instructions of folders that calls worked below, each once, as it was told last.
func (f *found) nested() (all []sdk.Instructions) {
	for _, p := range f.pieces {
		for _, n := range p.nested {
			if i := slices.IndexFunc(all, func(was sdk.Instructions) bool { return was.File == n.File }); i >= 0 {
				all[i] = n
			} else {
				all = append(all, n)
			}
		}
	}
	return all
}
