package builtin

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk"
)

// resolved is a skill that may be used: as the run has loaded it, or else as
// the catalogue has it.
type resolved struct {
	sdk.SkillDocument
	loaded bool
	origin string // the scope of its entry, when it is loaded
	folder string // the hash of its folder then
}

// entryAttributes is what the entry of a loaded skill holds beside its text.
type entryAttributes struct {
	Tier          sdk.SkillTier `json:"tier"`
	Hash          string        `json:"hash"`
	FolderHash    string        `json:"folder_hash"`
	Path          string        `json:"path"`
	Version       string        `json:"version,omitempty"`
	Plugin        string        `json:"plugin,omitempty"`
	ToolsRequired []string      `json:"tools_required,omitempty"`
	PeopleOnly    bool          `json:"people_only,omitempty"`
}

func entryPath(name string) string { return "skill://" + name }

// resolve finds a skill. What the run has loaded goes before the catalogue,
// whatever became of the file, but for a skill that is disabled now.
func (s *skills) resolve(ctx context.Context, p sdk.TurnContext, c *skill.Catalogue, name string) (resolved, error) {
	found, ok := c.Find(name)
	if !ok && isDisabled(c.Named(name)) {
		return resolved{}, refusal(c, name)
	}
	have, err := s.findLoaded(ctx, p, name)
	switch {
	case err == nil:
		return have, nil
	case sdk.OutcomeOf(err) != sdk.NotFound:
		return resolved{}, err
	case ok:
		return resolved{SkillDocument: found.SkillDocument}, nil
	default:
		return resolved{}, refusal(c, name)
	}
}

// findLoaded reads what the run has loaded under a name; not_found when nothing.
func (s *skills) findLoaded(ctx context.Context, p sdk.TurnContext, name string) (resolved, error) {
	if p.Run.ID == 0 {
		return resolved{}, sdk.Errorf(sdk.NotFound, "there is no run yet")
	}
	e, err := s.cfg.Entries.Entry(ctx, p.Run.ID, entryPath(name))
	if sdk.OutcomeOf(err) == sdk.Validation {
		return resolved{}, sdk.Errorf(sdk.NotFound, "%.80q cannot be the name of a skill", name)
	}
	if err != nil {
		return resolved{}, err
	}
	var k entryAttributes
	if e.Writer != sdk.WriterSystem || json.Unmarshal(e.Attributes, &k) != nil {
		return resolved{}, sdk.Errorf(sdk.NotFound, "%s holds no skill that was loaded", e.Path)
	}
	return resolved{
		SkillDocument: sdk.SkillDocument{Body: e.Body, Skill: sdk.Skill{
			Name: name, Tier: k.Tier, Hash: k.Hash, Path: k.Path, Version: k.Version, Plugin: k.Plugin,
			ToolsRequired: k.ToolsRequired, PeopleOnly: k.PeopleOnly, Status: sdk.SkillEnabled,
		}},
		loaded: true, origin: e.Scope, folder: k.FolderHash,
	}, nil
}

func isDisabled(named []*skill.Document) bool {
	return slices.ContainsFunc(named, func(x *skill.Document) bool { return x.Status == sdk.SkillDisabled })
}

// refusal says why a name cannot be used, and what to do.
func refusal(c *skill.Catalogue, name string) error {
	named := c.Named(name)
	i := slices.IndexFunc(named, func(x *skill.Document) bool { return x.Status != sdk.SkillShadowed })
	if i < 0 {
		return sdk.Errorf(sdk.NotFound, "there is no skill %.80q%s; `bothy skills list` shows what there is", name, meant(c.Similar(name)))
	}
	x := named[i]
	reason := ""
	if x.Reason != "" {
		reason = " (" + strings.TrimRight(x.Reason, ".") + ")"
	}
	switch x.Status {
	case sdk.SkillDisabled:
		return sdk.Errorf(sdk.Permission, "the skill %s is disabled%s; a person can enable it with `bothy skills enable %s`", name, reason, name)
	case sdk.SkillUntrusted:
		return sdk.Errorf(sdk.Permission, "the skill %s is not used before a person trusts it: %s", name, cmp.Or(x.Reason, "it came with the project, see `bothy trust`"))
	default:
		return sdk.Errorf(sdk.Unavailable, "the skill %s cannot be used%s; `bothy skills info %s` tells more", name, reason, name)
	}
}

func meant(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(names, " or ") + "?"
}
