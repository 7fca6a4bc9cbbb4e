package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/channel"
	"github.com/bothyd/bothy/sdk/rpc"
)

// frontSpies is a file that says what others have. The plugin front looks for that by each method there is, when the file is
// there, and writes what it heard into the one with .heard behind its name, until there is one with .end.
const frontSpies = "BOTHY_TEST_FRONT_SPIES"

// search is what a channel looks for: what others have, and beside each what nobody has that is written alike.
type search struct {
	Of map[string][][2]string `json:"of"` // by the names of parameters
}

// probe is a call for what another has, and the same one for what nobody has, with what came of both.
type probe struct {
	Method string            `json:"method"`
	Params [2]map[string]any `json:"params"`
	Heard  [2]string         `json:"heard"`
}

// spied is all that a channel heard.
type spied struct {
	Probes []probe  `json:"probes"`
	Notes  []string `json:"notes"` // notifications, and answers to nothing
}

// wire is a raw connection to the daemon.
type wire struct {
	net.Conn
	lines chan string
	next  int
	heard spied
}

func (w *wire) call(method string, params any) (string, error) {
	w.next++
	text, err := json.Marshal(map[string]any{"jsonrpc": rpc.Version2, "id": w.next, "method": method, "params": params})
	if err != nil {
		return "", err
	}
	if _, err := w.Write(append(text, '\n')); err != nil {
		return "", err
	}
	mark := fmt.Sprintf(`"id":%d,`, w.next)
	for line := range w.lines {
		if strings.Contains(line, mark) && !strings.Contains(line, `"method":`) {
			return strings.Replace(line, mark, "", 1), nil
		}
		w.heard.Notes = append(w.heard.Notes, line)
	}
	return "", errors.New("the daemon hung up")
}

// serveSpy looks for what others have, over one connection, which watches all that it may.
func serveSpy(ctx context.Context, access channel.Access, file string) error {
	var look search
	if err := awaitFile(ctx, file, &look); err != nil {
		return err
	}
	c, err := net.Dial("unix", access.Socket)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // all was heard
	w := &wire{Conn: c, lines: make(chan string, 1024)}
	go func() {
		defer close(w.lines)
		for in := bufio.NewReader(c); ; {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			w.lines <- line
		}
	}()
	methods, own, err := w.begin(access)
	if err != nil {
		return err
	}
	for _, method := range methods {
		for _, p := range look.probes(method, own, access.Projects[0]) {
			for i := range p.Params {
				if p.Heard[i], err = w.call(p.Method, p.Params[i]); err == nil {
					err = w.rests(p.Heard[i])
				}
				if err != nil {
					return fmt.Errorf("%s: %w", p.Method, err)
				}
			}
			w.heard.Probes = append(w.heard.Probes, p)
		}
	}
	for begun := false; ctx.Err() == nil; <-time.After(20 * time.Millisecond) { // what others do meanwhile is no news for it
		if _, err := w.call(rpc.MethodPing, nil); err != nil {
			return err
		}
		text, err := json.Marshal(w.heard)
		if err == nil {
			err = os.WriteFile(file+".heard.new", text, 0o600)
		}
		if err == nil {
			err = os.Rename(file+".heard.new", file+".heard")
		}
		if err != nil || begun {
			return err
		}
		_, missing := os.Stat(file + ".end")
		begun = missing == nil
	}
	return ctx.Err()
}

// described is a method of the catalogue.
type described struct {
	name       string
	properties map[string]property
	required   []string
}

type property struct {
	Type     any            `json:"type"`
	Of       map[string]any `json:"properties"`
	Required []string       `json:"required"`
}

// rests waits, where an answer accepts a prompt, until the run does not work on it any more, so that what comes of the next call
// does not depend on how fast that was.
func (w *wire) rests(answer string) error {
	var accepted struct{ Result rpc.Accepted }
	if json.Unmarshal([]byte(answer), &accepted) != nil || accepted.Result.Loop == 0 {
		return nil
	}
	for ; ; <-time.After(10 * time.Millisecond) {
		text, err := w.call(rpc.MethodRun, rpc.RunRef{Run: fmt.Sprint(accepted.Result.ID)})
		if err != nil {
			return err
		}
		var run struct{ Result rpc.RunDetail }
		if err := json.Unmarshal([]byte(text), &run); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		if run.Result.Status != sdk.StatusRunning && run.Result.Status != sdk.StatusQueued {
			return nil
		}
	}
}

