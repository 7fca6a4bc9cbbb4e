package store

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// builtinSchemes are the schemes that exist in every store (docs/entries.md,
// Schemes). They cannot be changed.
func builtinSchemes() []sdk.Scheme {
	open := []sdk.Writer{sdk.WriterModel, sdk.WriterPlugin}
	people := append(slices.Clone(open), sdk.WriterClient) // a person corrects what a model keeps
	system := []sdk.Writer{sdk.WriterSystem}
	var all []sdk.Scheme
	add := func(category sdk.Category, writers []sdk.Writer, names ...string) {
		for _, name := range names {
			all = append(all, sdk.Scheme{
				Name: name, Category: category, Scope: "run", WritableBy: writers,
				ModelVisible: category != sdk.CategoryAudit,
			})
		}
	}
	add(sdk.CategoryData, open, "http", "https")
	add(sdk.CategoryData, people, "known")
	add(sdk.CategoryData, system, "sh", "env")    // what a command printed
	add(sdk.CategoryData, system, "skill")        // what a run has loaded: a model follows it, so no plugin may write it
	add(sdk.CategoryData, system, sdk.PlanScheme) // the steps of a plan, which the tool plan and people mark
	add(sdk.CategoryData, system, sdk.SummaryScheme)
	add(sdk.CategoryUnknown, people, "unknown")
	add(sdk.CategoryPrompt, []sdk.Writer{sdk.WriterPlugin}, "prompt")
	add(sdk.CategoryLogging, []sdk.Writer{sdk.WriterSystem, sdk.WriterPlugin, sdk.WriterModel}, "log")
	add(sdk.CategoryLogging, people, "update")
	add(sdk.CategoryLogging, open, "error")
	add(sdk.CategoryAudit, system, "tool", "instructions", "system", "reasoning", "model", "user", "assistant", "content", "change", "image")
	add(sdk.CategoryAudit, system, "run")                                 // of others a verb on it is a call of what it comes to
	add(sdk.CategoryAudit, system, "mode", sdk.SchemeOf(sdk.OldModePath)) // what a run may do without asking
	add(sdk.CategoryAudit, system, "foreign")                             // what it has read that came from outside
	// A file is what the disk says, so nobody writes its entry but who has looked there.
	all = append(all, sdk.Scheme{Name: fileScheme, Category: sdk.CategoryData, Scope: "project", WritableBy: system, ModelVisible: true})
	// What a person said yes to holds for the project, whichever run recorded it, and so does how an agent was.
	for _, name := range []string{"trust", "rule", agentScheme, sdk.SchemeOf(sdk.ToolsTextPath(""))} {
		all = append(all, sdk.Scheme{Name: name, Category: sdk.CategoryAudit, Scope: "project", WritableBy: system})
	}
	return all
}

// registry is the schemes by name. A map in use is never changed; a new one
// takes its place.
type registry map[string]sdk.Scheme

// Scheme returns the registration of a scheme.
func (s *Store) Scheme(name string) (sdk.Scheme, bool) {
	x, ok := (*s.schemes.Load())[name]
	return x, ok
}

// RegisterScheme adds a scheme or renews it. Empty fields take the defaults of
// docs/entries.md: category logging, scope run, writable by model and plugin.
// The schemes that Bothy itself brings belong to nobody else, also as they are, and
// none can change its scope, since its entries would be lost from sight; both are
// refused with Conflict.
func (s *Store) RegisterScheme(ctx context.Context, x sdk.Scheme) error {
	x, err := completeScheme(x)
	if err != nil {
		return err
	}
	s.registering.Lock()
	defer s.registering.Unlock()
	all := *s.schemes.Load()
	switch old, known := all[x.Name]; {
	case !known:
	case slices.ContainsFunc(builtinSchemes(), func(b sdk.Scheme) bool { return b.Name == x.Name }):
		return sdk.Errorf(sdk.Conflict, "the scheme %s:// belongs to Bothy and cannot be registered anew; choose another name", x.Name)
	case reflect.DeepEqual(old, x):
		return nil
	case old.Scope != x.Scope:
		return sdk.Errorf(sdk.Conflict, "the scheme %s:// has the scope %s and cannot change it to %s; choose another name", x.Name, old.Scope, x.Scope)
	}
	writers, err := json.Marshal(x.WritableBy)
	if err != nil {
		return err
	}
	err = s.update(ctx, "registering the scheme "+x.Name, func(t *tx) error {
		return t.exec(`INSERT INTO schemes (name, model_visible, category, scope, writable_by) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET model_visible = excluded.model_visible, category = excluded.category,
			scope = excluded.scope, writable_by = excluded.writable_by`,
			x.Name, x.ModelVisible, string(x.Category), x.Scope, string(writers))
	})
	if err != nil {
		return err
	}
	all = maps.Clone(all)
	all[x.Name] = x
	s.schemes.Store(&all)
	return nil
}

func completeScheme(x sdk.Scheme) (sdk.Scheme, error) {
	if err := checkSchemeName(x.Name); err != nil {
		return x, err
	}
	x.Category, x.Scope = cmp.Or(x.Category, sdk.CategoryLogging), cmp.Or(x.Scope, "run")
	if x.WritableBy == nil {
		x.WritableBy = []sdk.Writer{sdk.WriterModel, sdk.WriterPlugin}
	}
	x.WritableBy = slices.Clone(x.WritableBy)
	if !slices.Contains([]sdk.Category{sdk.CategoryData, sdk.CategoryLogging, sdk.CategoryUnknown, sdk.CategoryPrompt, sdk.CategoryAudit}, x.Category) {
		return x, sdk.Errorf(sdk.Validation, "the scheme %s:// has the category %q; there are data, logging, unknown, prompt and audit", x.Name, x.Category)
	}
	if !slices.Contains([]string{"run", "project", "owner", "global"}, x.Scope) {
		return x, sdk.Errorf(sdk.Validation, "the scheme %s:// has the scope %q; there are run, project, owner and global", x.Name, x.Scope)
	}
	for _, w := range x.WritableBy {
		if !slices.Contains([]sdk.Writer{sdk.WriterSystem, sdk.WriterPlugin, sdk.WriterClient, sdk.WriterModel}, w) {
			return x, sdk.Errorf(sdk.Validation, "the scheme %s:// admits the writer %q; there are system, plugin, client and model", x.Name, w)
		}
	}
	return x, nil
}

// loadSchemes reads what was registered. Of the built-in schemes this version's word
// counts, whatever an older one left in the table.
func (s *Store) loadSchemes(ctx context.Context) error {
	all := registry{}
	err := s.query(ctx, `SELECT name, model_visible, category, scope, writable_by FROM schemes`, nil, func(scan scanner) error {
		var x sdk.Scheme
		var writers []byte
		err := scan(&x.Name, &x.ModelVisible, &x.Category, &x.Scope, &writers)
		if err == nil {
			err = json.Unmarshal(writers, &x.WritableBy)
			all[x.Name] = x
		}
		return err
	})
	for _, x := range builtinSchemes() {
		all[x.Name] = x
	}
	s.schemes.Store(&all)
	if s.Health() != nil {
		return nil
	}
	return explain("reading the schemes", err)
}
