// Command bothy-plugin-conformance has the tools that the public conformance suite of MCP calls by
// name, so that what is tested is how the bridge passes their results on.
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/tool"
)

// The smallest picture and the shortest sound there are.
const (
	picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	sound   = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
)

// medium is what is no text of a result, as the plugin mcp writes it.
type medium struct {
	Kind     string `json:"kind"`
	MIMEType string `json:"mime_type"`
	URI      string `json:"uri,omitempty"`
	Data     string `json:"data"`
}

func media(all ...medium) sdk.ToolResult {
	r := tool.Text("Here it is.")
	r.Metadata = map[string]any{"media": all}
	return r
}

func resource(uri, mime, text string) medium {
	return medium{"resource", mime, uri, base64.StdEncoding.EncodeToString([]byte(text))}
}

// step is between two things that are told: longer than what the daemon puts together.
const step = 400 * time.Millisecond

// steps does something three times.
func steps(ctx context.Context, each func(n int) error) error {
	for n := range 3 {
		if err := each(n); err != nil {
			return err
		}
		select {
		case <-time.After(step):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// plain is the schema of a tool without arguments.
var plain = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)

func named(name, about string, schema json.RawMessage, fn func(ctx context.Context, call tool.Call) (sdk.ToolResult, error)) tool.Func {
	return tool.Raw(sdk.ToolSpec{Name: name, Description: about, Parameters: schema}, fn)
}

func main() {
	answers := func(r sdk.ToolResult) func(context.Context, tool.Call) (sdk.ToolResult, error) {
		return func(context.Context, tool.Call) (sdk.ToolResult, error) { return r, nil }
	}
	tools := tool.Set{
		named("test_simple_text", "Answers with a text.", plain, answers(tool.Text("This is a simple text response for testing."))),
		named("test_image_content", "Answers with a picture.", plain, answers(media(medium{"image", "image/png", "", picture}))),
		named("test_audio_content", "Answers with a sound.", plain, answers(media(medium{"audio", "audio/wav", "", sound}))),
		named("test_embedded_resource", "Answers with a resource.", plain, answers(media(resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")))),
		named("test_multiple_content_types", "Answers with several things.", plain,
			answers(media(medium{"image", "image/png", "", picture}, resource("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`)))),
		named("test_tool_with_logging", "Prints while it works.", plain, func(ctx context.Context, call tool.Call) (sdk.ToolResult, error) {
			err := steps(ctx, func(n int) error {
				return call.Chunk(1, []byte([]string{"Tool execution started\n", "Tool processing data\n", "Tool execution completed\n"}[n]))
			})
			return tool.Text("It is done."), err
		}),
		named("test_tool_with_progress", "Tells how far it is.", plain, func(ctx context.Context, call tool.Call) (sdk.ToolResult, error) {
			err := steps(ctx, func(n int) error { return call.Progress("working", float64(n)/2) })
			return tool.Text("It is done."), err
		}),
		named("test_error_handling", "Fails.", plain, func(context.Context, tool.Call) (sdk.ToolResult, error) {
			return sdk.ToolResult{}, errors.New("this tool intentionally returns an error for testing")
		}),
		named("test_reconnection", "Takes a moment.", plain, func(ctx context.Context, _ tool.Call) (sdk.ToolResult, error) {
			return tool.Text("It is done."), steps(ctx, func(int) error { return nil })
		}),
		named("test_elicitation", "Needs a person's agreement.", json.RawMessage(`{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`), answers(tool.Text("The person agreed."))),
		named("json_schema_2020_12_tool", "Has a schema with all that JSON Schema has.", json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",`+
			`"$defs":{"address":{"type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},`+
			`"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"}},"additionalProperties":false}`), answers(tool.Text("It is done."))),
	}
	plugin.Serve(plugin.Options{Name: "conformance", Version: "1.0.0", Tool: tools})
}
