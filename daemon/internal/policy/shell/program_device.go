package shell

import (
	"fmt"
	"slices"
	"strings"
)

// dd is denied when it writes to a device, and not proven otherwise.
func dd(c call) finding {
	for _, word := range c.argv[1:] {
		out, found := strings.CutPrefix(word, "of=")
		if !found {
			continue
		}
		abs, _ := c.place.resolve(out)
		if strings.HasPrefix(abs, "/dev/") && !slices.Contains(writable, abs) {
			return finding{Denied, "shell.device", fmt.Sprintf("dd would overwrite the device %q, which is never allowed; write to a file below %s", out, c.place.Workspace)}
		}
	}
	return c.orSecret(c.unproven("shell.program", "dd can fill or overwrite anything; use head -c, cp or truncate below %s", c.place.Workspace), false)
}
