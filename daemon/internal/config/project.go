package config

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/bothyd/bothy/sdk"
)

// project reads what the user says of one project, by its root.
func (l *loader) project(b *hcl.Block) {
	root := sdk.WithoutLinks(l.path(b.Labels[0]))
	if b.Labels[0] == "" || !filepath.IsAbs(root) {
		l.reportAt(b.LabelRanges[0], "Wrong value", "A project block is named by the root of the project, such as project \"~/src/shop\".")
		return
	}
	content, diags := b.Body.Content(schemaOf("sandbox", "tests", "hosts"))
	l.report(diags)
	var set Config // some of the attributes of the sandbox block
	seen := map[string]bool{}
	for _, block := range content.Blocks {
		if seen[block.Type] {
			l.reportAt(block.DefRange, "Block given twice", fmt.Sprintf("A project has one %s block; put both into one.", block.Type))
			return
		}
		if seen[block.Type] = true; block.Type == "tests" {
			l.tests(block.Body.(*hclsyntax.Body), &set.Sandbox.Tests)
			continue
		}
		if block.Type == "hosts" {
			l.openHosts(block.Body.(*hclsyntax.Body), root)
			continue
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

// tests reads how the tests of a project are run.
func (l *loader) tests(body *hclsyntax.Body, tests *sdk.ProjectTests) {
	if !l.decode(body, tests) {
		return
	}
	if strings.TrimSpace(tests.Command) == "" {
		l.wrong(body, "command", "The command of the tests is empty; write the line that runs them, such as \"make check\".")
	}
	if at := tests.JUnit; at != "" && !filepath.IsLocal(at) {
		l.wrong(body, "junit", "The report %q is no path in the project; write it relative to the root, such as \"build/junit.xml\".", at)
	}
}
