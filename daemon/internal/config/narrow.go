package config

import (
	"fmt"
	"strconv"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
)

// narrowing is what a workspace's own file may hold.
var narrowing = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "workspace"}, {Type: "guard"}, {Type: "sandbox"}}}

// CheckWorkspace reads .bothy/config.hcl of a project, which can only narrow
// what the user has configured: choose among the agents and models, deny tools,
// lower limits. Anything else is an error, for who wrote the project is not who
// runs it; functions are none, so that the file reads nothing. It has no effect
// yet, which is a warning.
func CheckWorkspace(path string, cfg *Config) Diagnostics {
	l := &loader{src: Source{Path: path, Required: true, Secrets: &Secrets{}}, parser: hclparse.NewParser()}
	l.cfg = &Config{Agents: cfg.Agents, Models: cfg.Models, Providers: cfg.Providers, Context: &hcl.EvalContext{}}
	text, ok := l.userFile()
	if !ok || l.tooDeep(text, path) {
		return l.diags
	}
	f, diags := l.parser.ParseHCL(text, path)
	l.report(diags)
	if diags.HasErrors() {
		return l.diags
	}
	content, diags := f.Body.Content(narrowing)
	for _, d := range diags {
		d.Detail += " The file of a workspace can only narrow: it may have the blocks workspace (agent, model, deny), guard and sandbox, with limits that are lower than yours."
	}
	l.report(diags)
	seen := map[string]bool{}
	for _, b := range content.Blocks {
		switch {
		case seen[b.Type]:
			l.reportAt(b.DefRange, "Block given twice", "Put both into one.")
		case b.Type == "workspace":
			l.workspace(b.Body)
		default:
			l.lower(b, cfg)
		}
		seen[b.Type] = true
		l.noEffect(b.DefRange, b.Type)
	}
	return l.diags
}

// lower checks that each setting of a block is a limit, and below the user's.
func (l *loader) lower(b *hcl.Block, cfg *Config) {
	attrs, diags := b.Body.JustAttributes()
	l.report(diags)
	for _, a := range inOrder(attrs) {
		s, ok := findSetting(b.Type, a.Name)
		if !ok || !s.limits() {
			l.reportAt(a.NameRange, "Not for a workspace to say", fmt.Sprintf("%s.%s is no limit that a workspace could lower.", b.Type, a.Name))
			continue
		}
		v, diags := a.Expr.Value(l.cfg.Context)
		l.report(diags)
		if diags.HasErrors() {
			continue
		}
		text, err := s.text(v)
		if err == nil {
			err = s.below(text, find(cfg, s.key()).text)
		}
		if err != nil {
			l.reportAt(a.Expr.Range(), "Wrong value", err.Error()+".")
		}
	}
}

// limits reports whether less of a setting is never more freedom.
func (s setting) limits() bool {
	switch s.key() {
	case "guard.window_size", "guard.max_cycle_period": // each belongs to another one
		return false
	}
	return s.kind != kindString && s.kind != kindPath && s.kind != kindBool
}

// below reports an error unless one value is at most the other, 0 being no limit.
func (s setting) below(text, most string) error {
	is, err := s.size(text)
	if err != nil {
		return err
	}
	limit, err := s.size(most)
	if err != nil {
		return err
	}
	if limit > 0 && (is == 0 || is > limit) {
		return fmt.Errorf("%s is %s and can only be lowered here; yours is %s", s.key(), text, most)
	}
	return nil
}

// size is a value as a number.
func (s setting) size(text string) (float64, error) {
	v, err := s.read(text)
	switch v := v.(type) {
	case int64:
		return float64(v), err
	case float64:
		return v, err
	case time.Duration:
		return v.Seconds(), err
	}
	if err == nil {
		err = fmt.Errorf("%s is no limit: %s", s.key(), strconv.Quote(text))
	}
	return 0, err
}
