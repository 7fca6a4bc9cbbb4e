package host

import (
	"maps"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/inspect"
)

// Unstartable is in the chain of an error of a call to a plugin that could not
// be started or configured, and is not tried again before a person has changed
// something. The call never reached it.
type Unstartable struct {
	Text string // for people: what Config.Diagnose was told
	why  *inspect.Fault
}

func (u *Unstartable) Error() string { return u.why.Error() }

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// list writes names for a person.
func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
