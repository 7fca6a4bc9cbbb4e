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
	about any // comparable
	text  string
}

func (p *problems) add(about any, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, problem{about, text})
}

// mended takes back what was said about something.
func (p *problems) mended(about any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = slices.DeleteFunc(p.list, func(x problem) bool { return x.about == about })
}

// replace says anew what is wrong about something, and returns what of it was
// not said before.
func (p *problems) replace(about any, texts []string) (fresh []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, text := range texts {
		if !slices.Contains(p.list, problem{about, text}) {
			fresh = append(fresh, text)
		}
	}
	p.list = slices.DeleteFunc(p.list, func(x problem) bool { return x.about == about })
	for _, text := range texts {
		p.list = append(p.list, problem{about, text})
	}
	return fresh
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
