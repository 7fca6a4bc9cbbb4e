package engine

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// fileArguments are the arguments that name a file of the project.
var fileArguments = []string{"path", "file", "file_path", "from", "to", "source", "destination", "other"}

// askEditor puts into a call the texts that a person's editor has otherwise than the disk, of
// files that the call names: its tool reads and judges those in the place of the disk's, and changes none,
// nor one of which the editor does not say in time how it has it. A tool that has no project gets none.
func (e *Engine) askEditor(ctx context.Context, run sdk.Run, x *action, call *sdk.Invocation) {
	if e.cfg.Unsaved == nil || x.own != nil || run.Private || !slices.Contains(x.tool.Grants, sdk.GrantProject) {
		return
	}
	ask := e.cfg.Unsaved(run.Key)
	if ask == nil {
		return
	}
	var arguments map[string]any
	if json.Unmarshal(x.meant(), &arguments) != nil {
		return
	}
	for _, name := range fileArguments {
		path, is := arguments[name].(string)
		if path = inProject(path, x.project); !is || path == "" {
			continue
		}
		switch b := ask(ctx, filepath.Join(x.project, path)); {
		case b.Unknown:
			call.Unsure = append(call.Unsure, path)
		case b.Unsaved:
			if call.Unsaved == nil {
				call.Unsaved = map[string]string{}
			}
			call.Unsaved[path] = b.Text
		}
	}
}

// inProject is a path relative to the project; empty where it is none of it.
func inProject(path, project string) string {
	if inside, is := strings.CutPrefix(path, project+"/"); is {
		path = inside
	}
	if path = filepath.Clean(path); !filepath.IsLocal(path) || path == "." {
		return ""
	}
	return path
}
