package sdk

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// TestStopReasons has every constant in the table, with words for the manual.
func TestStopReasons(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "stop.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Stop") {
			return true
		}
		name, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		reason, listed := stopReason(name)
		if found++; !listed || reason.Doc == "" {
			t.Errorf("%q is not in the table, or without words", name)
		}
		return true
	})
	if all := len(StopReasons()); found != all {
		t.Errorf("%d constants and %d rows", found, all)
	}
}

func TestStopExit(t *testing.T) {
	for _, c := range []struct {
		stop   string
		status int
		exit   int
		text   string
	}{
		{StopAnswer, 200, ExitOK, "finished"},
		{StopTerminal, 200, ExitOK, "finished"},
		{StopTerminal, 204, ExitOK, "finished"},
		{"", 200, ExitOK, "finished"},
		{StopRejected, 200, ExitOK, "ended because a call was rejected"},
		{StopTerminal, 422, ExitFailed, "failed"},
		{StopOverflow, 413, ExitFailed, "failed"},
		{StopFailed, 413, ExitFailed, "failed"},
		{StopFailed, 500, ExitFailed, "failed"},
		{"", 500, ExitFailed, "failed"},
		{StopAnswer, 409, ExitFailed, "failed"},
		{StopReplay, 500, ExitUsage, "cannot go on"},
		{StopReplay, 200, ExitUsage, "cannot go on"},
		{StopMismatch, 500, ExitFailed, "failed"},
		{StopConfig, 500, ExitUsage, "cannot go on"},
		{"max_turns", 500, ExitStopped, "stopped by max_turns"},
		{"max_turns", 200, ExitStopped, "stopped by max_turns"},
		{"repeated_calls", 413, ExitStopped, "stopped by repeated_calls"},
		{"of_a_plugin", 422, ExitStopped, "stopped by of_a_plugin"},
		{"deadline", 499, ExitStopped, "stopped by deadline"},
		{"", 102, ExitStopped, "not finished"},
		{StopProposal, 500, ExitUnanswered, "waits for an answer"},
		{"", 202, ExitUnanswered, "waits for an answer"},
		{StopAborted, 499, ExitAborted, "aborted"},
		{"", 499, ExitAborted, "aborted"},
	} {
		if exit, text := StopExit(c.stop, c.status), StopText(c.stop, c.status); exit != c.exit || text != c.text {
			t.Errorf("%q with %d: %d %q, want %d %q", c.stop, c.status, exit, text, c.exit, c.text)
		}
	}
}
