package answer

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Trust implements server.Skills. With Accept, Follow or Revoke it is the answer of a
// person, and is in force when it returns: the place to ask for the role that
// may approve. A peer that descends from a plugin never comes this far.
func (a *Answers) Trust(ctx context.Context, p rpc.TrustQuery) (rpc.Trust, error) {
	project, err := trustProject(p.Project)
	if err != nil {
		return rpc.Trust{}, err
	}
	switch {
	case p.Instructions && p.Agents:
		return rpc.Trust{}, sdk.Errorf(sdk.Validation, "a question is about instructions or about agents: ask one after the other")
	case p.Instructions:
		return a.trustInstructions(ctx, project, p)
	case p.Agents:
		return a.trustAgents(ctx, project, p)
	}
	if err := a.cfg.Library.Check(ctx, project); err != nil {
		return rpc.Trust{}, err
	}
	switch {
	case p.Follow:
		return rpc.Trust{}, sdk.Errorf(sdk.Validation, "follow is an answer about instructions alone: say that with instructions")
	case p.Revoke && len(p.Accept) > 0:
		return rpc.Trust{}, sdk.Errorf(sdk.Validation, "trust is either given or taken back: name the skills of one of them")
	case p.Revoke:
		err = a.revoke(ctx, project, p.Names)
	case len(p.Accept) > 0:
		err = a.accept(ctx, project, p.Accept)
	}
	if err != nil {
		return rpc.Trust{}, err
	}
	return a.showTrust(ctx, project, p.Names)
}

func trustProject(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", sdk.Errorf(sdk.Validation, "the project must be the absolute path of a directory, not %q", path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", sdk.Errorf(sdk.NotFound, "the project directory cannot be found: %w", err)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", sdk.Errorf(sdk.Validation, "the project %s is not a directory", real)
	}
	return real, nil
}

// accept trusts skills that are still what was shown, all or none.
func (a *Answers) accept(ctx context.Context, project string, shown map[string]string) error {
	catalogue, err := a.cfg.Library.Catalogue(ctx, project)
	if err != nil {
		return err
	}
	said := map[string]*skill.Contents{}
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		c, err := asShown(ctx, catalogue.Named(name), name, shown[name])
		if err != nil {
			return err
		}
		said[name] = &c
	}
	return a.answer(ctx, project, said)
}

// asShown finds the skill of a project whose folder has the hash that was shown.
func asShown(ctx context.Context, named []*skill.Document, name, hash string) (skill.Contents, error) {
	problem := error(notInProject(name))
	for _, d := range named {
		if d.Tier != sdk.TierWorkspace {
			continue
		}
		c, err := wholeSkill(ctx, d)
		switch {
		case err != nil:
			problem = fmt.Errorf("the skill %s cannot be trusted: %w", name, err)
		case c.Hash == hash:
			return c, nil
		default:
			problem = sdk.Errorf(sdk.Conflict, "the skill %s is not what was shown, and nothing is trusted: `bothy trust %s` shows it as it is now", name, name)
		}
	}
	return skill.Contents{}, problem
}

func notInProject(name string) *sdk.Error {
	return sdk.Errorf(sdk.NotFound, "no skill of this project is called %s; `bothy trust` shows what there is", name)
}

// wholeSkill is what a skill's folder holds. Its SKILL.md must be the one that
// was read: that of a version that is broken, or came a moment ago, may ask for
// more than what is shown, and a last good version was perhaps never looked at.
func wholeSkill(ctx context.Context, d *skill.Document) (skill.Contents, error) {
	if !d.Loaded {
		return skill.Contents{}, sdk.Errorf(sdk.Conflict, "it cannot be loaded: %s", d.Reason)
	}
	c, err := skill.ReadContents(ctx, d.Folder, trustedTexts)
	switch {
	case err != nil || c.Hold(d.Skill):
		return c, err
	case d.Stale && len(d.Diagnostics) > 0:
		return c, sdk.Errorf(sdk.Conflict, "its SKILL.md cannot be loaded as it is now: %s", d.Diagnostics[0].Message)
	}
	return c, sdk.Errorf(sdk.Conflict, "its SKILL.md has just changed: try again")
}

func (a *Answers) revoke(ctx context.Context, project string, names []string) error {
	answers, err := a.cfg.Trust.answers(ctx, project, false)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return sdk.Errorf(sdk.Validation, "name the skills that are not to be trusted any more")
	}
	said := map[string]*skill.Contents{}
	for _, name := range names {
		if answers.skills[name].Hash == "" {
			return sdk.Errorf(sdk.NotFound, "the skill %s is not trusted in this project", name)
		}
		said[name] = nil
	}
	return a.answer(ctx, project, said)
}

// answer records what a person said of skills, nil where trust is taken back, and puts
// it in force.
func (a *Answers) answer(ctx context.Context, project string, said map[string]*skill.Contents) error {
	var writes []sdk.Write
	for _, name := range slices.Sorted(maps.Keys(said)) {
		w, err := trustWrite(name, said[name], time.Now())
		if err != nil {
			return err
		}
		writes = append(writes, w)
	}
	if err := a.cfg.Keep(ctx, project, writes...); err != nil {
		return err
	}
	return a.cfg.Library.Check(ctx, project)
}

// allDiffs is how long the differences of one answer are at most: it has to fit into a
// message.
const allDiffs = 512 << 10

