// Package plugin starts a plugin: it is all that a plugin's main calls. This is
// a whole one, bothy-plugin-hello, with one tool:
//
//	package main
//
//	import (
//		"context"
//
//		"github.com/bothyd/bothy/sdk/plugin"
//	)
//
//	type person struct {
//		Name string `json:"name" jsonschema:"who is greeted"`
//	}
//
//	func hello(_ context.Context, p person) (string, error) {
//		return "Hello, " + p.Name + "!", nil
//	}
//
//	func main() { plugin.Serve(plugin.Tool("hello", "Greets a person.", hello)) }
//
// What Tool fills is an Options; one written out says more:
//
//	plugin.Serve(plugin.Options{
//		Name: "hello", Version: "1.0.0",
//		Tool: tool.Set{tool.New("hello", "Greets.", sdk.Annotations{ReadOnly: true}, hello)},
//	})
//
// Every binary also answers to the sub-commands describe, version, test and dev.
//
// The life of a plugin, as the daemon drives it:
//
//  1. The process starts, prints one handshake line and serves a Unix socket.
//  2. Describe: the manifest, made of Options. Config is not known yet. A daemon that
//     knows the program by its digest need not ask.
//  3. Configure: Options.Config is filled, then Options.Configure is called.
//  4. The manifest again: tools and subscriptions may depend on the configuration.
//  5. Calls, several at a time, until another process takes its place (Release,
//     run by run) or the daemon stops. Where Options.Reconfigures says so, step 3
//     may come again meanwhile.
//  6. Drain: running calls end, new ones are refused, Options.Drain is called.
//  7. The server stops and Options.Close is called.
//
// When the daemon's connection breaks, step 7 follows at once: a plugin never
// outlives its daemon. Where the daemon is killed, Linux kills the plugin, and
// Close is not called.
package plugin

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/agent"
	"github.com/bothyd/bothy/sdk/channel"
	"github.com/bothyd/bothy/sdk/provider"
	"github.com/bothyd/bothy/sdk/skill"
	"github.com/bothyd/bothy/sdk/tool"
)

// Options is what a binary serves. A kind that is nil is absent.
type Options struct {
	Name    string // the NAME of bothy-plugin-NAME
	Version string // empty: the version of the SDK

	Tool     tool.Tool
	Provider provider.Provider
	Skill    skill.Skill
	Hook     sdk.Hook
	Channel  channel.Channel // it asks for the grant "channel" by itself
	Agent    agent.Agent

	// Schemes are registered for entries that the plugin writes.
	Schemes []sdk.Scheme
	// Projections say, by the names of own Schemes that models are shown, what a model reads
	// of their entries. Without one it reads the body. They need the grant "entries", which is
	// asked for by itself.
	Projections map[string]Projection
	// Grants are what the plugin wants; the operator's block decides. What Calls
	// needs is wanted by that.
	Grants []string
	// Requires names plugin blocks that must be ready before this plugin is
	// configured. One that is not there keeps it from starting: name only what
	// it cannot work without.
	Requires []string
	// Calls are the tools, schemes, models and secrets that the plugin asks the
	// daemon for. What is not declared here is refused, whatever the operator's
	// block allows; the run's own model and the plugin's own Schemes need no word.
	Calls sdk.Calls
	// Needs is what must be open to the plugin where it is confined, as an installed
	// one is: the network, files. The operator decides. Nothing is needed for what it
	// asks the daemon, for its settings, and for its own folder, which is HOME there.
	Needs sdk.Needs
	// Config points to a struct whose tags declare the attributes of the
	// plugin's block (see Schema). It is filled before Configure is called.
	Config any

	// Configure takes the settings. It is called before any other call of a
	// kind; an error keeps the plugin from starting and is shown to the
	// operator. host.From(ctx) has the daemon's services.
	Configure func(ctx context.Context, s sdk.Settings) error
	// Reconfigures says that Configure may be called again while calls run, when
	// the operator changes the block; without it the daemon starts another
	// process for that. Config then holds the new values only until Configure
	// returns an error, which must leave everything as it was: calls must not read
	// Config, but what Configure made of it. A ConfiguredProvider needs no word.
	Reconfigures bool
	// Release gives up what the plugin keeps for one run, because another process
	// of it took its place. No call of the run is under way here, and none will come;
	// the other process may have one already, which has to wait until this is done.
	Release func(ctx context.Context, run, runDir string) error
	// Health reports that the plugin cannot work now, and why. nil is healthy.
	Health func(ctx context.Context) error
	// Drain is called when no call runs any more and none will come.
	Drain func(ctx context.Context) error
	// Close is called last, before the process exits.
	Close func()
	// Changed tells that the manifest changed: each receive makes the daemon
	// read it again.
	Changed <-chan struct{}
}

