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

// unsaved are the texts that a person's editor has otherwise than the disk, of files that a
// call names: its tool reads and judges those in the place of the disk's. One that has no
// project gets none. Editors that do not say so in time have nothing unsaved.
func (e *Engine) unsaved(ctx context.Context, run sdk.Run, x *action) map[string]string {
	if e.cfg.Unsaved == nil || x.own != nil || run.Private || !slices.Contains(x.tool.Grants, sdk.GrantProject) {
		return nil
	}
	ask := e.cfg.Unsaved(run.Key)
	if ask == nil {
		return nil
	}
	var arguments map[string]any
	if json.Unmarshal(x.Arguments, &arguments) != nil {
		return nil
	}
	found := map[string]string{}
	for _, name := range fileArguments {
		path, is := arguments[name].(string)
		if path = inProject(path, x.project); !is || path == "" {
			continue
		}
		if text, has := ask(ctx, filepath.Join(x.project, path)); has {
			found[path] = text
		}
	}
	return found
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
