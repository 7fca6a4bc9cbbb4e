package host

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// lentFolders are, as a pattern, the folders of plugins that front ends lent: what those keep is
// gone with the loan.
const lentFolders = sdk.MCPPrefix + "_*"

// isLent reports whether a plugin is a server of MCP that a front end lent.
func isLent(instance string) bool {
	server, is := strings.CutPrefix(instance, sdk.MCPPrefix)
	return is && sdk.IsLent(server)
}

// putAside takes from an instance that was lent, and has ended, what it kept, and returns where that
// is now; empty where it keeps it. It needs s.mu, so that one of the same name which comes next
// begins with nothing.
func (i *instance) putAside() string {
	if !isLent(i.name) {
		return ""
	}
	own := filepath.Join(i.s.cfg.DataDir, confinedDir, i.name)
	aside := own + "." + rand.Text() // the next daemon finds it by its name, too
	if os.Rename(own, aside) != nil {
		return "" // it never started
	}
	return aside
}
