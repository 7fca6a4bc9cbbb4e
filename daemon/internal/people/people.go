// Package people tells of those whose prompts channels may bring, and writes their person blocks, and of whom and where nothing is
// learned.
package people

import (
	"context"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// People answers clients about those of whom a person block tells, and writes such blocks for them. All fields are
// required.
type People struct {
	Current func() *config.Config
	// Load reads the configuration as its file is now; Reload puts it in force.
	Load   func() (path string, cfg *config.Config, err error)
	Reload func(context.Context) error

	editing sync.Mutex
}

// Person tells of somebody by their sdk.PersonID; false is a stranger.
func (p *People) Person(id string) (sdk.Person, bool) {
	found, known := p.Current().People[id]
	return found, known
}

// List are those of a channel, by ID, or of all where none is named.
func (p *People) List(channel string) []rpc.ListedPerson {
	all := []rpc.ListedPerson{}
	known := p.Current().People
	for _, id := range slices.Sorted(maps.Keys(known)) {
		of, escaped, _ := strings.Cut(id, "/")
		name, err := url.PathUnescape(escaped)
		if err == nil && (channel == "" || of == channel) { // else it is none that sdk.PersonID made
			all = append(all, rpc.ListedPerson{Person: known[id], Channel: of, Called: name})
		}
	}
	return all
}

// Add writes a person block into the user's configuration and puts it in force. One that is there and says the same is
// left as it is.
func (p *People) Add(ctx context.Context, add rpc.PersonAdd) (rpc.PersonAdded, error) {
	p.editing.Lock()
	defer p.editing.Unlock()
	path, cfg, err := p.load()
	if err != nil {
		return rpc.PersonAdded{}, err
	}
	if !slices.ContainsFunc(cfg.Plugins, func(b config.Plugin) bool { return b.Label == add.Channel }) {
		return rpc.PersonAdded{}, sdk.Errorf(sdk.NotFound, "there is no plugin block %q, of whose channel somebody could be; `bothy channels ls` lists them", add.Channel)
	}
	id := sdk.PersonID(add.Channel, add.Person)
	added := rpc.PersonAdded{ID: id, File: path}
	says := sdk.Person{ID: id, Name: add.Name, Agent: add.Agent, Owner: add.Owner, Answers: cfg.People[id].Answers} // which only its file gives
	if cfg.People[id] != says {
		added.Changed = true
		if err := config.AddPerson(path, add.Channel+"/"+add.Person, says); err != nil {
			return rpc.PersonAdded{}, err
		}
	}
	return added, p.Reload(ctx) // also when nothing was written: an editor may have saved just now
}

// Remove takes a person block out of the user's configuration and puts that in force.
func (p *People) Remove(ctx context.Context, ref rpc.PersonRef) (rpc.PersonRemoved, error) {
	p.editing.Lock()
	defer p.editing.Unlock()
	path, _, err := p.load()
	if err != nil {
		return rpc.PersonRemoved{}, err
	}
	label := ref.Channel + "/" + ref.Person
	was, err := config.RemoveBlock(path, "person", label)
	if err == nil && !was {
		err = sdk.Errorf(sdk.NotFound, "%s has no block person %q; `bothy channels ls` lists those that there are", path, label)
	}
	if err != nil {
		return rpc.PersonRemoved{}, err
	}
	return rpc.PersonRemoved{ID: sdk.PersonID(ref.Channel, ref.Person), File: path}, p.Reload(ctx)
}

// memoryPlugin is the label of the block that says of whom and where nothing is learned.
const memoryPlugin = "memory"

// Learning has the block of the memory leave out an owner, an agent or a project, or not any more, and puts that in force.
func (p *People) Learning(ctx context.Context, x rpc.Learning) (rpc.LearningSet, error) {
	if real, err := filepath.EvalSymlinks(x.Folder); err == nil && filepath.IsAbs(x.Folder) { // as the project's runs have it
		x.Folder = real
	}
	name, text, given := "", "", 0
	for attribute, of := range map[string]string{"not_people": x.Owner, "not_agents": x.Agent, "not_projects": x.Folder} {
		if of != "" {
			name, text = attribute, of
			given++
		}
	}
	switch {
	case given != 1:
		return rpc.LearningSet{}, sdk.Errorf(sdk.Validation, "name an owner, an agent or the folder of a project, one of them")
	case x.Folder != "" && !filepath.IsAbs(x.Folder):
		return rpc.LearningSet{}, sdk.Errorf(sdk.Validation, "the folder of a project is an absolute path, not %q", x.Folder)
	}
	p.editing.Lock()
	defer p.editing.Unlock()
	path, _, err := p.load()
	if err != nil {
		return rpc.LearningSet{}, err
	}
	set := rpc.LearningSet{File: path}
	if set.Changed, err = config.SetListed(path, "plugin", memoryPlugin, name, text, !x.Learn); err != nil {
		if sdk.OutcomeOf(err) == sdk.NotFound {
			err = sdk.Errorf(sdk.NotFound, "nothing is learned: %s has no block plugin %q (docs/memory.md says what one has)", path, memoryPlugin)
		}
		return rpc.LearningSet{}, err
	}
	return set, p.Reload(ctx)
}

// load is Load, for what is about to write.
func (p *People) load() (string, *config.Config, error) {
	path, cfg, err := p.Load()
	if err != nil {
		return path, nil, sdk.Errorf(sdk.Validation, "%s cannot be used as it is, so that nothing is written into it; mend this first:\n%w", path, err)
	}
	return path, cfg, nil
}
