package daemon

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

func init() {
	scriptCommands["socket"], scriptCommands["socket-until"], scriptCommands["watch-begins"] = socketCall, socketUntil, watchBegins
}

// socketClient is a front end of the script's daemon, which runs.
func socketClient(ts *testscript.TestScript) *client.Client {
	socket, err := rpc.FindSocket(ts.Getenv)
	ts.Check(err)
	return &client.Client{Socket: socket, Name: "script", Role: rpc.RoleApprove}
}

// askSocket calls a method with parameters in which $NAME is a variable of the script, and
// $VALUE what the last socket-until found. Its answer, or its error, is in the file answer.
func askSocket(ts *testscript.TestScript, method, params string) ([]byte, error) {
	c := socketClient(ts)
	defer func() { _ = c.Close() }() // all was answered
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var raw json.RawMessage
	err := c.Call(ctx, method, json.RawMessage(os.Expand(params, ts.Getenv)), &raw)
	text := []byte(string(sdk.OutcomeOf(err)) + "\n")
	if err == nil {
		var v any
		ts.Check(json.Unmarshal(raw, &v))
		if text, err = json.MarshalIndent(v, "", " "); err != nil {
			return nil, err
		}
	} else {
		text = append(text, err.Error()...)
	}
	ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), "answer"), append(text, '\n'), 0o600))
	return text, err
}

// socketCall is one call of a method; negated, one that fails.
func socketCall(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] socket METHOD PARAMETERS")
	}
	if text, err := askSocket(ts, args[0], args[1]); (err != nil) != neg {
		ts.Fatalf("%s: %v\n%s", args[0], err, text)
	}
}

// socketUntil calls a method until its answer fits a pattern, whose group is VALUE then.
func socketUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: socket-until REGEXP METHOD PARAMETERS")
	}
	wanted, err := regexp.Compile(args[0])
	ts.Check(err)
	var text []byte
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); <-time.After(20 * time.Millisecond) {
		if text, err = askSocket(ts, args[1], args[2]); err != nil {
			continue
		}
		if found := wanted.FindSubmatch(text); found != nil {
			ts.Setenv("VALUE", string(found[len(found)-1]))
			return
		}
	}
	ts.Fatalf("%s never said %s, but at last (%v):\n%s", args[1], args[0], err, text)
}

// watchBegins watches a run whose model is writing: the first piece is all of it so far,
// and fits a pattern, and what follows is what comes.
func watchBegins(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: watch-begins RUN REGEXP")
	}
	c := socketClient(ts)
	defer func() { _ = c.Close() }() // all was heard
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	run, err := c.Run(ctx, rpc.RunRef{Run: args[0], Project: ts.Getenv("PROJECT")})
	ts.Check(err)
	var pieces []rpc.Preview
	ts.Check(c.Follow(ctx, client.Watch{Run: run.ID, After: run.Seq, Preview: true}, func(e client.Event) error {
		if e.Preview != nil {
			pieces = append(pieces, *e.Preview)
		}
		if len(pieces) == 4 {
			return client.ErrDone
		}
		return nil
	}))
	for i, p := range pieces {
		if p.Whole != (i == 0) || p.First != (i == 0) || p.Dropped || p.Restart || i > 0 && p.Text != "tick " {
			ts.Fatalf("piece %d is %+v", i, p)
		}
	}
	if !regexp.MustCompile(args[1]).MatchString(pieces[0].Text) {
		ts.Fatalf("it begins with %q", pieces[0].Text)
	}
}
