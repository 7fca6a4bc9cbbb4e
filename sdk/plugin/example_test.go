package plugin_test

import (
	"context"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/tool"
)

func ExampleServe() {
	var config struct {
		Greeting string        `hcl:"greeting" default:"hello" doc:"How people are greeted."`
		Patience time.Duration `hcl:"patience" default:"5s" doc:"How long to wait for an answer."`
	}
	type arguments struct {
		Name string `json:"name" jsonschema:"who is greeted"`
	}
	greet := func(_ context.Context, in arguments, _ tool.Call) (sdk.ToolResult, error) {
		return tool.Text(config.Greeting + ", " + in.Name), nil
	}
	plugin.Serve(plugin.Options{
		Name: "hello", Version: "1.0.0", Config: &config,
		Tool: tool.Set{tool.New("hello", "Greets a person.", sdk.Annotations{ReadOnly: true}, greet)},
	})
}
