package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/bothyd/bothy/daemon/internal/watch"
)

// evalContext gives the functions of a configuration: env(name[, default]), file(path), which is relative to
// the folder of the user's file and read without its last line end, and secret(name[, default]). Plugin and
// provider blocks are evaluated when their plugin starts, so that a secret is resolved at use.
func evalContext(src Source) *hcl.EvalContext {
	return &hcl.EvalContext{Functions: map[string]function.Function{
		"env": textFunction("env", true, func(name string) (string, error) {
			if v, ok := src.Getenv(name); ok {
				return v, nil
			}
			return "", fmt.Errorf("the environment variable %s is not set; export it before the daemon starts (`bothy stop` ends one that runs), or give a default: env(%q, \"...\")", name, name)
		}),
		"file": textFunction("file", false, func(path string) (string, error) {
			path = Resolve(filepath.Dir(src.Path), path)
			if src.Noted != nil {
				src.Noted(path)
			}
			text, err := watch.ReadRegular(path, MaxFile)
			if err != nil {
				return "", fmt.Errorf("file: %w", err)
			}
			return strings.TrimRight(string(text), "\r\n"), nil
		}),
		"secret": textFunction("secret", true, func(name string) (string, error) {
			v, err := src.Keys.Find(name)
			if err == nil {
				src.Secrets.Name(name, v) // from now on it is redacted wherever the daemon writes
			}
			return v, err
		}),
	}}
}

// textFunction is a function from one text to another. Where that is an error it is the default that it
// was given, if it may be given one: without, an empty value would be found out much later.
func textFunction(name string, defaults bool, do func(string) (string, error)) function.Function {
	spec := function.Spec{
		Params: []function.Parameter{{Name: "name", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if len(args) > 2 {
				return cty.UnknownVal(cty.String), fmt.Errorf("%s takes a name and at most one default", name)
			}
			text, err := do(args[0].AsString())
			switch {
			case err == nil:
				return cty.StringVal(text), nil
			case len(args) == 2:
				return args[1], nil
			}
			return cty.UnknownVal(cty.String), err
		},
	}
	if defaults {
		spec.VarParam = &function.Parameter{Name: "default", Type: cty.String}
	}
	return function.New(&spec)
}

// Resolve makes a path absolute that a person wrote: ~/ is the home, and what is relative is so to folder.
func Resolve(folder, path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// withSecret evaluates as ctx does, but for secret().
func withSecret(ctx *hcl.EvalContext, secret func(name string) (string, error)) *hcl.EvalContext {
	functions := maps.Clone(ctx.Functions)
	functions["secret"] = textFunction("secret", true, secret)
	return &hcl.EvalContext{Functions: functions}
}
