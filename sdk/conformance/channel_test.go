package conformance

import (
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/channel"
)

// TestKeepsAlone: what a channel keeps for itself, no model writes.
func TestKeepsAlone(t *testing.T) {
	kept := channel.Keeps("mail")
	written := kept
	written.WritableBy = []sdk.Writer{sdk.WriterClient, sdk.WriterModel}
	for name, c := range map[string]struct {
		scheme sdk.Scheme
		fine   bool
	}{
		"as the SDK makes it":  {kept, true},
		"of its tools":         {sdk.Scheme{Name: "note"}, true},
		"a model writes it":    {written, false},
		"shared by its owner":  {sdk.Scheme{Name: "fact", Scope: "owner", WritableBy: written.WritableBy}, true},
		"nobody says for whom": {sdk.Scheme{Name: "mail", WritableBy: kept.WritableBy}, false},
	} {
		if err := keepsAlone(sdk.Manifest{Schemes: []sdk.Scheme{c.scheme}}); (err == nil) != c.fine {
			t.Errorf("%s: %v", name, err)
		}
	}
}
