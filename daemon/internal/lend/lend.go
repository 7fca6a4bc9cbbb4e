// Package lend keeps the servers of MCP that front ends lend to runs. They stand in no file, and are gone
// with who lent them ([decision 84]).
//
// [decision 84]: ../../../docs/decisions/0084-what-an-editor-lends.md
package lend

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/daemon/internal/opening"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Loans are what is lent now. The zero value is nothing; it is safe for concurrent use.
type Loans struct {
	mu  sync.Mutex
	all []*loan // the last one first: of two that lend a run one name it counts
}

// loan is what one call lent.
type loan struct {
	run   string // its key
	specs []inspect.Spec
}

// Servers are the names of those that are lent to the run of a key.
func (l *Loans) Servers(run string) (names []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.all {
		for _, spec := range x.specs {
			if name := strings.TrimPrefix(spec.Instance, sdk.MCPPrefix); x.run == run && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Blocks are those of all loans: they come behind those of the configuration, and the first of
// a label counts.
func (l *Loans) Blocks() (all []inspect.Spec) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.all {
		all = append(all, x.specs...)
	}
	return all
}

// Lend lends a run servers until end is called, and has put put Blocks in force at both.
func (l *Loans) Lend(ctx context.Context, run sdk.Run, servers []rpc.LentServer, put func(context.Context)) (lent []rpc.LentAs, end func()) {
	lent, back := l.Add(run, servers)
	put(ctx)
	return lent, func() {
		back()
		put(context.WithoutCancel(ctx))
	}
}

// Add lends a run servers until back is called. Servers that cannot be used are told of, and left out.
// The caller puts Blocks in force after both.
func (l *Loans) Add(run sdk.Run, servers []rpc.LentServer) (lent []rpc.LentAs, back func()) {
	x := &loan{run: run.Key}
	taken := map[string]bool{}
	for _, s := range servers {
		as := rpc.LentAs{Name: s.Name}
		spec, notes, err := specOf(serverName(run, s.Name, taken), s)
		if err != nil {
			as.Problem = err.Error()
		} else {
			as.Server, as.Notes = strings.TrimPrefix(spec.Instance, sdk.MCPPrefix), notes
			x.specs = append(x.specs, spec)
		}
		lent = append(lent, as)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append([]*loan{x}, l.all...)
	return lent, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = slices.DeleteFunc(l.all, func(y *loan) bool { return x == y })
	}
}

// longestServer leaves most of a tool's name to the tool.
const longestServer = 16

// serverName is the name of a server that is lent to a run: no other run has one that is called
// so, whatever people call theirs, and none in the configuration. It is made of the run's key, for the
// number of a run that was deleted is given again, and rules that were remembered may name its tools.
func serverName(run sdk.Run, called string, taken map[string]bool) string {
	words := strings.FieldsFunc(strings.ToLower(called), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	plain := strings.Join(words, "_")
	if len(plain) > longestServer {
		plain = strings.TrimRight(plain[:longestServer], "_")
	}
	if plain == "" {
		plain = "server"
	}
	sum := sha256.Sum256([]byte(run.Key))
	for n := 1; ; n++ {
		name := fmt.Sprintf("%x_%s", sum[:4], plain)
		if n > 1 {
			name += fmt.Sprintf("_%d", n)
		}
		if !taken[name] {
			taken[name] = true
			return name
		}
	}
}

// specOf is the block of a server that is lent, as if it stood in a file: with walls, and what
// its command line opens in them.
func specOf(name string, s rpc.LentServer) (inspect.Spec, []string, error) {
	if (s.Command == "") == (s.URL == "") {
		return inspect.Spec{}, nil, sdk.Errorf(sdk.Validation, "it has a command or a url, and not both")
	}
	e := config.MCPEdit{Name: name, Env: texts(s.Env), Headers: texts(s.Headers), Transport: s.Transport}
	for at, text := range map[*config.Expression]string{&e.Command: s.Command, &e.Dir: s.Dir, &e.URL: s.URL} {
		if text != "" {
			*at = config.Text(text)
		}
	}
	for _, a := range s.Args {
		e.Args = append(e.Args, config.Text(a))
	}
	var notes []string
	if s.Command != "" {
		notes = opening.Of(&e, s.Command, s.Args, true)
		if e.Unconfined {
			return inspect.Spec{}, nil, sdk.Errorf(sdk.Permission, "%s cannot be confined, and a project may have named it: write it down with `bothy mcp add %s -- ...` if you want it", s.Command, s.Name)
		}
	}
	none := func(string) (string, bool) { return "", false }
	cfg, diags := config.Load(config.Source{Defaults: []byte(e.Text()), DefaultsName: "what a front end lends", Getenv: none, Secrets: unheard{}})
	switch {
	case cfg == nil:
		return inspect.Spec{}, nil, diags
	case len(cfg.Plugins) != 1:
		return inspect.Spec{}, nil, sdk.Errorf(sdk.Internal, "the block of the server %q is none", s.Name)
	}
	block := cfg.Plugins[0]
	block.Label = sdk.MCPPrefix + "_" + name
	return inspect.SpecOf(cfg, block), notes, nil
}

// texts are the expressions of texts.
func texts(values map[string]string) map[string]config.Expression {
	out := make(map[string]config.Expression, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		out[name] = config.Text(values[name])
	}
	return out
}

// unheard is a registry of what looks nothing up.
type unheard struct{}

func (unheard) Name(string, string) {}

func (unheard) Redact(text string) string { return text }
