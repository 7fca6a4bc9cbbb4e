package sdktest_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/hook"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/sdktest"
	"github.com/bothyd/bothy/sdk/tool"
)

// TestBlock: a plugin whose calls need its configuration and the daemon's services is
// tested as its block configures it.
func TestBlock(t *testing.T) {
	var config struct {
		Patience time.Duration `hcl:"patience" default:"2s"`
		Greeting string        `hcl:"greeting"`
	}
	word := ""
	options := plugin.Options{
		Name: "greeter", Config: &config,
		Configure: func(ctx context.Context, s sdk.Settings) (err error) {
			word, err = host.From(ctx).Secret(ctx, "word")
			return err
		},
		Tool: tool.Set{tool.Plain("greet", "Greets.", func(ctx context.Context, in struct{ Name string }) (string, error) {
			ctx, cancel := context.WithTimeout(ctx, config.Patience) // nothing, where the default is not filled in
			defer cancel()
			answer, err := host.Ask(ctx, sdk.Request{Messages: []sdk.Message{{Role: sdk.RoleUser, Text: in.Name}}})
			return config.Greeting + word + answer, err
		}).Annotated(sdk.Annotations{ReadOnly: true})},
		Hook: hook.Set{hook.BeforeCall(func(ctx context.Context, c hook.Call) (hook.Call, error) {
			_, err := host.From(ctx).Entry(ctx, "known://a")
			if sdk.OutcomeOf(err) != sdk.Permission || !strings.Contains(err.Error(), `grants = ["entries"]`) {
				t.Errorf("entries are not granted: %v", err)
			}
			return c, nil
		})},
	}
	p := sdktest.Configure(t, options, sdktest.Block{
		Settings: `{"greeting": "Good day"}`, Grants: []string{sdk.GrantSecrets, sdk.GrantModels},
		Daemon: &sdktest.Daemon{
			Secrets: map[string]string{"word": ", "},
			Answer:  func(_ context.Context, r sdk.Request) (string, error) { return r.Messages[0].Text, nil },
		},
	})
	p.Tool(sdktest.Call{Invocation: sdk.Invocation{Tool: "greet", Arguments: json.RawMessage(`{"Name":"Ada"}`)}})
	p.Hook(sdktest.Heard{Name: "entry.recording", Filter: true, Value: sdk.Recording{Tool: "greet", State: sdk.StateStreaming}})
	if config.Patience != 2*time.Second || word != ", " {
		t.Errorf("%+v, %q", config, word)
	}
}
