package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/conformance"
)

type pluginsTestCmd struct{ verbs.PluginsTest }

// Run starts the binary as the daemon does. It exits with 1 when the plugin
// fails a check; a warning is no failure.
func (cmd pluginsTestCmd) Run(c *console) error {
	path, err := filepath.Abs(cmd.Path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	var args []string
	var bundle string
	if err == nil && info.IsDir() {
		b, err := inspect.OpenBinary(path)
		if err != nil {
			return sdk.Errorf(sdk.Validation, "%w", err)
		}
		path, args, bundle = b.Program, b.Args, b.Bundle.Name+" "+b.Bundle.Version
		_ = b.Close() // it was only looked at
	}
	switch {
	case err != nil:
		return sdk.Errorf(sdk.NotFound, "the plugin's binary: %w: build it first, or name where it is", err)
	case !info.IsDir() && info.Mode()&0o111 == 0:
		return sdk.Errorf(sdk.Validation, "%s is no program: build the plugin first, and chmod +x a script", cmd.Path)
	case cmd.Settings != "" && !json.Valid([]byte(cmd.Settings)):
		return sdk.Errorf(sdk.Validation, "--settings is no JSON: write an object, as in --settings '{\"base_url\": \"http://127.0.0.1\"}'")
	}
	for _, v := range cmd.Env {
		if name, _, is := strings.Cut(v, "="); !is || name == "" {
			return sdk.Errorf(sdk.Validation, "--env %s: write NAME=VALUE", v)
		}
	}
	seed := rand.Uint64N(1 << 32)
	if cmd.Seed != nil {
		seed = *cmd.Seed
	}
	ctx, stop := interruptible()
	defer stop()
	passed, err := conformance.Write(ctx, conformance.Options{
		Path: path, Args: append(args, cmd.Args...), Env: cmd.Env, Bundle: bundle, Config: json.RawMessage(cmd.Settings), Call: cmd.Call, Seed: seed,
	}, c.out, c.json)
	if err != nil {
		return err
	}
	if !passed {
		return toldError(exitFailed)
	}
	return nil
}
