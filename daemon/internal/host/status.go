package host

import (
	"path/filepath"
	"strconv"

	"github.com/bothyd/bothy/daemon/internal/inspect"
)

// Status is one plugin as people see it.
type Status struct {
	Instance string      `json:"instance"`
	Plugin   string      `json:"plugin"`
	Path     string      `json:"path"`
	Version  string      `json:"version"`
	Kinds    []string    `json:"kinds"`
	State    State       `json:"state"`
	PID      int         `json:"pid,omitempty"`
	Restarts int         `json:"restarts"`
	Error    string      `json:"error,omitempty"` // why it is not ready
	Tools    []string    `json:"tools,omitempty"`
	RSS      int64       `json:"rss,omitempty"`    // bytes; 0 when unknown
	Pin      inspect.Pin `json:"pin,omitempty"`    // what vouches for its digest
	Digest   string      `json:"digest,omitempty"` // hex SHA-256 of what runs, or would
	Script   bool        `json:"script,omitempty"` // the digest covers the script alone
	Origin   string      `json:"origin,omitempty"` // "bundled", "store", "path" or "dev"
	Grants   []string    `json:"grants,omitempty"`

	Confined    string `json:"confined,omitempty"`     // what the kernel holds it to, for people; empty: nothing
	MemoryLimit int64  `json:"memory_limit,omitempty"` // bytes of data that its process may allocate; 0 is none
	FileLimit   int64  `json:"file_limit,omitempty"`   // files that its process may have open
	Detail      string `json:"detail,omitempty"`       // what it says of itself, such as a channel's status
}

// Plugins are all configured plugins, in the order of the configuration.
func (s *Supervisor) Plugins() []Status {
	tools := map[string][]string{}
	for _, o := range s.tools().tools {
		tools[o.Plugin] = append(tools[o.Plugin], o.Name)
	}
	var out []Status
	for _, i := range s.instances() {
		st := i.status()
		st.Tools = tools[st.Instance]
		out = append(out, st)
	}
	return out
}

func (i *instance) status() Status {
	i.mu.Lock()
	defer i.mu.Unlock()
	st := Status{
		Instance: i.name, Plugin: i.spec.Plugin, State: i.state,
		Restarts: i.restarts, Error: i.problem, Pin: i.pin, Grants: i.spec.Grants,
	}
	if b := i.file; b != nil {
		st.Path, st.Digest, st.Script, st.Origin = filepath.Clean(b.Path), b.Digest, b.Script, i.origin()
	}
	if i.manifest != nil {
		st.Version, st.Kinds = i.manifest.Version, i.manifest.Kinds
	}
	if i.link != nil {
		st.PID, _ = strconv.Atoi(i.link.proc.ID()) // always a number
		st.RSS = residentMemory(st.PID)
		st.Confined = i.link.confined
		in := limited(st.PID)
		st.MemoryLimit, st.FileLimit = in.Memory, in.Files
		if said := i.link.detail.Load(); said != nil {
			st.Detail = *said
		}
	}
	return st
}
