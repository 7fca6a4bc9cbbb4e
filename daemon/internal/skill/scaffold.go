package skill

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// pluginFolder is where the source of a new code skill's plugin lies, within
// the skill's folder.
const pluginFolder = "plugin"

//go:embed scaffold
var scaffold embed.FS

// scaffoldPlugin writes the beginning of a plugin into the folder of a new
// skill, which builds as it is, and returns the files.
func scaffoldPlugin(folder, name string) (files []string, err error) {
	into := filepath.Join(folder, pluginFolder)
	if err := os.Mkdir(into, 0o755); err != nil {
		return nil, fmt.Errorf("make the plugin's folder: %w", err)
	}
	for _, file := range []string{"go.mod", "main.go"} {
		text, err := scaffold.ReadFile("scaffold/" + file + ".tmpl")
		if err != nil {
			return files, err
		}
		path := filepath.Join(into, file)
		files = append(files, path)
		if err := writeNew(path, strings.ReplaceAll(string(text), "{{name}}", name)); err != nil {
			return files, fmt.Errorf("write the plugin: %w", err)
		}
	}
	return files, nil
}
