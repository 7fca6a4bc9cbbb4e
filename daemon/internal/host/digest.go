package host

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/bothyd/bothy/sdk"
)

// Digest is the hex SHA-256 of the binary that runs behind a tool: of the file
// that its process was started from, whatever lies at its path by now. It is
// empty for the daemon's own tools, and when it cannot be read.
func (s *Supervisor) Digest(ctx context.Context, tool sdk.Tool) string {
	o, err := s.tools().find(tool.Name)
	if err != nil || o.Plugin != tool.Plugin {
		return ""
	}
	l, err := o.owner.callable(ctx)
	if err != nil {
		return ""
	}
	defer l.calls.leave()
	return l.digest()
}

// digests keeps the digest of one process's binary, which is read once.
type digests struct {
	once sync.Once
	sum  string
}

func (l *link) digest() string {
	l.sum.once.Do(func() {
		f, err := os.Open(fmt.Sprintf("/proc/%s/exe", l.proc.ID()))
		if err != nil {
			f, err = os.Open(l.path)
		}
		if err != nil {
			l.log.Warn("the binary cannot be read, so that answers are not bound to it", "error", err)
			return
		}
		defer f.Close()
		if l.sum.sum, err = digest(f); err != nil {
			l.log.Warn("the binary cannot be read, so that answers are not bound to it", "error", err)
		}
	})
	return l.sum.sum
}
