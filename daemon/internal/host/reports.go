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
	return slices.ContainsFunc(ds, func(x inspect.Diagnostic) bool { return x.Summary == d.Summary && x.Detail == d.Detail })
}

// mend makes unsaid what was wrong with earlier starts, but for what still is.
func (i *instance) mend(still []inspect.Diagnostic) {
	i.mu.Lock()
	said := i.diagnostics
	i.diagnostics = nil
	for _, d := range said {
		if holds(still, d) {
			i.diagnostics = append(i.diagnostics, d)
		}
	}
	i.mu.Unlock()
	for _, d := range said {
		if !holds(still, d) {
			i.s.cfg.Mended(d)
		}
	}
}

func (i *instance) claimDiagnostics() []inspect.Diagnostic {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.reported = true
	return append([]inspect.Diagnostic(nil), i.diagnostics...)
}

// forget makes what was said of the instance unsaid: its block is another one.
func (i *instance) forget() {
	i.mu.Lock()
	said := i.diagnostics
	i.diagnostics, i.refusal = nil, nil
	i.mu.Unlock()
	for _, d := range said {
		i.s.cfg.Mended(d)
	}
}
