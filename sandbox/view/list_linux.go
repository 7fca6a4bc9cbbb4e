package main

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sandbox/frame"
)

// longestPath is the longest path that a change may have: no program could name a
// longer one.
const longestPath = unix.PathMax - 1

// list walks what a command changed, beside what the project has there now.
func (v *view) list(most int) ([]frame.ViewChange, error) {
	upper, err := v.upper()
	if err != nil {
		return nil, err
	}
	defer upper.close()
	l := &lister{view: v, most: most, count: new(atomic.Int64), helpers: make(chan struct{}, runtime.GOMAXPROCS(0)-1)}
	is, err := upper.node(".")
	if err != nil {
		return nil, err
	}
	was, err := v.project.node(".")
	if err != nil {
		return nil, err
	}
	if is.Mode != was.Mode {
		l.changes = append(l.changes, frame.ViewChange{Path: ".", Was: was, Is: is})
		l.count.Add(1)
	}
	err = l.folder(upper, v.project, "", false)
	return l.changes, err
}

// lister lists a view, or part of it.
type lister struct {
	*view
	most    int
	changes []frame.ViewChange
	// count is how many changes there are so far, of all parts.
	count *atomic.Int64
	// helpers has room for each processor that may list another part.
	helpers chan struct{}
}

// add takes one more change, unless there are too many.
func (l *lister) add(c frame.ViewChange) error {
	if l.count.Add(1) > int64(l.most) {
		return l.tooMany()
	}
	l.changes = append(l.changes, c)
	return nil
}

func (l *lister) tooMany() error {
	return &fault{code: frame.ViewLarge, text: fmt.Sprintf("the command changed more than %d paths", l.most)}
}

// folder lists one folder of the view, beside that of the project, if it has one.
// Whole says that the view's hides the project's.
func (l *lister) folder(upper, lower folder, prefix string, whole bool) error {
	names, err := upper.entries(l.most + 1)
	if err != nil {
		return fmt.Errorf("list %s: %w", prefix, err)
	}
	if len(names) > l.most {
		return l.tooMany()
	}
	slices.Sort(names)
	if len(names) < worthHalving {
		return l.names(names, upper, lower, prefix, whole)
	}
	select {
	case l.helpers <- struct{}{}:
	default: // every processor is at work
		return l.names(names, upper, lower, prefix, whole)
	}
	half := len(names) / 2
	rest := &lister{view: l.view, most: l.most, count: l.count, helpers: l.helpers}
	var others sync.WaitGroup
	var restErr error
	others.Go(func() {
		defer func() { <-l.helpers }()
		restErr = rest.names(names[half:], upper, lower, prefix, whole)
	})
	err = l.names(names[:half], upper, lower, prefix, whole)
	others.Wait()
	l.changes = append(l.changes, rest.changes...)
	return cmp.Or(err, restErr)
}

// worthHalving is how much work of one kind more than one processor shares: names of a
// folder, or steps.
const worthHalving = 8

// names lists some of what a folder of the view has, in their order.
func (l *lister) names(names []string, upper, lower folder, prefix string, whole bool) error {
	for _, name := range names {
		if err := l.entry(upper, lower, prefix, name, whole); err != nil {
			return err
		}
	}
	return nil
}

func (l *lister) entry(upper, lower folder, prefix, name string, whole bool) (err error) {
	c := frame.ViewChange{Path: prefix + name}
	if len(c.Path) > longestPath {
		return &fault{code: frame.ViewLarge, text: fmt.Sprintf("the command made a path that is longer than %d bytes: %.60q...", longestPath, c.Path)}
	}
	if c.Is, err = upper.node(name); err != nil {
		return fmt.Errorf("%s: %w", c.Path, err)
	}
	if lower != none {
		if c.Was, err = lower.node(name); err != nil {
			return fmt.Errorf("%s in the project: %w", c.Path, err)
		}
	}
	switch c.Is.Kind {
	case kindDirectory:
		return l.directory(upper, lower, c, name, whole)
	case kindWhiteout:
		if c.Is = (frame.ViewNode{}); c.Was.Kind == "" {
			if waits := l.heldAt(c.Path); waits.Kind == "" || waits.Kind == kindWhiteout {
				return nil
			}
		}
	case kindOther:
		c.Marked = true
	default:
		if _, err := mark(&c, upper, name); err != nil {
			return err
		}
	}
	if c.Was.Kind == kindDirectory && !whole {
		if err := weigh(&c, lower, name); err != nil {
			return err
		}
	}
	return l.add(c)
}

