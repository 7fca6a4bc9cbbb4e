package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// blockTypes are the blocks of a file, and labelledTypes those that have a label.
var (
	blockTypes    = []string{"agent", "context", "guard", "hosts", "listen", "log", "mcp", "model", "person", "plugin", "policy", "project", "protect", "provider", "rule", "sandbox", "skill", "skills", "stop", "store", "team", "workspace"}
	labelledTypes = []string{"plugin", "provider", "mcp", "model", "agent", "team", "skill", "rule", "project", "person"}
)

func schemaOf(types ...string) *hcl.BodySchema {
	schema := &hcl.BodySchema{}
	for _, t := range types {
		header := hcl.BlockHeaderSchema{Type: t}
		if slices.Contains(labelledTypes, t) {
			header.LabelNames = []string{"name"}
		}
		schema.Blocks = append(schema.Blocks, header)
	}
	return schema
}

// block is one that was kept until all files are read: those of later files are over it.
type block struct {
	label string // empty for a block without one
	body  *hclsyntax.Body
	at    hcl.Range
}

var labelPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// labelMistake is what is wrong with the label of a block, or empty.
func labelMistake(kind, label string) string {
	switch {
	case kind == "project": // it is a path
	case kind == "person":
		return personMistake(label)
	case kind == "skill":
		return SkillNameMistake(label)
	case kind == "mcp" && (len(label) > 32 || !mcpLabel.MatchString(label)): // a tool's name has 64, of which half is the tool's
		return "The name of an mcp block has at most 32 of a-z and 0-9, with a single _ between them, since it is part of the names of the server's tools: mcp__NAME__TOOL."
	case !labelPattern.MatchString(label):
		return fmt.Sprintf("The name of a %s is made of a-z, 0-9, dot, dash and underscore, at most 64 of them, a letter or digit first.", kind)
	}
	return ""
}

// file adds one file: settings take effect at once, all other blocks are kept until all files are read.
func (l *loader) file(text []byte, name string) {
	l.blocks(text, name, schemaOf(blockTypes...), "At the top of a file there are the blocks "+strings.Join(blockTypes, ", ")+".", func(b *hcl.Block, twice bool) {
		switch {
		case twice:
			return
		case b.Type == "project":
			l.project(b)
		case len(b.Labels) == 0 && b.Type != "workspace" && b.Type != "hosts":
			l.settings(b)
		}
		l.keep(b)
	})
}

// blocks gives do the blocks of a file as they stand in it, and reports false for one that cannot be
// parsed. What schema does not have is a mistake, to which teach adds what there is.
func (l *loader) blocks(text []byte, name string, schema *hcl.BodySchema, teach string, do func(b *hcl.Block, twice bool)) bool {
	f := l.parse(text, name)
	if f == nil {
		return false
	}
	content, diags := f.Body.Content(schema)
	for _, d := range diags {
		if strings.HasPrefix(d.Summary, "Unsupported") {
			d.Detail += " " + teach
		}
	}
	l.report(diags)
	lines := map[string]int{}
	for _, b := range content.Blocks {
		key := strings.TrimSpace(b.Type + " " + strings.Join(b.Labels, " "))
		line, twice := lines[key]
		if twice {
			l.reportAt(b.DefRange, "Block given twice", fmt.Sprintf("This %s block stands on line %d already; put both into one.", key, line))
		} else {
			lines[key] = b.DefRange.Start.Line
		}
		do(b, twice)
	}
	return true
}

// parse reads the syntax of a file. It is nil when that has a mistake.
func (l *loader) parse(text []byte, name string) *hcl.File {
	if l.tooDeep(text, name) {
		return nil
	}
	f, diags := l.parser.ParseHCL(text, name)
	if l.report(diags); diags.HasErrors() {
		return nil
	}
	return f
}

// settings applies a block without a label.
func (l *loader) settings(b *hcl.Block) {
	has := func(s setting) bool { return s.block == b.Type }
	attrs := l.attributes(b)
	l.take(l.cfg, b.Type, attrs, has, "Unknown attribute", b.Type+" has no attribute %q; it has "+names(has)+".", func(s setting, a *hcl.Attribute, _ any, text string) error {
		v := &l.cfg.Values[s.at]
		v.text, v.Source, v.place, v.unsaid = text, placeOf(a.NameRange), a.NameRange, a.NameRange.Filename == l.src.DefaultsName
		return nil
	})
	if b.Type == contextBlock {
		l.shares(l.cfg.Use, attrs)
	}
}

