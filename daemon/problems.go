package daemon

import (
	"slices"
	"sync"
)

// problems are the diagnostics that still hold, in the order in which they
// came. Each is about something, by which it is taken back when that is mended.
// The zero value is ready.
type problems struct {
	mu   sync.Mutex
	list []problem
}

type problem struct {
	about   any // comparable
	text    string
	mistake string // where the configuration has a mistake: that in one line
}

func (p *problems) add(x problem) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, x)
}

// mended takes back what was said about something.
func (p *problems) mended(about any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = slices.DeleteFunc(p.list, func(x problem) bool { return x.about == about })
}

// replace says anew what is wrong about something, and returns what of it was
// not said before.
func (p *problems) replace(about any, now []problem) (fresh []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range now {
		now[i].about = about
		if !slices.Contains(p.list, now[i]) {
			fresh = append(fresh, now[i].text)
		}
	}
	p.list = slices.DeleteFunc(p.list, func(x problem) bool { return x.about == about })
	p.list = append(p.list, now...)
	return fresh
}

// mistakes are those of the configuration, and of the own file of one project.
func (p *problems) mistakes(project string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, x := range p.list {
		if of, workspace := x.about.(aboutWorkspace); x.mistake != "" && (!workspace || string(of) == project) {
			out = append(out, x.mistake)
		}
	}
	return out
}

// texts are for people.
func (p *problems) texts() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, x := range p.list {
		out = append(out, x.text)
	}
	return out
}