// begin says hello, has a run of its own and watches; it returns the methods that there are, and that run.
func (w *wire) begin(access channel.Access) (methods []described, own string, err error) {
	if _, err = w.call(rpc.MethodHello, rpc.HelloParams{Client: "spy", Protocol: rpc.Protocol, Token: access.Token}); err != nil {
		return nil, "", err
	}
	var begun struct{ Result rpc.Accepted }
	answer, err := w.call(rpc.MethodAct, rpc.Prompt{Project: access.Projects[0], Run: "own", Prompt: "hello", From: &sdk.From{Person: "ada"}})
	if err == nil {
		err = json.Unmarshal([]byte(answer), &begun)
	}
	if err != nil || begun.Result.ID == 0 {
		return nil, "", fmt.Errorf("%s: %w", answer, err)
	}
	if err = w.rests(answer); err != nil {
		return nil, "", err
	}
	if _, err = w.call(rpc.MethodWatch, map[string]any{"after": 0, "preview": true, "states": true}); err != nil {
		return nil, "", err
	}
	if answer, err = w.call(rpc.MethodDiscover, nil); err != nil {
		return nil, "", err
	}
	var told struct {
		Result struct {
			Methods map[string]struct {
				Params struct {
					Properties map[string]property
					Required   []string
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(answer), &told); err != nil {
		return nil, "", err
	}
	for _, name := range slices.Sorted(maps.Keys(told.Result.Methods)) {
		if name != rpc.MethodHello { // it was said
			p := told.Result.Methods[name].Params
			methods = append(methods, described{name, p.Properties, p.Required})
		}
	}
	return methods, fmt.Sprint(begun.Result.ID), nil
}

// probes are the calls of a method by which it may find something: with each parameter that could name what another has, or
// once as it is.
func (l search) probes(m described, own, project string) []probe {
	base := func() map[string]any {
		p := map[string]any{}
		for _, name := range m.required {
			p[name] = m.properties[name].some()
		}
		for name := range m.properties {
			switch name {
			case "from":
				p[name] = sdk.From{Person: "ada"}
			case "project", "projectRoot":
				p[name] = project
			case "limit":
				p[name] = 1000
			}
		}
		for name, value := range map[string]any{"run": own, "tool": "list_directory", "arguments": map[string]any{"path": "."}, "protocol": rpc.Protocol} {
			if _, needed := p[name]; needed {
				p[name] = value
			}
		}
		return p
	}
	all := []probe{{Method: m.name, Params: [2]map[string]any{base(), base()}}}
	for _, name := range slices.Sorted(maps.Keys(m.properties)) {
		for _, value := range l.Of[name] {
			for _, without := range []string{"", "project"} {
				p := probe{Method: m.name, Params: [2]map[string]any{base(), base()}}
				if _, there := p.Params[0][without]; without != "" && (!there || name == without) {
					continue
				}
				for i := range p.Params {
					delete(p.Params[i], without)
					p.Params[i][name] = value[i]
				}
				all = append(all, p)
			}
		}
	}
	return all
}

// some is any value that a parameter may have.
func (p property) some() any {
	kind := fmt.Sprint(p.Type)
	switch {
	case strings.Contains(kind, "string"):
		return "x"
	case strings.Contains(kind, "integer"), strings.Contains(kind, "number"):
		return 1
	case strings.Contains(kind, "boolean"):
		return true
	case strings.Contains(kind, "array"):
		return []any{}
	}
	return map[string]any{}
}

// awaitFile reads JSON from a file as soon as that is there.
func awaitFile(ctx context.Context, file string, into any) error {
	for {
		text, err := os.ReadFile(file)
		switch {
		case err == nil:
			return json.Unmarshal(text, into)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}
