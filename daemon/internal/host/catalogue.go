package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/callback"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/schema"
	"github.com/bothyd/bothy/sdk/tool"
)

// offered is one tool with what is needed to call it.
type offered struct {
	sdk.Tool
	remote   string // its name in its plugin
	owner    *instance
	schema   *schema.Schema // of its arguments; nil when it is unusable
	unusable error          // why it is disabled
}

// catalogue names all tools at one moment. It is made anew when anything
// changes and never changed itself.
type catalogue struct {
	all     []sdk.Tool // that can be called
	byName  map[string]*offered
	of      []*instance // all, also those that have no tools yet
	strange []inspect.Diagnostic
}

// newCatalogue gives each tool its names: plugin__tool always, the bare name
// to the first plugin that has it, unless it is how another plugin's is called.
func newCatalogue(instances []*instance) *catalogue {
	c := &catalogue{byName: map[string]*offered{}, of: slices.Clone(instances)}
	var usable []*offered
	hidden := map[*offered]bool{}
	for _, i := range instances {
		i.mu.Lock()
		gone, tools := i.gone(), i.tools
		i.mu.Unlock()
		for _, o := range tools {
			if c.enter(o) {
				usable, hidden[o] = append(usable, o), gone
			}
		}
	}
	for _, o := range usable {
		if named := c.add(o); !hidden[o] {
			c.all = append(c.all, named.Tool)
		}
	}
	return c
}

// gone is whether the plugin runs no more. It needs i.mu.
func (i *instance) gone() bool { return i.state == Broken || i.state == Stopped }

// absent are the plugins that run no more, or do not run yet, each with the reason as it is
// now.
func (c *catalogue) absent() (out []string) {
	for _, i := range c.of {
		i.mu.Lock()
		why := i.state
		if i.problem != nil {
			why = i.problem.Error()
		}
		if i.gone() || i.manifest == nil {
			out = append(out, i.name+" ("+why+")")
		}
		i.mu.Unlock()
	}
	return out
}

// offer makes the tools of a manifest ready, once for as long as it holds. What
// was compiled before is not compiled anew.
func (i *instance) offer(m *sdk.Manifest, spec inspect.Spec, pinned bool, digest string, before ...*offered) []*offered {
	tools := make([]*offered, 0, len(m.Tools))
	for _, t := range m.Tools {
		o := &offered{remote: t.Name, owner: i, Tool: sdk.Tool{ToolSpec: t, Plugin: i.name, Pinned: pinned && t.Source == "", Digest: digest, Grants: spec.Grants}}
		was := slices.IndexFunc(before, func(b *offered) bool { return b.remote == o.remote && bytes.Equal(b.Parameters, o.Parameters) })
		if was >= 0 {
			o.schema, o.unusable = before[was].schema, before[was].unusable
		} else {
			o.unusable = o.compile()
		}
		if o.unusable == nil {
			o.unusable = t.CheckBody()
		}
		tools = append(tools, o)
	}
	return tools
}

// alike are the tools that have the bare names of a manifest's: another block of the
// same plugin has the same schemas.
func (c *catalogue) alike(m *sdk.Manifest) []*offered {
	var found []*offered
	for _, t := range m.Tools {
		if o, ok := c.byName[t.Name]; ok {
			found = append(found, o)
		}
	}
	return found
}

// enter takes the full name of a tool, so that no bare one takes it; false when
// the tool cannot be used.
func (c *catalogue) enter(o *offered) bool {
	spec, full := o.owner.current(), o.full()
	if o.unusable != nil {
		c.strange = append(c.strange, spec.Warn(fmt.Sprintf("its tool %q cannot be used", o.remote), o.unusable.Error()+". Its other tools can."))
		return false
	}
	if first, taken := c.byName[full]; taken {
		summary, detail := fmt.Sprintf("it declares the tool %q twice", o.remote), "The first one counts."
		if first.owner != o.owner {
			summary = fmt.Sprintf("its tool %q cannot be used", o.remote)
			detail = fmt.Sprintf("It would be called %s, as %q of plugin %s is. Its other tools can.", full, first.remote, first.owner.name)
		}
		c.strange = append(c.strange, spec.Warn(summary, detail))
		return false
	}
	c.byName[full] = o
	return true
}

