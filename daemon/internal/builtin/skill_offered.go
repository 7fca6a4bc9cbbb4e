package builtin

import (
	"context"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/skill/offer"
	"github.com/bothyd/bothy/sdk"
)

// elsewhere reports whether a path is none of a skill's name.
func (t skillTurn) elsewhere(path string) bool {
	return !wellFormed(path) && len(t.catalogue.Named(path)) == 0
}

// offered is the name of a skill that lies elsewhere than in a folder of skills, and the tool with the catalogue that has
// it, when a person trusts it as it is.
func (t skillTurn) offered(ctx context.Context, path string) (string, *useSkillTurn, error) {
	o, err := t.take(ctx, path)
	if err == nil {
		err = others(t.turn, o.Name)
	}
	switch {
	case err != nil:
		return "", nil, err
	case !o.Trusted:
		return "", nil, sdk.Errorf(sdk.Permission, "the skill %s of %.200q is not used before a person trusts it as it is (hash %s): ask the person to look at it with `bothy trust %s`, and load it again then; without that, go on without it",
			o.Name, path, o.Hash, o.Name)
	case o.Plugin != "":
		return "", nil, sdk.Errorf(sdk.Validation, "the skill %s of %.200q is executed by a plugin: load it by its name, %s", o.Name, path, o.Name)
	}
	c, err := t.skills.cfg.Catalogue(ctx, t.turn.Project)
	if err != nil {
		return "", nil, err
	}
	found, ok := c.Find(o.Name)
	switch {
	case !ok:
		return "", nil, refusal(c, o.Name)
	case found.Tier != sdk.TierWorkspace:
		return "", nil, sdk.Errorf(sdk.Conflict, "the skill %s of %.200q is not among those of the project yet: load it again", o.Name, path)
	}
	have, err := t.skills.findLoaded(ctx, t.turn, o.Name)
	if err == nil && have.folder != o.Hash {
		return "", nil, sdk.Errorf(sdk.Conflict, "this run has loaded another version of the skill %s, and keeps it: the one of %.200q is for another run", o.Name, path)
	}
	use := *t.useSkillTurn
	l := *use.listed
	l.catalogue, use.listed = c.Only(t.turn.Skills), &l
	return o.Name, &use, nil
}

// take takes what a path or an address names. Of an address that is what a tool fetched into the run, past the guard of
// the web and every rule.
func (t skillTurn) take(ctx context.Context, path string) (offer.Offered, error) {
	offers := t.skills.cfg.Offers
	if offers == nil {
		return offer.Offered{}, sdk.Errorf(sdk.Unavailable, "%.200q is no name of a skill, and none is loaded from elsewhere here", path)
	}
	scheme, _, isAddress := strings.Cut(path, "://")
	switch {
	case !isAddress:
		return offers.Path(ctx, t.turn.Project, path)
	case scheme != "https" && scheme != "http":
		return offer.Offered{}, sdk.Errorf(sdk.Validation, "no skill is loaded from an address like %.200q: it can be one of https:// or http://, a path in the project or a name", path)
	}
	unread := sdk.Errorf(sdk.Unavailable, "%.200q was not read in this run: fetch it with web_fetch (with raw), where that is offered, and load it again then; no archive is loaded from an address", path)
	if t.turn.Run.ID == 0 {
		return offer.Offered{}, unread
	}
	e, err := t.skills.cfg.Entries.Entry(ctx, t.turn.Run.ID, path)
	switch {
	case sdk.OutcomeOf(err) == sdk.NotFound, sdk.OutcomeOf(err) == sdk.Validation, err == nil && e.Writer != sdk.WriterPlugin:
		return offer.Offered{}, unread
	case err != nil:
		return offer.Offered{}, err
	}
	return offers.Text(ctx, t.turn.Project, path, e.Body)
}