// Serve runs the plugin and exits the process. It never returns.
func Serve(o Options) {
	os.Exit(run(o, os.Args[1:], os.Stdout, os.Stderr))
}

// closing is how long a plugin may take for its last steps once the daemon is gone.
const closing = 5 * time.Second

func run(o Options, args []string, stdout, stderr io.Writer) int {
	if err := o.check(); err != nil {
		fmt.Fprintf(stderr, "bothy-plugin-%s cannot serve: %v\n", o.Name, err)
		return 1
	}
	if len(args) > 0 {
		if code, done := command(o, args, stdout, stderr); done {
			return code
		}
	}
	if os.Getenv(CookieKey) != CookieValue {
		byHand(o, stderr)
		return 1
	}
	if slog.Default() == first {
		slog.SetDefault(Logger(o.Name))
	}
	if err := serve(o, stdout); err != nil {
		fmt.Fprintf(stderr, "bothy-plugin-%s cannot serve: %v\n", o.Name, err)
		return 1
	}
	if o.Close != nil {
		o.Close()
	}
	return 0
}

// check finds the mistakes of an author before the daemon has to.
func (o *Options) check() error {
	if o.Name == "" {
		return fmt.Errorf("Options.Name is empty")
	}
	if o.Version == "" {
		o.Version = sdk.Version
	}
	if o.Tool == nil && o.Provider == nil && o.Skill == nil && o.Hook == nil && o.Channel == nil && o.Agent == nil {
		return fmt.Errorf("no kind is served: set Options.Tool, Provider, Skill, Hook, Channel or Agent")
	}
	for _, kind := range []any{o.Tool, o.Skill, o.Hook, o.Agent} {
		if made, ok := kind.(interface{ Err() error }); ok {
			if err := made.Err(); err != nil {
				return err
			}
		}
	}
	if err := o.checkProjections(); err != nil {
		return err
	}
	for _, g := range o.Grants {
		if !slices.Contains(sdk.Grants(), g) {
			return fmt.Errorf("Options.Grants has %q: there is no such grant; there are %s", g, strings.Join(sdk.Grants(), ", "))
		}
	}
	if o.Config != nil {
		if v := reflect.ValueOf(o.Config); v.Kind() != reflect.Pointer || v.IsNil() {
			return fmt.Errorf("Options.Config is a %T: it must be a pointer to a struct, which the settings are filled into", o.Config)
		}
		if _, err := Schema(o.Config); err != nil {
			return err
		}
	}
	return nil
}

// grants are those that are named and those that Calls cannot do without.
func (o *Options) grants() []string {
	wanted := slices.Clone(o.Grants)
	for grant, needed := range map[string]bool{
		sdk.GrantTools: len(o.Calls.Tools) > 0, sdk.GrantEntries: len(o.Calls.Schemes)+len(o.Projections) > 0,
		sdk.GrantModels: len(o.Calls.Models) > 0, sdk.GrantSecrets: len(o.Calls.Secrets) > 0,
	} {
		if needed && !slices.Contains(wanted, grant) {
			wanted = append(wanted, grant)
		}
	}
	slices.Sort(wanted[len(o.Grants):])
	return wanted
}

// hostPID is the daemon's process id, 0 when nobody told.
func hostPID() int {
	pid, err := strconv.Atoi(os.Getenv(EnvHostPID))
	if err != nil {
		return 0
	}
	return pid
}

// onlyDaemon admits the process that started this plugin.
func onlyDaemon(pid int) func(Peer) error {
	return func(p Peer) error {
		if p.UID != os.Geteuid() {
			return fmt.Errorf("the peer runs as uid %d, this plugin as %d", p.UID, os.Geteuid())
		}
		if pid != 0 && p.PID != pid {
			return fmt.Errorf("the peer is process %d, the daemon is %d", p.PID, pid)
		}
		return nil
	}
}

// daemonLink ends the plugin when the last connection of the daemon closes, or
// when none is made in time.
type daemonLink struct {
	exit func(code int)

	mu    sync.Mutex
	open  int
	stop  func()
	timer *time.Timer // ends the process the hard way
}

// connecting is how long a started plugin waits for its daemon.
const connecting = time.Minute

func (l *daemonLink) onLost(stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop = stop
	if l.open == 0 {
		l.timer = time.AfterFunc(connecting, func() { l.exit(1) })
	}
}

func (l *daemonLink) opened() (closed func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open++
	if l.timer != nil {
		l.timer.Stop()
	}
	return l.closed
}

func (l *daemonLink) closed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.open == 0 && l.stop != nil {
		l.timer = time.AfterFunc(closing, func() { l.exit(1) })
		go l.stop()
	}
}
