package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"golang.org/x/term"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/daemon/internal/logfile"
	"github.com/bothyd/bothy/sdk"
)

type logsCmd struct{ verbs.Logs }

// Run prints messages of the log's files until they end or, when it follows, a
// signal comes.
func (cmd logsCmd) Run(c *console) error {
	path, err := logfile.Path()
	if err != nil {
		return sdk.Errorf(sdk.Validation, "%w", err)
	}
	q := logfile.Query{Level: cmd.Level, Follow: cmd.Follow}
	q.Missed = func() { c.say("some of the log was gone before it could be read") }
	if cmd.Since > 0 {
		q.Since = time.Now().Add(-cmd.Since)
	}
	switch {
	case cmd.Lines != nil && *cmd.Lines >= 0:
		q.Last = *cmd.Lines
	case cmd.Since == 0:
		q.Last = 50
	}
	ctx, stop := interruptible()
	defer stop()
	seen := false
	err = logfile.Read(ctx, path, q, func(l logfile.Line) error {
		seen = true
		return printLine(c, l, c.json)
	})
	if err == nil && !seen && !cmd.Follow {
		c.say("nothing that fits is in %s", path)
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
