//go:build failpoints

package failpoint

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// Enabled reports whether this build has failpoints.
const Enabled = true

var (
	target Name
	left   atomic.Int64 // hits until the process dies
)

func init() {
	text := os.Getenv(Variable)
	if text == "" {
		return
	}
	name, count, counted := strings.Cut(text, ":")
	n := 1
	if counted {
		var err error
		if n, err = strconv.Atoi(count); err != nil || n < 1 {
			panic(fmt.Sprintf("%s=%s: %q is no count", Variable, text, count))
		}
	}
	if !slices.Contains(names, Name(name)) {
		panic(fmt.Sprintf("%s=%s: there is no such failpoint", Variable, text))
	}
	target = Name(name)
	left.Store(int64(n))
}

// Hit kills the process with SIGKILL when the environment says that it dies
// here. It does not return then.
func Hit(n Name) {
	if n != target || left.Add(-1) != 0 {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}
