package daemon

import (
	"fmt"
	"io"
	"os"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// openLog opens the daemon's own log. Whatever is written through the logger,
// by the daemon or by a plugin's standard error, passes the registry of secret
// values first. also gets a copy of every line, when it is not nil.
func openLog(path, level string, secrets *config.Secrets, also io.Writer) (hclog.Logger, io.Closer, error) {
	l := hclog.LevelFromString(level)
	if l == hclog.NoLevel {
		return nil, nil, sdk.Errorf(sdk.Validation, "there is no log level %q: use error, warn, info, debug or trace", level)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open the log: %w", err)
	}
	var out io.Writer = f
	if also != nil {
		out = io.MultiWriter(f, also)
	}
	log := hclog.New(&hclog.LoggerOptions{
		Name:            "bothyd",
		Level:           l,
		Output:          secrets.Writer(out),
		TimeFormat:      "2006-01-02T15:04:05.000Z07:00",
		IncludeLocation: false,
	})
	return log, f, nil
}
