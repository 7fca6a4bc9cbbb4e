package answer

import (
	"context"

	"github.com/bothyd/bothy/daemon/internal/skill"
)

// Known reports which names are those of skills of a project, usable or not. Where the skills cannot be read nobody is told
// that one is missing.
func Known(l *skill.Library) func(project string) func(name string) bool {
	return func(project string) func(string) bool {
		c, err := l.Catalogue(context.Background(), project)
		return func(name string) bool { return err != nil || len(c.Named(name)) > 0 }
	}
}