// directory lists a folder of the view: a new one, one that hides the project's,
// one of another mode, or one that is only on the way.
func (l *lister) directory(upper, lower folder, c frame.ViewChange, name string, whole bool) error {
	opaque, err := mark(&c, upper, name)
	if err != nil {
		return err
	}
	mode := c.Was.Mode
	if c.Was.Kind == kindDirectory && !whole && !opaque {
		switch waits := l.heldAt(c.Path); waits.Kind {
		case "":
		case kindDirectory: // the command saw that mode
			mode = waits.Mode
		default: // it hides the project's folder where what waits does
			opaque = true
		}
	}
	c.Whole = whole || opaque || c.Was.Kind != kindDirectory
	if opaque && !whole && c.Was.Kind == kindDirectory {
		if err := weigh(&c, lower, name); err != nil {
			return err
		}
	}
	if c.Whole || c.Is.Mode != mode {
		if err := l.add(c); err != nil {
			return err
		}
	}
	inner, below := none, none
	if inner, err = upper.open(name, unix.O_PATH); err != nil {
		return fmt.Errorf("%s: %w", c.Path, err)
	}
	defer inner.close()
	if c.Was.Kind == kindDirectory {
		if below, err = lower.open(name, unix.O_PATH); err != nil {
			return fmt.Errorf("%s in the project: %w", c.Path, err)
		}
		defer below.close()
	}
	return l.folder(inner, below, c.Path+"/", c.Whole)
}

// mark looks for what a change brings along that is not applied, and whether a
// folder hides what lies below it.
func mark(c *frame.ViewChange, upper folder, name string) (opaque bool, err error) {
	if c.Is.Kind != kindFile && c.Is.Kind != kindDirectory {
		return false, nil // the kernel lets nobody attach anything to it
	}
	attributes, err := upper.attributes(name)
	c.Marked = c.Is.Kind == kindFile && c.Is.Mode&(unix.S_ISUID|unix.S_ISGID) != 0
	for _, a := range attributes {
		c.Marked = c.Marked || stripped(a)
		c.Copied = c.Copied || a == xattrOrigin
		opaque = opaque || a == xattrOpaque
	}
	if opaque && err == nil {
		opaque, err = upper.opaque(name)
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", c.Path, err)
	}
	return opaque, nil
}

// heldAt is what waits for an answer at a path.
func (l *lister) heldAt(path string) frame.ViewNode {
	if l.held == none {
		return frame.ViewNode{}
	}
	at, name, err := l.held.parent(path)
	if err != nil {
		return frame.ViewNode{}
	}
	defer at.close()
	n, err := at.node(name)
	if err != nil {
		return frame.ViewNode{}
	}
	return n
}

// weigh adds up a folder of the project that goes.
func weigh(c *frame.ViewChange, lower folder, name string) error {
	c.Newest = c.Was.Changed
	f, err := lower.open(name, unix.O_PATH)
	if err != nil {
		return fmt.Errorf("%s in the project: %w", c.Path, err)
	}
	defer f.close()
	if err := weighIn(c, f); err != nil {
		return fmt.Errorf("look at what is in %s: %w", c.Path, err)
	}
	return nil
}

func weighIn(c *frame.ViewChange, f folder) error {
	names, err := f.entries(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		var st unix.Stat_t
		if err := unix.Fstatat(int(f), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
		c.Files++
		if changed := time.Unix(st.Ctim.Unix()).UTC(); changed.After(c.Newest) {
			c.Newest = changed
		}
		if st.Mode&unix.S_IFMT == unix.S_IFREG {
			c.Bytes += st.Size
		}
		if st.Mode&unix.S_IFMT != unix.S_IFDIR {
			continue
		}
		inner, err := f.open(name, unix.O_PATH)
		if err != nil {
			return err
		}
		err = weighIn(c, inner)
		inner.close()
		if err != nil {
			return err
		}
	}
	return nil
}
