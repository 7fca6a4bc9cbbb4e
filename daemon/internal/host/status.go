package host

import "strconv"

// Status is one plugin as people see it.
type Status struct {
	Instance string   `json:"instance"`
	Plugin   string   `json:"plugin"`
	Path     string   `json:"path"`
	Version  string   `json:"version"`
	Kinds    []string `json:"kinds"`
	State    State    `json:"state"`
	PID      int      `json:"pid,omitempty"`
	Restarts int      `json:"restarts"`
	Error    string   `json:"error,omitempty"` // why it is not ready
	Tools    []string `json:"tools,omitempty"`
	RSS      int64    `json:"rss,omitempty"` // bytes; 0 when unknown
	Pinned   bool     `json:"pinned"`
	Detail   string   `json:"detail,omitempty"` // what it says of itself, such as a channel's status
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
		Instance: i.name, Plugin: i.spec.Plugin, Path: i.path, State: i.state,
		Restarts: i.restarts, Error: i.problem, Pinned: i.pinned,
	}
	if i.manifest != nil {
		st.Version, st.Kinds = i.manifest.Version, i.manifest.Kinds
	}
	if i.link != nil {
		st.PID, _ = strconv.Atoi(i.link.proc.ID()) // always a number
		st.RSS = residentMemory(st.PID)
		if said := i.link.detail.Load(); said != nil {
			st.Detail = *said
		}
	}
	return st
}
