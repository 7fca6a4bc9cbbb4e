package sdktest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/hook"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/provider"
	"github.com/bothyd/bothy/sdk/skill"
	"github.com/bothyd/bothy/sdk/tool"
)

func TestUnlike(t *testing.T) {
	well := sdk.ToolResult{Success: true, Output: "3 words"}
	ill := sdk.ToolResult{Error: "nothing is there", Output: "looked at 2 files", Outcome: sdk.NotFound}
	no := sdk.Errorf(sdk.Permission, "not granted")
	for name, c := range map[string]struct {
		r     sdk.ToolResult
		err   error
		want  string
		fails sdk.Outcome
		says  string // empty: nothing is wrong
	}{
		"any answer":               {r: well},
		"the answer":               {r: well, want: "3 words"},
		"a part of the answer":     {r: well, want: "3", says: `answered "3 words", want "3"`},
		"an error":                 {err: no, says: "failed: not granted"},
		"no success":               {r: ill, says: "without success: nothing is there"},
		"a failure that is wanted": {r: ill, fails: sdk.NotFound, want: "nothing"},
		"an error that is wanted":  {err: no, fails: sdk.Permission, want: "granted"},
		"words of the output":      {r: ill, fails: sdk.NotFound, want: "2 files"},
		"another outcome":          {err: no, fails: sdk.NotFound, says: `outcome "permission", want not_found: not granted`},
		"other words":              {err: no, fails: sdk.Permission, want: "secret", says: `want "secret" in it`},
		"an unexpected success":    {r: well, fails: sdk.NotFound, says: `succeeded with "3 words", want a failure`},
		"an error without outcome": {err: errors.New("nil map"), fails: sdk.Internal},
	} {
		if got := unlike(c.r, c.err, c.want, c.fails); got == nil != (c.says == "") || got != nil && !strings.Contains(got.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, got, c.says)
		}
	}
}

func TestLacks(t *testing.T) {
	const value = `{"state":"failed","body":"no","n":9007199254740993}`
	for want, says := range map[string]string{
		"": "", "{}": "", `{"state": "failed", "n": 9007199254740993}`: "",
		`{"state":"resolved"}`:   `state of the value is "failed", want "resolved"`,
		`{"n":9007199254740992}`: "want 9007199254740992", `{"outcome":"permission"}`: `outcome of the value is not there, want "permission"`,
		"[": "no JSON object",
	} {
		if got := fmt.Sprint(lacks(json.RawMessage(value), want)); says == "" && got != "<nil>" || !strings.Contains(got, says) {
			t.Errorf("%s: %s, want %q", want, got, says)
		}
	}
}

// TestExpected: suites take calls that a daemon refuses, and values that hooks change.
func TestExpected(t *testing.T) {
	options := plugin.Options{
		Name: "expected",
		Tool: tool.Set{tool.Plain("ask", "Asks.", func(ctx context.Context, in struct{ Text string }) (string, error) {
			return host.Ask(ctx, sdk.Request{Messages: []sdk.Message{{Role: sdk.RoleUser, Text: in.Text}}})
		})},
		Skill: skill.Set{skill.New("ask", func(ctx context.Context, c skill.Call) (sdk.ToolResult, error) {
			text, err := host.Ask(ctx, sdk.Request{Messages: []sdk.Message{{Role: sdk.RoleUser, Text: c.Input}}})
			return skill.Text(text), err
		})},
		Hook: hook.Set{hook.BeforeCall(func(_ context.Context, c hook.Call) (hook.Call, error) {
			return c, sdk.Errorf(sdk.Permission, "not %s", c.Tool)
		}), hook.AfterLoop(func(context.Context, sdk.LoopEvent) error { return sdk.Errorf(sdk.Unavailable, "no disk") })},
	}
	call := sdk.Invocation{Tool: "ask", Arguments: json.RawMessage(`{"Text":"one"}`)}
	execution := sdk.SkillCall{Skill: "ask", Input: "two"}
	refused := Configure(t, options, Block{})
	refused.Tool(Call{Invocation: call, Fails: sdk.Permission, Want: `grants = ["models"]`})
	refused.Skill(Execution{SkillCall: execution, Fails: sdk.Permission, Want: `grants = ["models"]`})
	granted := Configure(t, options, Block{Grants: []string{sdk.GrantModels}, Daemon: greeter()})
	granted.Tool(Call{Invocation: call, Want: "hello one"})
	granted.Skill(Execution{SkillCall: execution, Want: "hello two"})
	granted.Hook(
		Heard{Name: "entry.recording", Filter: true, Value: sdk.Recording{Tool: "rm", State: sdk.StateStreaming, Attributes: json.RawMessage(`{"tool":"rm"}`)}, Want: `{"state":"failed","outcome":"permission","body":"not rm"}`},
		Heard{Name: "loop.completed", Value: sdk.LoopEvent{}, Fails: sdk.Unavailable},
	)
}

// TestConfiguredProvider: a provider that is made of its block is tested by its options.
func TestConfiguredProvider(t *testing.T) {
	type settings struct {
		Model string `hcl:"model_name"`
	}
	made := ""
	p := plugin.NewConfiguredProvider(func(c settings) (provider.Provider, error) {
		made = c.Model
		return fakeModel{}, nil
	})
	Configure(t, p.Options("made", "1"), Block{Settings: `{"model_name":"m"}`}).Provider(sdk.Request{Model: "m"})
	if made != "m" {
		t.Errorf("it was made of %q", made)
	}
}
