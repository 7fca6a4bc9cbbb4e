package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

type mcpLoginCmd struct{ verbs.MCPLogin }

// loggedIn is what came of a login.
type loggedIn struct {
	Name     string   `json:"name"`
	At       string   `json:"at"` // the host of the authorization server
	Place    string   `json:"place"`
	File     string   `json:"file,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	Problems []string `json:"problems,omitempty"`
}

// Run has the plugin of MCP log the person in, as a process of its own, and the daemon keep what
// that came to.
func (cmd mcpLoginCmd) Run(c *console, files *inspect.Files) error {
	n := slices.IndexFunc(files.Config.Plugins, func(p config.Plugin) bool { return p.Label == sdk.MCPPrefix+cmd.Name && p.Server != nil })
	switch {
	case n < 0:
		return sdk.Errorf(sdk.NotFound, "%s has no mcp block %q", files.Path, cmd.Name)
	case cmd.Wait < time.Second || cmd.Wait > time.Hour:
		return sdk.Errorf(sdk.Validation, "--wait is %v; it is 1s to 1h", cmd.Wait)
	}
	ctx, stop := interruptible()
	defer stop()
	cl := client.Client{Name: "bothyd", Role: rpc.RoleAdmin}
	defer func() { _ = cl.Close() }() // all was asked
	switch now, err := cl.Status(ctx); {
	case err != nil:
		return fmt.Errorf("the daemon is to keep the login: %w", err)
	case now.Config != files.Path:
		return sdk.Errorf(sdk.Conflict, "the daemon that runs has another configuration, %s", now.Config)
	}
	done, err := cmd.login(ctx, c, files, files.Config.Plugins[n])
	if ctx.Err() != nil {
		return sdk.Errorf(sdk.Aborted, "the login was given up")
	}
	if err != nil {
		return err
	}
	kept, err := cl.Login(ctx, rpc.KeyLogin{Of: sdk.MCPLogin(cmd.Name), Key: done.Secret, File: cmd.File})
	return report(c, loggedIn{cmd.Name, done.Account, kept.Place, kept.File, kept.Warnings, kept.Problems}, err, printLoggedIn)
}

func printLoggedIn(c *console, l loggedIn) error {
	place := map[string]string{rpc.KeyInFile: l.File, rpc.KeyInMemory: "the daemon, until it ends"}[l.Place]
	_, err := fmt.Fprintf(c.out, "logged in to %s at %s; the login is in %s\n", l.Name, oneLine(l.At), oneLine(cmp.Or(place, "the "+l.Place)))
	for _, text := range slices.Concat(l.Warnings, l.Problems) {
		c.say("%s", oneLine(text))
	}
	return err
}

// loginStep is a line of the plugin's.
type loginStep struct {
	sdk.AuthStep
	Failed string `json:"failed"`
}

// login shows the steps of the plugin until the last.
func (cmd mcpLoginCmd) login(ctx context.Context, c *console, files *inspect.Files, block config.Plugin) (*sdk.AuthDone, error) {
	spec := inspect.SpecOf(files.Config, block)
	manifest, err := files.Inspector.Manifest(ctx, spec)
	if err != nil {
		return nil, err
	}
	settings, _, diags := spec.Decode(manifest.Config)
	if diags.HasErrors() {
		return nil, sdk.Errorf(sdk.Validation, "%s", files.Redact(config.FromHCL(files.Config.Files, diags...).Error()))
	}
	request, err := json.Marshal(map[string]any{"name": cmd.Name, "settings": settings, "scopes": cmd.Scopes, "seconds": int(cmd.Wait / time.Second)})
	if err != nil {
		return nil, err
	}
	plugin := exec.CommandContext(ctx, files.Inspector.PathOf(spec), "login")
	plugin.Cancel = func() error { return plugin.Process.Signal(syscall.SIGTERM) }
	plugin.WaitDelay = 2 * time.Second
	plugin.Stderr = c.err
	typed, err := plugin.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := plugin.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := plugin.Start(); err != nil {
		return nil, err
	}
	defer func() { _ = plugin.Wait() }() // its last step says how it ended
	if _, err := typed.Write(append(request, '\n')); err != nil {
		return nil, err
	}
	if term.IsTerminal(int(os.Stdin.Fd())) {
		go func() { _, _ = io.Copy(typed, c.in) }() // addresses; until this process ends
	}
	for steps := json.NewDecoder(io.LimitReader(out, 1<<20)); ; {
		var s loginStep
		if err := steps.Decode(&s); err != nil {
			return nil, sdk.Errorf(sdk.Internal, "the plugin that logs in ended too early")
		}
		switch {
		case s.Failed != "":
			return nil, &sdk.Error{Outcome: sdk.Unavailable, Message: s.Failed}
		case s.Done != nil:
			return s.Done, nil
		case s.Open != "":
			err = cmd.open(c, s.Open)
		case s.Wait != nil:
			c.say("%s", oneLine(s.Wait.Message))
		}
		if err != nil {
			_ = plugin.Process.Signal(syscall.SIGTERM)
			return nil, err
		}
	}
}

// open shows an address, and the person's browser, if there is one to be shown it.
func (cmd mcpLoginCmd) open(c *console, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return errors.New("the plugin that logs in named an address that no browser opens")
	}
	program := browser(os.Getenv)
	if cmd.NoBrowser || program == "" {
		c.say("open this address in your browser:\n\n  %s\n", oneLine(address))
		return nil
	}
	c.say("log in with your browser, which %s opens; or open this address yourself:\n\n  %s\n", program, oneLine(address))
	show := exec.Command(program, address)
	if err := show.Start(); err != nil {
		c.say("%s does not start: %v", program, err)
		return nil
	}
	go func() { _ = show.Wait() }() // a browser may go on
	return nil
}

// browser is the program that opens addresses; empty where no person would see what it opens.
func browser(env func(string) string) string {
	if named, _, _ := strings.Cut(env("BROWSER"), ":"); named != "" { // the first of a list, as others have it
		return strings.TrimSuffix(strings.TrimSpace(named), " %s")
	}
	switch {
	case runtime.GOOS == "darwin":
		return "open"
	case env("DISPLAY") != "" || env("WAYLAND_DISPLAY") != "":
		return "xdg-open"
	}
	return ""
}
