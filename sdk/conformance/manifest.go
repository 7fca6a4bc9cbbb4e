package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/wire"
	"github.com/bothyd/bothy/sdk/schema"
	"github.com/bothyd/bothy/sdk/tool"
)

// The kinds of a manifest.
const (
	kindTool     = "tool"
	kindProvider = "provider"
	kindSkill    = "skill"
	kindHook     = "hook"
	kindChannel  = "channel"
	kindAgent    = "agent"
)

var (
	kinds    = []string{kindTool, kindProvider, kindSkill, kindHook, kindChannel, kindAgent}
	features = []string{sdk.FeatureReconfigure, sdk.FeatureRelease}

	// Every plugin has this package in it, and few are tested: what takes time to
	// make waits until it is used.
	pluginName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`) })
	schemeName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9+.-]*$`) })
)

// Manifest says what is wrong with a manifest; nil when nothing is.
func Manifest(m sdk.Manifest) error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !pluginName().MatchString(m.Name) {
		wrong("the name is %q: it must be the NAME of bothy-plugin-NAME, lower case letters, digits, dots and dashes", m.Name)
	}
	if m.Version == "" {
		wrong("there is no version: people cannot tell two builds apart")
	}
	if m.Protocol != wire.Protocol {
		wrong("the protocol is %d, this is %d", m.Protocol, wire.Protocol)
	}
	if len(m.Kinds) == 0 {
		wrong("no kind is declared: there are %v", kinds)
	}
	errs = append(errs, known("kind", m.Kinds, kinds), known("grant", m.Grants, sdk.Grants()))
	for n, name := range m.Requires {
		if name == "" || slices.Contains(m.Requires[:n], name) {
			wrong("requires names %q, which is empty or there twice", name)
		}
	}
	for _, s := range m.Schemes {
		if !schemeName().MatchString(s.Name) {
			wrong("%q is no name of a scheme", s.Name)
		}
	}
	errs = append(errs, projections(m), declaredBy(m), Tools(m.Tools), Agents(m.Agents), Subscriptions(m.Subscriptions), callbacks(m), m.Needs.Check(), config(m.Config))
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, text := range m.AboveBudget() {
		errs = append(errs, Warn("%s", text))
	}
	for _, f := range m.Features {
		if !slices.Contains(features, f) {
			errs = append(errs, Warn("the feature %q is not known here, and is not used; there are %v", f, features))
		}
	}
	return errors.Join(errs...)
}

func known(what string, have, all []string) error {
	for n, x := range have {
		if !slices.Contains(all, x) {
			return fmt.Errorf("there is no %s %q; there are %v", what, x, all)
		}
		if slices.Contains(have[:n], x) {
			return fmt.Errorf("the %s %q is declared twice", what, x)
		}
	}
	return nil
}

// declaredBy finds declarations of kinds that the plugin does not serve.
func declaredBy(m sdk.Manifest) error {
	for kind, count := range map[string]int{kindTool: len(m.Tools), kindSkill: len(m.Skills), kindHook: len(m.Subscriptions), kindAgent: len(m.Agents)} {
		if count > 0 && !slices.Contains(m.Kinds, kind) {
			return fmt.Errorf("something of the kind %s is declared, and the kind is not", kind)
		}
	}
	return nil
}

// callbacks finds calls that no grant allows.
func callbacks(m sdk.Manifest) error {
	var errs []error
	for grant, calls := range map[string][]string{
		sdk.GrantTools: m.Calls.Tools, sdk.GrantEntries: m.Calls.Schemes, sdk.GrantModels: m.Calls.Models, sdk.GrantSecrets: m.Calls.Secrets,
	} {
		if len(calls) > 0 && !slices.Contains(m.Grants, grant) {
			errs = append(errs, fmt.Errorf("calls names %v, and the grant %q is not asked for", calls, grant))
		}
	}
	return errors.Join(errs...)
}

// Tools says what is wrong with the declarations of tools; nil when nothing is.
func Tools(specs []sdk.ToolSpec) error {
	var errs []error
	seen := map[string]bool{}
	for _, s := range specs {
		if !tool.ValidName(s.Name) || seen[s.Name] {
			errs = append(errs, fmt.Errorf("the tool name %q is wrong or declared twice: a name is [a-z][a-z0-9_]{0,63}", s.Name))
		}
		seen[s.Name] = true
		if s.Description == "" {
			errs = append(errs, fmt.Errorf("tool %s has no description: a model cannot choose it", s.Name))
		}
		if s.Annotations.ReadOnly && s.Annotations.Destructive {
			errs = append(errs, fmt.Errorf("tool %s is read-only and destructive at once", s.Name))
		}
		if parsed, err := schemaOf(s); err != nil {
			errs = append(errs, err)
		} else if err := satisfiable(parsed, ""); err != nil {
			errs = append(errs, fmt.Errorf("tool %s: %w", s.Name, err))
		} else if err := s.CheckBody(); err != nil {
			errs = append(errs, fmt.Errorf("tool %s: %w", s.Name, err))
		}
	}
	return errors.Join(errs...)
}

// satisfiable finds bounds of an argument that no value lies between.
func satisfiable(s *jsonschema.Schema, at string) error {
	if s == nil {
		return nil
	}
	var errs []error
	above := func(low, high string, is bool) {
		if is {
			errs = append(errs, fmt.Errorf("property %q: its %s is above its %s, so that no value is taken", at, low, high))
		}
	}
	above("minimum", "maximum", s.Minimum != nil && s.Maximum != nil && *s.Minimum > *s.Maximum)
	above("minLength", "maxLength", s.MinLength != nil && s.MaxLength != nil && *s.MinLength > *s.MaxLength)
	above("minItems", "maxItems", s.MinItems != nil && s.MaxItems != nil && *s.MinItems > *s.MaxItems)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		errs = append(errs, satisfiable(s.Properties[name], strings.TrimPrefix(at+"."+name, ".")))
	}
	return errors.Join(append(errs, satisfiable(s.Items, at+"[]"))...)
}

// schemaOf reads the JSON Schema of a tool's arguments.
func schemaOf(s sdk.ToolSpec) (*jsonschema.Schema, error) {
	if _, err := schema.Compile(s.Parameters); err != nil { // as the daemon does
		return nil, fmt.Errorf("tool %s: the daemon does not take it: %w", s.Name, err)
	}
	var parsed jsonschema.Schema
	if err := json.Unmarshal(s.Parameters, &parsed); err != nil {
		return nil, fmt.Errorf("tool %s: its JSON Schema cannot be read: %w", s.Name, err)
	}
	return &parsed, nil
}

// Subscriptions says what is wrong with the subscriptions of a hook; nil when
// nothing is.
func Subscriptions(subs []sdk.Subscription) error {
	var errs []error
	seen := map[string]bool{}
	for _, s := range subs {
		errs = append(errs, s.Check())
		if seen[s.Name] {
			errs = append(errs, fmt.Errorf("hook %s: it is subscribed to twice", s.Name))
		}
		seen[s.Name] = true
	}
	return errors.Join(errs...)
}

func config(c *sdk.ConfigSchema) error {
	if c == nil {
		return nil
	}
	var errs []error
	seen := map[string]bool{}
	for _, a := range c.Attributes {
		if seen[a.Name] {
			errs = append(errs, fmt.Errorf("the attribute %q is declared twice", a.Name))
		}
		seen[a.Name] = true
		errs = append(errs, a.Check())
	}
	return errors.Join(errs...)
}
