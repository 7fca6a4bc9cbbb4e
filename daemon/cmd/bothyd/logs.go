package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
	"unicode"

	"golang.org/x/term"

	"github.com/bothyd/bothy/daemon/internal/logfile"
	"github.com/bothyd/bothy/sdk"
)

type logsCmd struct {
	Follow bool          `short:"f" help:"Go on with what is logged from now on."`
	Lines  int           `short:"n" default:"-1" help:"At most so many messages from before; 0 is all. 50, or all with --since, when absent."`
	Level  string        `help:"Only this level and worse: error, warn, info, debug or trace."`
	Since  time.Duration `placeholder:"10m" help:"Only what is not older."`
	JSON   bool          `help:"Print one JSON object a message."`
}

// Run prints messages of the log's files until they end or, when it follows, a
// signal comes.
func (cmd logsCmd) Run(c *console) error {
	path, err := logfile.Path()
	if err != nil {
		return sdk.Errorf(sdk.Validation, "%w", err)
	}
	q := logfile.Query{Last: cmd.Lines, Level: cmd.Level, Follow: cmd.Follow}
	q.Missed = func() { fmt.Fprintln(c.err, "bothyd: some of the log was gone before it could be read") }
	if cmd.Since > 0 {
		q.Since = time.Now().Add(-cmd.Since)
	}
	if q.Last < 0 {
		if q.Last = 50; cmd.Since > 0 {
			q.Last = 0
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	seen := false
	err = logfile.Read(ctx, path, q, func(l logfile.Line) error {
		seen = true
		return printLine(c, l, cmd.JSON)
	})
	if err == nil && !seen && !cmd.Follow {
		fmt.Fprintf(c.err, "bothyd: nothing that fits is in %s\n", path)
	}
	return err
}

// printLine prints a message as it stands in the file. A plugin's words are in
// it: a terminal gets nothing that would steer it.
func printLine(c *console, l logfile.Line, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(c.out).Encode(l)
	}
	text := l.Raw
	if f, ok := c.out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		text = harmless(text)
	}
	_, err := io.WriteString(c.out, text+"\n")
	return err
}

// oneLine is harmless for what must stay on one line.
func oneLine(text string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(harmless(text))
}

// harmless shows control characters instead of letting them work.
func harmless(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\n' || r == '\t' || unicode.IsGraphic(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