// attributes are those of a block that has no blocks inside.
func (l *loader) attributes(b *hcl.Block) hcl.Attributes {
	attrs, diags := b.Body.JustAttributes()
	l.report(diags)
	return attrs
}

// take sets in a configuration what attributes say as the settings of a block, in the order of the file,
// unless may, which may be nil, has an error. What has has not is reported by a summary and a detail with
// the name in it. It returns false when a value that belongs there could not be taken.
func (l *loader) take(into *Config, block string, attrs hcl.Attributes, has func(setting) bool, summary, detail string, may func(s setting, a *hcl.Attribute, value any, text string) error) bool {
	all := true
	for _, a := range slices.SortedFunc(maps.Values(attrs), func(a, b *hcl.Attribute) int { return a.Range.Start.Byte - b.Range.Start.Byte }) {
		s := findSetting(block, a.Name)
		if !has(s) {
			l.reportAt(a.NameRange, summary, fmt.Sprintf(detail, a.Name))
			continue
		}
		v, diags := a.Expr.Value(l.cfg.Context)
		if l.report(diags); diags.HasErrors() {
			all = false
			continue
		}
		text, err := s.text(v)
		if err == nil && s.kind == kindPath {
			text = l.path(text)
		}
		var value any
		if err == nil {
			value, err = s.read(text)
		}
		if err == nil && may != nil {
			err = may(s, a, value, text)
		}
		if err != nil {
			l.reportAt(a.Expr.Range(), "Wrong value", err.Error()+".")
			all = false
			continue
		}
		s.set(into, value)
	}
	return all
}

// path is Resolve of a path of a file, from the folder of the user's file; empty stays empty.
func (l *loader) path(text string) string {
	if text == "" {
		return ""
	}
	return Resolve(filepath.Dir(l.src.Path), text)
}

// keep stores a block, over an earlier one of the same label.
func (l *loader) keep(b *hcl.Block) {
	kept := &block{strings.Join(b.Labels, ""), b.Body.(*hclsyntax.Body), b.DefRange} // no other syntax is read
	if why := labelMistake(b.Type, kept.label); why != "" && len(b.Labels) > 0 {
		l.reportAt(b.LabelRanges[0], "Unusable name", why)
		return
	}
	list := l.kept[b.Type]
	if i := slices.IndexFunc(list, func(lower *block) bool { return lower.label == kept.label }); i >= 0 {
		kept.body, list[i] = over(kept.body, list[i].body), kept
	} else {
		l.kept[b.Type] = append(list, kept)
	}
}

// over is a body over another: of each attribute, and of the blocks of each type, the upper one's count.
func over(upper, lower *hclsyntax.Body) *hclsyntax.Body {
	both := *upper
	both.Attributes = maps.Clone(lower.Attributes)
	maps.Copy(both.Attributes, upper.Attributes)
	for _, b := range lower.Blocks {
		if inner(upper, b.Type) == nil {
			both.Blocks = append(slices.Clip(both.Blocks), b)
		}
	}
	return &both
}

// inner is the body of the first block of a type within another, or nil.
func inner(body *hclsyntax.Body, kind string) *hclsyntax.Body {
	for _, b := range body.Blocks {
		if b.Type == kind {
			return b.Body
		}
	}
	return nil
}

// names are the attributes of some settings, for people.
func names(of func(setting) bool) string {
	var out []string
	for _, s := range settings {
		if of(s) {
			out = append(out, s.name)
		}
	}
	return strings.Join(out, ", ")
}

// placeOf is where something stands, for people.
func placeOf(r hcl.Range) string { return fmt.Sprintf("%s:%d", r.Filename, r.Start.Line) }

// The parser of HCL calls itself for each bracket and each prefix operator that
// is open, and a stack that is exhausted ends the process.
const (
	deepest       = 100
	mostOperators = 10_000 // of those that nest without a bracket, in one file
)

// tooDeep reports a file that is nested deeper than a person would write.
func (l *loader) tooDeep(text []byte, name string) bool {
	tokens, _ := hclsyntax.LexConfig(text, name, hcl.InitialPos) // the parser reports what is wrong with them
	depth, operators := 0, 0
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen,
			hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen,
			hclsyntax.TokenTemplateSeqEnd, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
			depth--
		case hclsyntax.TokenBang, hclsyntax.TokenMinus, hclsyntax.TokenQuestion:
			operators++
		}
		if depth > deepest || operators > mostOperators {
			l.fail("The configuration is nested too deeply", fmt.Sprintf("%s:%d has more than %d open brackets, or the file more than %d operators; a configuration like that is a mistake.", name, t.Range.Start.Line, deepest, mostOperators))
			return true
		}
	}
	return false
}
