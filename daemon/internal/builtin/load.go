package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk"
)

// Mount is where a run's skills are for its commands, and what the paths of
// their files begin with for every tool.
const Mount = "/skills"

// skills loads skills into runs.
type skills struct {
	cfg  Config
	seed maphash.Seed

	// loading orders the loads of one skill into one run. It is held over the
	// copying of its folder.
	loading [32]sync.Mutex

	listed atomic.Pointer[listed] // for the turn before
}

// loaded is a skill as a run has it.
type loaded struct {
	sdk.SkillDocument
	pinned skill.Pinned
	gone   string // why there is no copy of its folder
}

// load gives the run its own copy of a skill's folder, and the entry that holds
// its text, once: what the run has stays as it is. Two loads of one skill at
// the same time are one.
func (s *skills) load(ctx context.Context, p sdk.TurnContext, x resolved) (loaded, error) {
	lock := &s.loading[maphash.String(s.seed, p.RunDir+"\x00"+x.Name)%uint64(len(s.loading))]
	lock.Lock()
	defer lock.Unlock()
	if !x.loaded {
		if have, err := s.findLoaded(ctx, p, x.Name); err == nil {
			x = have
		}
	}
	if x.loaded {
		return s.restore(ctx, p, x), nil
	}
	pinned, err := s.cfg.Copies.Make(ctx, p.Project, x.Skill, p.RunDir, "")
	if err != nil {
		return loaded{}, fmt.Errorf("load the skill %s: %w", x.Name, err)
	}
	attributes, err := json.Marshal(entryAttributes{
		Tier: x.Tier, Hash: x.Hash, FolderHash: pinned.Hash, Path: x.Path, Version: x.Version,
		Plugin: x.Plugin, ToolsRequired: x.ToolsRequired, PeopleOnly: x.PeopleOnly,
	})
	if err != nil {
		return loaded{}, fmt.Errorf("record the skill %s: %w", x.Name, err)
	}
	body := x.Body
	_, err = p.Commit(ctx, sdk.Change{Run: p.Run.ID, Writes: []sdk.Write{{
		Path: entryPath(x.Name), Create: true, Body: &body, Attributes: attributes, Writer: sdk.WriterSystem,
		State: sdk.StateResolved, Loop: p.Loop.ID, Turn: p.Run.Turns,
	}}})
	if err != nil {
		return loaded{}, fmt.Errorf("record the skill %s: %w", x.Name, err)
	}
	return loaded{SkillDocument: x.SkillDocument, pinned: pinned}, nil
}

// restore returns what the run has loaded already. A copy that is not there, since the
// run is a fork or its folder was emptied, is made anew from a folder all of whose
// files are still what was loaded; else the text alone is left.
func (s *skills) restore(ctx context.Context, p sdk.TurnContext, x resolved) loaded {
	if pinned, ok := s.cfg.Copies.Find(ctx, x.Name, p.RunDir, x.folder); ok {
		return loaded{SkillDocument: x.SkillDocument, pinned: pinned}
	}
	c, err := s.cfg.Catalogue(ctx, p.Project)
	if err == nil {
		if now, ok := c.Find(x.Name); ok && now.Hash == x.Hash && x.folder != "" {
			if pinned, err := s.cfg.Copies.Make(ctx, p.Project, now.Skill, p.RunDir, x.folder); err == nil {
				return loaded{SkillDocument: x.SkillDocument, pinned: pinned}
			}
		}
	}
	return loaded{SkillDocument: x.SkillDocument, gone: "its folder changed since this run loaded it, and the copy that the run had is gone"}
}

// at is the folder as tools know it.
func (l loaded) at() string {
	if l.pinned.Folder == "" {
		return ""
	}
	return Mount + "/" + filepath.Base(l.pinned.Folder)
}

// metadataSkill names the skill whose text a result is: such a result is the
// last to be left out of a conversation.
const metadataSkill = "skill"

// metadata is what an action's entry holds of a load.
func (l loaded) metadata() map[string]any {
	return map[string]any{metadataSkill: l.Name, "tier": l.Tier, "hash": l.Hash, "folder": l.at()}
}