// showTrust shows what there is to trust, and what is trusted.
func (a *Answers) showTrust(ctx context.Context, project string, names []string) (rpc.Trust, error) {
	c, err := a.cfg.Library.Catalogue(ctx, project)
	if err != nil {
		return rpc.Trust{}, err
	}
	answers, err := a.cfg.Trust.answers(ctx, project, false)
	if err != nil {
		return rpc.Trust{}, err
	}
	out := rpc.Trust{Project: project, Skills: []rpc.TrustSkill{}, Agents: []rpc.TrustAgent{}}
	out.Instructions = a.showInstructions(project, answers.instructions)
	out.Instructions.Text = "" // the answer has to fit into a message
	left := allDiffs
	if len(names) == 0 {
		if out.Agents, err = a.showAgents(ctx, project, nil, answers.agents, &left); err != nil {
			return out, err
		}
	}
	for _, d := range c.All() {
		if d.Tier != sdk.TierWorkspace || len(names) > 0 && !slices.Contains(names, d.Name) {
			continue
		}
		s := trustSkill(ctx, d, answers.skills[d.Name])
		s.Hides = hides(c, d)
		s.Diff = cutDiff(s.Diff, left, d.Name, "this skill")
		left -= len(s.Diff)
		out.Skills = append(out.Skills, s)
	}
	for _, name := range names {
		if !slices.ContainsFunc(out.Skills, func(s rpc.TrustSkill) bool { return s.Skill.Name == name }) {
			if a, ok := answers.skills[name]; !ok || a.Hash != "" {
				return out, notInProject(name)
			}
		}
	}
	return out, nil
}

// trustSkill is a skill as it would be trusted.
func trustSkill(ctx context.Context, d *skill.Document, answer keptAnswer) rpc.TrustSkill {
	s := rpc.TrustSkill{Skill: d.Skill, Files: []rpc.TrustFile{}}
	c, err := wholeSkill(ctx, d)
	if err != nil {
		s.Problem = err.Error()
		return s
	}
	s.Hash = c.Hash
	s.Trusted = answer.Hash == c.Hash
	if answer.skill.Hash != c.Hash {
		s.Before = answer.skill.Hash
	}
	for _, f := range c.Files {
		s.Warnings = append(s.Warnings, frontmatter.Unseen(f.Path, f.Text)...)
	}
	s.Files, s.Diff = compare(answer.skill.Files, c.Files)
	return s
}

// hides are the tiers in which a skill of the name would not be seen any more.
func hides(c *skill.Catalogue, d *skill.Document) []string {
	var tiers []string
	for _, other := range c.Named(d.Name) {
		if other.Tier != sdk.TierWorkspace && other.Loaded {
			tiers = append(tiers, string(other.Tier))
		}
	}
	return slices.Compact(tiers)
}

// compare tells files from those that were trusted last; nothing trusted is
// nothing at all.
func compare(before []skill.File, now []skill.File) ([]rpc.TrustFile, string) {
	var diff strings.Builder
	was := map[string]skill.File{}
	for _, f := range before {
		was[f.Path] = f
	}
	files := make([]rpc.TrustFile, 0, len(now))
	for _, f := range now {
		x := rpc.TrustFile{Path: f.Path, Size: f.Size, Script: f.Script, Hash: f.Hash}
		old, known := was[f.Path]
		switch {
		case !known && before != nil:
			x.Change = "added"
		case known && (old.Hash != f.Hash || old.Executable != f.Executable):
			x.Change = "changed"
		}
		delete(was, f.Path)
		diff.WriteString(fileDiff(old, f))
		files = append(files, x)
	}
	for _, path := range slices.Sorted(maps.Keys(was)) {
		files = append(files, rpc.TrustFile{Path: path, Size: was[path].Size, Hash: was[path].Hash, Change: "removed"})
		diff.WriteString(fileDiff(was[path], skill.File{}))
	}
	return files, diff.String()
}

// fileDiff tells what became of a file; what was not there, or is not any more, has no
// path.
func fileDiff(before, after skill.File) (text string) {
	from, to := before.Path, after.Path
	if from == to && before.Executable != after.Executable {
		text = fmt.Sprintf("%s can be executed: %t, before: %t\n", to, after.Executable, before.Executable)
	}
	textual := func(f skill.File) bool { return f.Text != "" || f.Size == 0 }
	switch {
	case before.Hash == after.Hash:
		return text
	case textual(before) && textual(after):
		return text + match.DiffFiles(from, to, before.Text, after.Text)
	case to == "":
		return text + fmt.Sprintf("%s is gone (%d bytes)\n", from, before.Size)
	case from == "":
		return text + fmt.Sprintf("%s is new and not shown: no text, or a long one (%d bytes)\n", to, after.Size)
	}
	return text + fmt.Sprintf("%s differs and is not shown: no text, or a long one (%d bytes, before %d)\n", to, after.Size, before.Size)
}

// cutDiff is a difference that fits, and how to see the rest of it.
func cutDiff(diff string, room int, named, what string) string {
	if len(diff) <= room {
		return diff
	}
	cut := strings.LastIndexByte(diff[:max(room, 0)], '\n') + 1
	return diff[:cut] + fmt.Sprintf("(%d bytes more: `bothy trust %s` shows %s alone, and an editor the files)\n", len(diff)-cut, named, what)
}
