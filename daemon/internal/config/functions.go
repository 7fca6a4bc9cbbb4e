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

// evalContext gives the functions that a configuration may call. Files are
// relative to the folder of the user's file.
func evalContext(src Source) *hcl.EvalContext {
	return &hcl.EvalContext{Functions: map[string]function.Function{
		"env":    envFunction(src.Getenv),
		"file":   fileFunction(filepath.Dir(src.Path), src.Noted),
		"secret": secretFunction(src.keys(), src.Secrets),
	}}
}

// envFunction is env(name[, default]): a variable that is missing without a
// default is an error, for an empty value would be found out much later.
func envFunction(getenv func(string) (string, bool)) function.Function {
	return function.New(&function.Spec{
		Params:   []function.Parameter{{Name: "name", Type: cty.String}},
		VarParam: &function.Parameter{Name: "default", Type: cty.String},
		Type:     function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if len(args) > 2 {
				return cty.UnknownVal(cty.String), fmt.Errorf("env takes a name and at most one default")
			}
			name := args[0].AsString()
			if v, ok := getenv(name); ok {
				return cty.StringVal(v), nil
			}
			if len(args) == 2 {
				return args[1], nil
			}
			return cty.UnknownVal(cty.String), fmt.Errorf("the environment variable %s is not set; export it before the daemon starts (`bothy stop` ends one that runs), or give a default: env(%q, \"...\")", name, name)
		},
	})
}

// fileFunction is file(path): the text of a file without its last line end.
// noted hears of each file that is asked for, there or not.
func fileFunction(folder string, noted func(path string)) function.Function {
	return textFunction("path", func(path string) (string, error) {
		path = Resolve(folder, path)
		if noted != nil {
			noted(path)
		}
		text, err := watch.ReadRegular(path, MaxFile)
		if err != nil {
			return "", fmt.Errorf("file: %w", err)
		}
		return strings.TrimRight(string(text), "\r\n"), nil
	})
}

// textFunction is a function from one text to another.
func textFunction(parameter string, do func(string) (string, error)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: parameter, Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			text, err := do(args[0].AsString())
			if err != nil {
				return cty.UnknownVal(cty.String), err
			}
			return cty.StringVal(text), nil
		},
	})
}

// Resolve makes a path absolute that a person wrote: ~/ is the home, and what is
// relative is so to folder.
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

// secretFunction is secret(name[, default]): a key that from then on is redacted
// wherever the daemon writes. Plugin and provider blocks are evaluated when their
// plugin starts, so it is resolved at use.
func secretFunction(keys Keys, secrets Registry) function.Function {
	return secretOr(func(name string) (string, error) {
		v, err := keys.Find(name)
		if err != nil {
			return "", err
		}
		secrets.Add(v)
		return v, nil
	})
}

// secretOr is secret() that finds values by do. One that is not found is the default,
// where there is one: a server that needs no key may be given it.
func secretOr(do func(name string) (string, error)) function.Function {
	return function.New(&function.Spec{
		Params:   []function.Parameter{{Name: "name", Type: cty.String}},
		VarParam: &function.Parameter{Name: "default", Type: cty.String},
		Type:     function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if len(args) > 2 {
				return cty.UnknownVal(cty.String), fmt.Errorf("secret takes a name and at most one default")
			}
			text, err := do(args[0].AsString())
			switch {
			case err != nil && len(args) == 2:
				return args[1], nil
			case err != nil:
				return cty.UnknownVal(cty.String), err
			}
			return cty.StringVal(text), nil
		},
	})
}

// withSecret evaluates as ctx does, but for secret().
func withSecret(ctx *hcl.EvalContext, secret func(name string) (string, error)) *hcl.EvalContext {
	functions := maps.Clone(ctx.Functions)
	functions["secret"] = secretOr(secret)
	return &hcl.EvalContext{Functions: functions}
}
