// Command faultplugin is a plugin that fails in every way a plugin can. The
// host's tests build it and choose by FAULT how it starts, and by tool how it
// behaves in a call.
package main

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/tool"
)

type config struct {
	BaseURL string            `hcl:"base_url,optional" doc:"Where the server is."`
	Key     string            `hcl:"key,optional" secret:"true"`
	Retries int               `hcl:"retries" default:"3"`
	Tags    []string          `hcl:"tags" default:"a,b"`
	Headers map[string]string `hcl:"headers,optional"`
	Refuse  string            `hcl:"refuse,optional" doc:"What Configure answers with."`
	Secret  string            `hcl:"secret,optional" doc:"A secret that Configure asks for."`
}

func main() {
	if begin(os.Getenv("FAULT")) {
		return
	}
	f := &faults{changed: make(chan struct{}, 1), calls: calls(os.Getenv("FAULT_CALLS"))}
	name := os.Getenv("FAULT_NAME")
	if name == "" {
		name = "fault"
	}
	o := plugin.Options{
		Name: name, Version: "1.2.3", Config: &f.config, Configure: f.configure,
		Tool: f, Provider: providerFaults{}, Skill: skills(), Hook: hookFaults{}, Channel: front(), Agent: agents(),
		Requires: strings.Fields(os.Getenv("FAULT_REQUIRES")),
		Health:   f.health, Drain: f.drain, Changed: f.changed, Grants: []string{sdk.GrantEntries}, Calls: f.calls,
		Reconfigures: os.Getenv("FAULT_LIVE") != "",
	}
	if os.Getenv("FAULT_KEEPS") != "" {
		o.Release = f.release
	}
	if os.Getenv("FAULT_SHOWS") != "" {
		o.Schemes, o.Projections = shelf()
	}
	plugin.Serve(o)
}

// calls is what the plugin declares that it calls back: "all" is anything, JSON
// is that, and nothing is some entries.
func calls(text string) sdk.Calls {
	c := sdk.Calls{Schemes: []string{"file", "known", "fact"}}
	switch text {
	case "":
	case "all":
		c.Tools, c.Models, c.Secrets = []string{"*"}, []string{"*"}, []string{"TOKEN", "OTHER"}
	default:
		c = sdk.Calls{}
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			panic(err)
		}
	}
	return c
}

// faults serves the tools; extra ones appear when the manifest changes.
type faults struct {
	calls   sdk.Calls
	config  config
	set     tool.Set
	extra   tool.Set
	changed chan struct{}
	label   string // of the block
}

func (f *faults) Tools() []sdk.ToolSpec {
	grown := f.extra.Tools()
	for i := range grown {
		grown[i].Source = os.Getenv("FAULT_SOURCE")
	}
	return append(append(f.tools().Tools(), grown...), unusable()...)
}

func (f *faults) Invoke(ctx context.Context, call sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error) {
	return append(f.tools(), f.extra...).Invoke(ctx, call, out)
}

func (f *faults) Settle(ctx context.Context, call sdk.Invocation) (sdk.ToolResult, error) {
	return f.tools().Settle(ctx, call)
}

func (f *faults) Prepare(ctx context.Context, at sdk.Place) (sdk.Prepared, error) {
	return f.tools().Prepare(ctx, at)
}

// unusable declares a tool whose schema no host can use, or too many tools, when
// asked to.
func unusable() []sdk.ToolSpec {
	if n, err := strconv.Atoi(os.Getenv("FAULT_TOOLS")); err == nil {
		return make([]sdk.ToolSpec, n)
	}
	if os.Getenv("FAULT_SCHEMA") == "" {
		return nil
	}
	return []sdk.ToolSpec{{Name: "unusable", Description: "Cannot be called.", Parameters: []byte(os.Getenv("FAULT_SCHEMA"))}}
}

// build is set by the linker, to make another binary of the same plugin.
var build string

func init() { _ = build }
