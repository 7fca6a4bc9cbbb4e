package model

import (
	"context"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/sdk"
)

// hearing is a host that keeps what a model is asked.
type hearing struct {
	listed
	heard *sdk.Request
}

func (h hearing) Complete(_ context.Context, _ string, req sdk.Request, _ func(sdk.Delta) error) error {
	*h.heard = req
	return nil
}

// TestSettingsOfABlock: what a model block says is asked for, unless the request says
// something else.
func TestSettingsOfABlock(t *testing.T) {
	const user = "model \"deep\" {\n  provider   = \"ollama\"\n  name       = \"qwen3:8b\"\n  max_tokens = 7\n  reasoning  = \"high\"\n}\n"
	m := chooser(t, user, installed())
	heard := sdk.Request{}
	m.host, m.secrets = hearing{installed(), &heard}, &audit.Redactor{}
	for _, c := range []struct {
		alias     string
		req       sdk.Request
		tokens    int
		reasoning sdk.Reasoning
	}{
		{"deep", sdk.Request{}, 7, sdk.ReasoningHigh},
		{"deep", sdk.Request{MaxTokens: 9, Reasoning: sdk.ReasoningOff}, 9, sdk.ReasoningOff},
		{"ollama/qwen3:8b", sdk.Request{}, 0, ""},
	} {
		if err := m.Complete(t.Context(), c.alias, c.req, nil, nil); err != nil || heard.MaxTokens != c.tokens || heard.Reasoning != c.reasoning {
			t.Errorf("%s: asked %+v, %v", c.alias, heard, err)
		}
	}
}