// add gives a tool the bare name, if it is free.
func (c *catalogue) add(o *offered) *offered {
	full := o.full()
	if first, taken := c.byName[o.remote]; taken {
		c.strange = append(c.strange, o.owner.current().Warn(fmt.Sprintf("the tool %q is also one of plugin %s", o.remote, first.owner.name),
			fmt.Sprintf("%s was configured first and has the name %s; this one is called %s.", first.owner.name, o.remote, full)))
		renamed := *o
		renamed.Name, renamed.Declared, o = full, o.remote, &renamed
	} else {
		c.byName[o.remote] = o
	}
	c.byName[full] = o
	return o
}

func (o *offered) full() string { return o.owner.name + "__" + o.remote }

// foreign reports whether a tool has the name of one of an MCP server that is not its plugin,
// bare or behind the name of its plugin, which may be mcp.
func (o *offered) foreign() bool {
	if strings.HasPrefix(o.owner.name, sdk.MCPPrefix) {
		return strings.HasPrefix(o.remote, sdk.MCPPrefix) && !strings.HasPrefix(o.remote, o.owner.name+"__")
	}
	return strings.HasPrefix(o.remote, sdk.MCPPrefix) || strings.HasPrefix(o.full(), sdk.MCPPrefix)
}

// compile makes the tool's schema ready.
func (o *offered) compile() (err error) {
	if !tool.ValidName(o.remote) {
		return errors.New("a tool's name is [a-z][a-z0-9_]{0,63}")
	}
	if o.foreign() {
		return errors.New("a name that begins with mcp__ is for the tools of the MCP server that it names")
	}
	o.schema, err = schema.Compile(o.Parameters)
	return err
}

// validate checks a model's arguments against the tool's schema.
func (o *offered) validate(arguments json.RawMessage) (json.RawMessage, error) {
	valid, err := o.schema.Validate(arguments)
	if err != nil {
		return nil, sdk.Errorf(sdk.Validation, "the arguments of %s are refused: %w", o.Name, err)
	}
	return valid, nil
}

// find returns the tool of a name, or an error that names what there is.
func (c *catalogue) find(name string) (*offered, error) {
	if o, ok := c.byName[name]; ok {
		return o, nil
	}
	var names []string
	for _, o := range c.all {
		names = append(names, o.Name)
	}
	text := fmt.Sprintf("there is no tool %q; there are: %s", name, callback.List(names))
	if absent := c.absent(); len(absent) > 0 {
		text += ". Plugins that do not run: " + strings.Join(absent, "; ")
	}
	return nil, &sdk.Error{Outcome: sdk.NotFound, Message: text}
}

// Missing says why a tool is not among Tools that a plugin would have, or may have
// had, which does not run; nil when no such plugin is configured.
func (s *Supervisor) Missing(name string) error {
	c := s.tools()
	if o, known := c.byName[name]; known {
		return o.owner.unready()
	}
	absent := c.absent()
	if len(absent) == 0 {
		return nil
	}
	return sdk.Errorf(sdk.NotFound, "these plugins do not run: %s", strings.Join(absent, "; "))
}

// Tools are all tools that can be called, in the order of the configuration.
// Those of a plugin that crashed stay while it is started again. The list is
// everybody's: nobody may change it.
func (s *Supervisor) Tools() []sdk.Tool { return slices.Clip(s.tools().all) }

func (s *Supervisor) tools() *catalogue {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.catalogue
}

// changed follows a change of a plugin's state or manifest.
func (s *Supervisor) changed() {
	s.clashes.telling.Lock()
	s.mu.Lock()
	s.catalogue = newCatalogue(s.order)
	strange := s.catalogue.strange
	s.mu.Unlock()
	s.clashes.say(&s.cfg, strange...)
	s.clashes.telling.Unlock()
	s.cfg.Changed()
}
