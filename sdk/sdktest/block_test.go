package sdktest_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/hook"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/sdktest"
	"github.com/bothyd/bothy/sdk/skill"
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
			if _, undeclared := host.From(ctx).Secret(ctx, "other"); sdk.OutcomeOf(undeclared) != sdk.Permission || !strings.Contains(undeclared.Error(), `Secrets: []string{"other"}`) {
				t.Errorf("a secret that is not declared: %v", undeclared)
			}
			if _, undeclared := host.Use(ctx, "grep", nil); sdk.OutcomeOf(undeclared) != sdk.Permission || !strings.Contains(undeclared.Error(), `Tools: []string{"grep"}`) {
				t.Errorf("a tool that is not declared: %v", undeclared)
			}
			for _, name := range []string{"read_file", "files__read_file"} {
				if _, err := host.Use(ctx, name, nil); sdk.OutcomeOf(err) != sdk.NotFound {
					t.Errorf("a tool that is declared: %v", err)
				}
			}
			return err
		},
		Calls: sdk.Calls{Secrets: []string{"word"}, Tools: []string{"read_*"}},
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
		Settings: `{"greeting": "Good day"}`, Grants: []string{sdk.GrantSecrets, sdk.GrantModels, sdk.GrantTools},
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

// TestBlockProject: a call has the project only where the block grants its files.
func TestBlockProject(t *testing.T) {
	dir := t.TempDir()
	var seen, executed []string
	options := plugin.Options{
		Name: "reader",
		Tool: tool.Set{tool.New("read", "Reads.", sdk.Annotations{ReadOnly: true}, func(_ context.Context, _ struct{}, call tool.Call) (sdk.ToolResult, error) {
			seen = append(seen, call.Project)
			return tool.Text("read"), nil
		})},
		Skill: skill.Set{skill.New("read", func(_ context.Context, call skill.Call) (sdk.ToolResult, error) {
			executed = append(executed, call.Project)
			return skill.Text("read"), nil
		})},
	}
	for _, grants := range [][]string{nil, {sdk.GrantProject}} {
		p := sdktest.Configure(t, options, sdktest.Block{Grants: grants})
		p.Tool(sdktest.Call{Invocation: sdk.Invocation{Tool: "read", Project: dir}})
		p.Skill(sdktest.Execution{SkillCall: sdk.SkillCall{Skill: "read", Project: dir}})
		if got := [2]bool{slices.Contains(seen, dir), slices.Contains(executed, dir)}; got != [2]bool{len(grants) > 0, len(grants) > 0} {
			t.Errorf("granted %v, the tool saw %q and the skill %q", grants, seen, executed)
		}
	}
}
