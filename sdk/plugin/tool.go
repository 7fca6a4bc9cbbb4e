package plugin

import (
	"context"

	"github.com/bothyd/bothy/sdk/tool"
)

// Tool is the shortest way to a plugin: one tool, made of a function, in a
// binary of the same name. What it returns can be added to before it is served,
// such as a Version or a Config. See [tool.Plain] for what the function is.
func Tool[In any](name, description string, fn func(ctx context.Context, in In) (string, error)) Options {
	return Options{Name: name, Tool: tool.Set{tool.Plain(name, description, fn)}}
}
