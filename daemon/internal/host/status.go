package host

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/process"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Plugins are all configured plugins, in the order of the configuration.
func (s *Supervisor) Plugins() []rpc.Plugin {
	tools := map[string][]string{}
	for _, o := range s.tools().all {
		tools[o.Plugin] = append(tools[o.Plugin], o.Name)
	}
	var out []rpc.Plugin
	for _, i := range s.instances() {
		st := i.status()
		if st.State == Ready {
			st.Error = i.behind()
		}
		st.Tools = tools[st.Instance]
		out = append(out, st)
	}
	return out
}

// State is what an instance is in. It is another text after its process was replaced
// or configured anew; "" when it was never started.
func (s *Supervisor) State(instance string) string {
	i, err := s.instance(instance)
	if err != nil {
		return ""
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return fmt.Sprintf("%s %d %d", i.state, i.restarts, i.generation)
}

// behind says why a plugin that serves does not hear, is not as it is asked for, or could
// not be started again; empty when nothing keeps it from that. Files are read only where they
// do not look as they did at its start.
func (i *instance) behind() string {
	i.mu.Lock()
	spec, deaf, started := i.spec, i.deaf, ""
	if i.link != nil {
		started = i.link.identity
	}
	i.mu.Unlock()
	if deaf != "" {
		return deaf
	}
	if said := i.said[ofBlock].holds(); len(said) > 0 {
		return "it goes on with the block that it had: " + strings.TrimPrefix(said[0].Summary, "plugin "+i.name+": ") + ": " + said[0].Detail
	}
	if spec.Foreign != nil {
		return ""
	}
	b, fail := i.s.inspect.Find(spec)
	if fail == nil {
		looks := b.Identity()
		_ = b.Close() // it was only looked at
		if looks != "" && looks == started {
			return ""
		}
		if b, fail = i.s.inspect.Verified(spec); fail == nil {
			_ = b.Close() // the same
			return ""
		}
	}
	return "it goes on with the file that it was started from, and could not be started again: " + fail.Error()
}

func (i *instance) status() rpc.Plugin {
	i.mu.Lock()
	defer i.mu.Unlock()
	st := rpc.Plugin{
		Instance: i.name, Plugin: i.spec.Plugin, State: i.state,
		Restarts: i.restarts, Error: reason(i.problem), Pinned: i.pin != "", PinnedBy: string(i.pin), Grants: i.spec.Grants,
	}
	if b := i.file; b != nil {
		st.Path, st.Digest, st.Script, st.Origin = filepath.Clean(b.Path), b.Digest, b.Script, b.Origin
	}
	if i.manifest != nil {
		st.Version, st.Kinds = i.manifest.Version, i.manifest.Kinds
	}
	if i.link != nil {
		if i.link.attached {
			st.Origin = "dev"
		}
		st.PID = i.link.proc.PID()
		st.RSS = process.Resident(st.PID)
		st.Confined = held(i.spec.Confine, i.link.lacks)
		in := process.Limited(st.PID)
		st.MemoryLimit, st.FileLimit = in.Memory, in.Files
		if said := i.link.detail.Load(); said != nil {
			st.Detail = *said
		}
	}
	return st
}
