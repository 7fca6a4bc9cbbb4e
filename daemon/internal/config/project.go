package config

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/bothyd/bothy/sdk"
)

// projectSchema is what a project block of the user's file has. Its label is the
// root of the project.
var projectSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "sandbox"}}}

// project reads what the user says of one project.
func (l *loader) project(b *hcl.Block) {
	root := withoutLinks(filepath.Clean(l.path(b.Labels[0])))
	if b.Labels[0] == "" || !filepath.IsAbs(root) {
		l.reportAt(b.LabelRanges[0], "Wrong value", "A project block is named by the root of the project, such as project \"~/src/shop\".")
		return
	}
	content, diags := b.Body.Content(projectSchema)
	l.report(diags)
	p := sdk.ProjectSandbox{Root: root}
	for i, block := range content.Blocks {
		if i > 0 {
			l.reportAt(block.DefRange, "Block given twice", "A project has one sandbox block; put both into one.")
			return
		}
		p.Set = l.projectSandbox(block)
	}
	if slices.ContainsFunc(l.cfg.Sandbox.Projects, func(other sdk.ProjectSandbox) bool { return other.Root == root }) {
		l.reportAt(b.DefRange, "Block given twice", fmt.Sprintf("There is another project block for %s; put both into one.", root))
		return
	}
	l.cfg.Sandbox.Projects = append(l.cfg.Sandbox.Projects, p)
}

// projectSandbox reads the sandbox block within a project block: some of the
// attributes of the sandbox block.
func (l *loader) projectSandbox(b *hcl.Block) sdk.Sandbox {
	attrs, diags := b.Body.JustAttributes()
	l.report(diags)
	var set Config
	for _, a := range inOrder(attrs) {
		s, ok := findSetting("sandbox", a.Name)
		if !ok || !s.ofProject {
			l.reportAt(a.NameRange, "Unknown attribute", fmt.Sprintf("The sandbox of a project has no attribute %q; it has %s.", a.Name, strings.Join(projectAttributes(), ", ")))
			continue
		}
		v, ok := l.value(a)
		if !ok {
			continue
		}
		value, _, err := s.value(v, l.path)
		if err == nil && reflect.ValueOf(value).IsZero() {
			err = fmt.Errorf("%s of a project must be above zero; leave it out to have the sandbox block's", a.Name)
		}
		if err != nil {
			l.reportAt(a.Expr.Range(), "Wrong value", err.Error()+".")
			continue
		}
		s.set(&set, value)
	}
	return set.Sandbox
}

// projectAttributes are what the sandbox block within a project block may have.
func projectAttributes() (names []string) {
	for _, s := range settings {
		if s.ofProject {
			names = append(names, s.name)
		}
	}
	return names
}
