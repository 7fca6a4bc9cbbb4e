package daemon

import (
	"io"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// logTime is how the log writes a time.
const logTime = "2006-01-02T15:04:05.000Z07:00"

// openLog opens the daemon's own log. Whatever is written through the logger,
// by the daemon or by a plugin's standard error, passes the registry of secret
// values first. also gets a copy of every line, when it is not nil. Loggers
// that are made from it share its level.
func openLog(path string, c config.Log, secrets *audit.Redactor, also io.Writer) (hclog.Logger, *logFile, error) {
	level, err := logLevel(c.Level)
	if err != nil {
		return nil, nil, err
	}
	f := openLogFile(path, c.MaxSize, c.Keep)
	var out io.Writer = f
	if also != nil {
		out = io.MultiWriter(f, also)
	}
	log := hclog.New(&hclog.LoggerOptions{
		Name:            "bothyd",
		Level:           level,
		Output:          secrets.Writer(out),
		TimeFormat:      logTime,
		IncludeLocation: false,
	})
	return log, f, nil
}

func logLevel(name string) (hclog.Level, error) {
	l := hclog.LevelFromString(name)
	if l == hclog.NoLevel {
		return l, sdk.Errorf(sdk.Validation, "there is no log level %q: use error, warn, info, debug or trace", name)
	}
	return l, nil
}

// setLog puts the log's settings in force while it is being written. The level
// of the command line goes before that of the configuration.
func (d *Daemon) setLog(c config.Log) error {
	if d.logLevel != "" {
		c.Level = d.logLevel
	}
	level, err := logLevel(c.Level)
	if err != nil {
		return err
	}
	d.log.SetLevel(level)
	d.logFile.limit(c.MaxSize, c.Keep)
	return nil
}
