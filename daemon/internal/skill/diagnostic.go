package skill

import "github.com/bothyd/bothy/daemon/internal/frontmatter"

type diagnostic = frontmatter.Diagnostic

// note adds diagnostics, nil ones not; an error means that the document cannot be used.
func (d *Document) note(list ...*diagnostic) {
	for _, x := range list {
		if x != nil {
			d.Diagnostics = append(d.Diagnostics, *x)
			d.Loaded = d.Loaded && !frontmatter.IsError(*x)
		}
	}
}
