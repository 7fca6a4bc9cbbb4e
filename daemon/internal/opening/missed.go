package opening

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/confine"
	"github.com/bothyd/bothy/sdk"
)

// Missed says of a failure that the plugin of a label tells which file in it its confine block
// does not open; empty where that is not why, or it has no such block. Own are the folders
// that are open to it besides.
func Missed(cfg *config.Config, label, text string, own ...string) string {
	for _, b := range slices.Concat(cfg.Plugins, cfg.Providers) {
		if c := b.Confine; b.Label == label && c != nil && (!c.Bundled || strings.HasPrefix(label, sdk.MCPPrefix)) {
			return confine.Unopened(text, slices.Concat(c.Paths, c.ReadPaths, own, []string{filepath.Dir(b.Path)}))
		}
	}
	return ""
}
