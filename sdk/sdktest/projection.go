package sdktest

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// Shown is an entry for the suite to have projected.
type Shown struct {
	sdk.Entry
	// Level is sdk.Visible or sdk.Summarized; empty is the entry's own, and visible where it has none.
	Level sdk.Visibility
	// Want is what the text must have in it.
	Want string
	// Fails is the outcome with which there must be no text.
	Fails sdk.Outcome
}

// Projection checks what the plugin shows of entries of its schemes: what a test wants of it, and the same each time.
func (p *Plugin) Projection(entries ...Shown) {
	p.t.Helper()
	for _, e := range entries {
		p.t.Run("projection "+e.Path, func(t *testing.T) { p.shows(t, e) })
	}
}

func (p *Plugin) shows(t *testing.T, e Shown) {
	fn := p.options.Projections[e.Scheme()]
	if fn == nil {
		t.Fatalf("Options.Projections has no %s://", e.Scheme())
	}
	if e.Level == "" {
		e.Level = sdk.Visible
		if e.Visibility == sdk.Summarized {
			e.Level = sdk.Summarized
		}
	}
	text, err := fn(soon(t), e.Entry, e.Level)
	switch {
	case e.Fails != "":
		if outcome(err) != e.Fails {
			t.Errorf("it shows %q, %v; want outcome %s", text, err, e.Fails)
		}
		return
	case err != nil:
		t.Errorf("it shows nothing: %v", err)
	case !strings.Contains(text, e.Want):
		t.Errorf("it shows %q, want %q in it", text, e.Want)
	}
	if again, _ := fn(soon(t), e.Entry, e.Level); again != text {
		t.Errorf("it shows %q, and then %q", text, again)
	}
}
