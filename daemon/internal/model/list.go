package model

import (
	"context"
	"fmt"
	"sync"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// List lists the model blocks of the configuration, then what each provider that
// can be reached offers, and marks the model of a prompt that names none.
// Providers are asked at the same time; one that does not answer is a problem,
// not an error.
func (m *Models) List(ctx context.Context) rpc.Models {
	r := m.onlyLooks()
	var out rpc.Models
	named := r.cfg.Agents["default"].Model
	chosen, chooseErr := r.resolve(ctx, named, true)
	if named != "" && chosen.Instead == "" {
		chosen.Why = "the agent default names it"
	}
	lists, problems := r.listAll(ctx)
	out.Problems = problems
	for _, b := range r.cfg.Models {
		m := rpc.Model{Alias: b.Alias, Actual: b.Name, Provider: b.Provider, ContextLength: b.Context, Fallback: b.Fallback}
		for i, p := range r.cfg.Providers {
			if p.Label == b.Provider {
				x, _ := find(lists[i], b.Name)
				m.Local = isLocal(r.base(p)) && !x.Remote
			}
		}
		out.Models = append(out.Models, m)
	}
	for i, p := range r.cfg.Providers {
		for _, x := range lists[i] {
			out.Models = append(out.Models, rpc.Model{
				Alias: p.Label + "/" + x.Name, Actual: x.Name, Provider: p.Label, ContextLength: x.Context,
				Tools: x.Tools, Local: isLocal(r.base(p)) && !x.Remote,
			})
		}
	}
	if chooseErr != nil {
		out.Problems = append(out.Problems, chooseErr.Error())
		return out
	}
	markDefault(&out, rpc.Model{
		Alias: chosen.Alias, Actual: chosen.Name, Provider: chosen.Provider, ContextLength: chosen.Context, Tools: chosen.Tools,
		Default: true, Why: chosen.Why,
	})
	return out
}

// listAll asks every provider that is worth asking: a local one when something
// listens there, another when its key is known or it needs none.
func (r resolver) listAll(ctx context.Context) ([][]sdk.Model, []string) {
	lists := make([][]sdk.Model, len(r.cfg.Providers))
	failed := make([]error, len(r.cfg.Providers))
	var asked sync.WaitGroup
	for i, p := range r.cfg.Providers {
		base := r.base(p)
		if !p.Enabled || base != "" && !isLocal(base) && r.cfg.KeyPlace(p) == "" {
			continue
		}
		asked.Go(func() {
			if !isLocal(base) || r.answers(ctx, base) {
				lists[i], failed[i] = r.list(ctx, p)
			}
		})
	}
	asked.Wait()
	var problems []string
	for i, err := range failed {
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", r.cfg.Providers[i].Label, err))
		}
	}
	return lists, problems
}

// markDefault marks the chosen model in the list, or puts it first when no
// list named it.
func markDefault(list *rpc.Models, chosen rpc.Model) {
	for i := range list.Models {
		if list.Models[i].Alias == chosen.Alias {
			list.Models[i].Default, list.Models[i].Why = true, chosen.Why
			return
		}
	}
	list.Models = append([]rpc.Model{chosen}, list.Models...)
}
