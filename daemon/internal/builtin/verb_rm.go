package builtin

import (
	"fmt"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// remove takes entries out of the run's view. What the run shares stays, archived for it; what is its owner's goes.
func (p *plan) remove(c sdk.EntryCall) (step, error) {
	found, one, err := p.named(c.Path, c.Filter, p.changes)
	if err != nil {
		return step{}, err
	}
	if one && len(found) > 0 && found[0].Version == 0 && !owned(found[0].Entry) {
		return step{}, sdk.Errorf(sdk.NotFound, "%s is not in sight of this run, so there is nothing to remove", c.Path)
	}
	if c.Preview {
		return p.removable(c, found)
	}
	var s step
	for _, x := range found {
		switch {
		case x.Version == 0 && !owned(x.Entry): // archived for the run as it is
		case p.changes(x.Path) != nil:
			s.done.Left++
		default:
			s.change(x.Path, p.removal(x))
		}
	}
	if s.changed() == 0 {
		return step{}, p.noneOf(c.Path, s.done.Left)
	}
	if err := p.widen(c, &s); err != nil && !one {
		return step{}, err
	}
	s.done.Text = fmt.Sprintf("%d entries are removed", s.changed()) + left(s.done.Left)
	if one {
		s.done.Text = c.Path + " is removed"
		if shared(found[0].Entry) && !owned(found[0].Entry) {
			s.done.Text += " from what this run sees; others have it, and get finds it again"
		}
	}
	return s, nil
}

// removable lists what a call would remove, and removes nothing.
func (p *plan) removable(c sdk.EntryCall, found []*sight) (step, error) {
	left := 0
	goes := slices.DeleteFunc(slices.Clone(found), func(x *sight) bool {
		stays := x.Version == 0 && !owned(x.Entry)
		if !stays && p.changes(x.Path) != nil {
			stays = true
			left++
		}
		return stays
	})
	if len(goes) == 0 {
		return step{}, p.noneOf(c.Path, left)
	}
	return preview(goes), nil
}

func (p *plan) removal(x *sight) sdk.Write {
	w := p.write(x.Path)
	w.Remove = true
	return w
}
