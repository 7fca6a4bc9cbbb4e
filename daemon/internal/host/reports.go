package host

import (
	"slices"

	"github.com/bothyd/bothy/daemon/internal/inspect"
)

// report keeps diagnostics for Start, or passes them on when Start is over. The
// same one is told once, however often the plugin is started.
func (i *instance) report(ds []inspect.Diagnostic) {
	i.mu.Lock()
	var fresh []inspect.Diagnostic
	for _, d := range ds {
		if !holds(i.diagnostics, d) {
			fresh = append(fresh, d)
			i.diagnostics = append(i.diagnostics, d)
		}
	}
	late := i.reported
	i.mu.Unlock()
	for _, d := range fresh {
		if late {
			i.s.cfg.Diagnose(d)
		}
	}
}

// holds reports whether one of the diagnostics says the same.
func holds(ds []inspect.Diagnostic, d inspect.Diagnostic) bool {
	return slices.ContainsFunc(ds, func(x inspect.Diagnostic) bool { return same(x, d) })
}

func same(a, b inspect.Diagnostic) bool { return a.Summary == b.Summary && a.Detail == b.Detail }

// mend makes unsaid what was wrong with the instance, but for what still is. It
// may be started again then.
func (i *instance) mend(still []inspect.Diagnostic) {
	i.unsay(func(d inspect.Diagnostic) bool { return !holds(still, d) })
}

// unsay takes back what was said of the instance and holds no more.
func (i *instance) unsay(over func(inspect.Diagnostic) bool) {
	i.mu.Lock()
	said := i.diagnostics
	i.diagnostics, i.refusal = nil, nil
	for _, d := range said {
		if !over(d) {
			i.diagnostics = append(i.diagnostics, d)
		}
	}
	i.mu.Unlock()
	for _, d := range said {
		if over(d) {
			i.s.cfg.Mended(d)
		}
	}
}

func (i *instance) claimDiagnostics() []inspect.Diagnostic {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.reported = true
	return slices.Clone(i.diagnostics)
}
