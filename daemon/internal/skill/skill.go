// Package skill finds SKILL.md folders in three tiers, reads them, follows
// their changes and answers what there is: a Catalogue, which never changes.
//
//	Parse       one file: fences, frontmatter, fields, diagnostics
//	Library     the tiers, scanned and watched; makes catalogues
//	Catalogue   what a project can use, what is hidden and why
//	Match       which skills fit a query
//	Listing     names and descriptions for a prompt, within a budget
//	Pin         a copy of a skill's folder that a run keeps
//
// Nothing here executes anything that a skill brings.
package skill

import (
	"slices"
	"strings"
	"sync"

	"github.com/bothyd/bothy/sdk"
)

// MaxFile is how many bytes of a SKILL.md are read: the largest of 8,400 public files
// has 145 kB.
const MaxFile = 256 << 10

// Document is one SKILL.md, read. It never changes.
type Document struct {
	sdk.SkillDocument      // tier, root, folder, path, status and reason are the library's to fill in
	Loaded            bool // false: it cannot be used, and Diagnostics say why
	Off               bool // its own frontmatter says enabled: false

	of  *Document // as it was found, where this is a catalogue's
	sum folderSum // of a workspace's skill that people answered for
}

// Catalogue is what one project can use at one moment, and what it cannot and
// why. It never changes; the next one takes its place.
type Catalogue struct {
	all    []*Document            // by name, then from the highest tier down
	named  map[string][]*Document // parts of all
	search func() *search         // made when it is first asked for
	listed func() listLines       // what a prompt may list; likewise
}

// NewCatalogue makes a catalogue of documents whose Status is set. Those of one
// name must be in the order of their precedence, the winner first.
func NewCatalogue(documents []*Document) *Catalogue {
	c := &Catalogue{all: slices.Clone(documents), named: make(map[string][]*Document, len(documents))}
	slices.SortStableFunc(c.all, func(a, b *Document) int { return strings.Compare(a.Name, b.Name) })
	for i, d := range c.all {
		n := len(c.named[d.Name])
		c.named[d.Name] = c.all[i-n : i+1]
	}
	c.search = sync.OnceValue(func() *search { return newSearch(c.Usable()) })
	c.listed = sync.OnceValue(c.list)
	return c
}

// Only is the catalogue without the skills of other names. It is a new one each time; nil names are all.
func (c *Catalogue) Only(names []string) *Catalogue {
	if names == nil {
		return c
	}
	return NewCatalogue(slices.DeleteFunc(c.All(), func(d *Document) bool { return !slices.Contains(names, d.Name) }))
}

// All are all documents by name, whatever their status.
func (c *Catalogue) All() []*Document { return slices.Clone(c.all) }

// Usable are the enabled documents by name.
func (c *Catalogue) Usable() []*Document {
	return slices.DeleteFunc(c.All(), func(d *Document) bool { used, _ := c.Find(d.Name); return d != used })
}

// Find returns the enabled document of a name.
func (c *Catalogue) Find(name string) (*Document, bool) {
	for _, d := range c.named[name] {
		if d.Status == sdk.SkillEnabled {
			return d, true
		}
	}
	return nil, false
}

// Named are all documents of a name, the one that counts first.
func (c *Catalogue) Named(name string) []*Document { return slices.Clone(c.named[name]) }
