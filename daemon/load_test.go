package daemon

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// TestLoadRefused: a label that no block has says what there is, and one that is
// switched off is not started.
func TestLoadRefused(t *testing.T) {
	p := newPlugins(&config.Config{
		Plugins:   []config.Plugin{{Label: "bash", Enabled: true}, {Label: "off"}},
		Providers: []config.Plugin{{Label: "ollama", Enabled: true}, {Label: "bash"}},
	}, nil, nil, &problems{}, nil)
	for label, want := range map[string]struct {
		outcome sdk.Outcome
		text    string
	}{
		"bsh": {sdk.NotFound, "there are: bash, off, ollama"},
		"":    {sdk.NotFound, "there are: bash, off, ollama"},
		"off": {sdk.Validation, "enabled = false"},
	} {
		_, err := p.load(t.Context(), label, false)
		if sdk.OutcomeOf(err) != want.outcome || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%q: %v", label, err)
		}
	}
}
