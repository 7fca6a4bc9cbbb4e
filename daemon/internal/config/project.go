package config

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/bothyd/bothy/sdk"
)

// project reads what the user says of one project, by its root.
func (l *loader) project(b *hcl.Block) {
	root := sdk.WithoutLinks(l.path(b.Labels[0]))
	if b.Labels[0] == "" || !filepath.IsAbs(root) {
		l.reportAt(b.LabelRanges[0], "Wrong value", "A project block is named by the root of the project, such as project \"~/src/shop\".")
		return
	}
	content, diags := b.Body.Content(schemaOf("sandbox"))
	l.report(diags)
	var set Config // some of the attributes of the sandbox block
	for i, block := range content.Blocks {
		if i > 0 {
			l.reportAt(block.DefRange, "Block given twice", "A project has one sandbox block; put both into one.")
			return
		}
		has := func(s setting) bool { return s.tag.Get("project") != "" }
		l.take(&set, "sandbox", l.attributes(block), has, "Unknown attribute", "The sandbox of a project has no attribute %q; it has "+names(has)+".", func(_ setting, a *hcl.Attribute, value any, _ string) error {
			if reflect.ValueOf(value).IsZero() {
				return fmt.Errorf("%s of a project must be above zero; leave it out to have the sandbox block's", a.Name)
			}
			return nil
		})
	}
	if slices.ContainsFunc(l.cfg.Sandbox.Projects, func(other sdk.ProjectSandbox) bool { return other.Root == root }) {
		l.reportAt(b.DefRange, "Block given twice", fmt.Sprintf("There is another project block for %s; put both into one.", root))
		return
	}
	l.cfg.Sandbox.Projects = append(l.cfg.Sandbox.Projects, sdk.ProjectSandbox{Root: root, Set: set.Sandbox})
}
