package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// withSkills is a daemon with a skill of every status, and one that a stranger
// wrote.
func withSkills(t *testing.T) *bench {
	b := withDaemon(t, nil)
	b.daemon.skills.list = rpc.Skills{
		Skills: []sdk.Skill{
			{Name: "a name", Tier: sdk.TierUser, Status: sdk.SkillEnabled, Description: "Wipes the\x1b[2J\n screen \u202eoff."},
			{Name: "bad", Tier: sdk.TierUser, Status: sdk.SkillBroken, Reason: "its frontmatter does not end"},
			{Name: "explain", Tier: sdk.TierUser, Status: sdk.SkillEnabled, Description: "Explains code.", Stale: true, PeopleOnly: true},
			{Name: "explain", Tier: sdk.TierBundled, Status: sdk.SkillShadowed, Description: "Explains.", Reason: "yours of that name counts"},
			{Name: "off", Tier: sdk.TierBundled, Status: sdk.SkillDisabled, Description: "Does nothing.", Reason: "a skill block says enabled = false"},
			{Name: "theirs", Tier: sdk.TierWorkspace, Status: sdk.SkillUntrusted, Description: "Runs.", Reason: "nobody has trusted it"},
		},
		Folders: []rpc.SkillFolder{
			{Tier: sdk.TierWorkspace, Path: "/p/.bothy/skills", Exists: true, Skills: 1, Watching: "inotify"},
			{Tier: sdk.TierUser, Path: "/h/.agents/skills", Exists: true, Skills: 3, Watching: "polling", Problem: "no inotify watches are left"},
			{Tier: sdk.TierBundled, Path: "/s/skills", Watching: "inotify"},
		},
	}
	b.daemon.skills.info = rpc.SkillInfo{
		Skill: sdk.Skill{
			Name: "explain", Tier: sdk.TierUser, Status: sdk.SkillEnabled, Description: "Explains\n  code.", Path: "/h/explain/SKILL.md", Hash: "abc", Version: "1.0",
			Tags: []string{"a", "b"}, ToolsRequired: []string{"bash"}, Modified: epoch, Repaired: true, Metadata: map[string]any{"x\x1b": map[string]any{"y": 1}}, Extensions: map[string]any{"model": "opus\x07"},
			Diagnostics: []sdk.FileDiagnostic{{Severity: "warning", Code: "x", Line: 3, Column: 2, Message: "a colon", Help: "quote it"}},
		},
		Others: []sdk.Skill{{Name: "explain", Tier: sdk.TierBundled, Status: sdk.SkillShadowed, Path: "/s/explain/SKILL.md"}},
		Files:  []string{"SKILL.md", "scripts/\x1b]0;x.sh"}, More: 7, Body: "Explain it.\x1b[31m\n",
	}
	return b
}

func TestSkillsList(t *testing.T) {
	b := withSkills(t)
	b.want(t, exitOK, "skills")
	b.golden(t, "skills-list")
	if !strings.Contains(b.err.String(), "explain is broken now, and its last good version is used") {
		t.Errorf("said %q", b.err.String())
	}
	b.want(t, exitOK, "skills", "list", "-a")
	b.golden(t, "skills-list-all")
	if p := b.daemon.skills.last().(rpc.SkillQuery); p.Project != b.project || p.Name != "" {
		t.Errorf("asked for %+v", p)
	}
	var found rpc.Skills
	b.want(t, exitOK, "skills", "reload")
	b.golden(t, "skills-list")
	if p := b.daemon.skills.last().(rpc.SkillQuery); p.Project != b.project || !p.Again {
		t.Errorf("asked for %+v", p)
	}
	b.want(t, exitOK, "skills", "list", "--json")
	if err := json.Unmarshal([]byte(b.out.String()), &found); err != nil || len(found.Skills) != 2 || len(found.Folders) != 3 || strings.ContainsRune(b.out.String(), '\x1b') {
		t.Errorf("%v\n%s", err, b.out.String())
	}
	b.want(t, exitOK, "skills", "list", "-a", "--json")
	if err := json.Unmarshal([]byte(b.out.String()), &found); err != nil || len(found.Skills) != 6 {
		t.Errorf("%v\n%s", err, b.out.String())
	}
}

// TestSkillsWithoutAProject: the home directory has those that all share.
func TestSkillsWithoutAProject(t *testing.T) {
	b := withSkills(t)
	b.want(t, exitOK, "-C", "..", "skills")
	if p := b.daemon.skills.last().(rpc.SkillQuery); p.Project != "" {
		t.Errorf("asked for %+v", p)
	}
	b.want(t, exitUsage, "skills", "list", "--project", "nowhere")
	b.daemon.skills.list = rpc.Skills{}
	b.want(t, exitOK, "skills")
	if !strings.Contains(b.err.String(), "skills create") {
		t.Errorf("it does not say what to do: %s", b.err.String())
	}
}

func TestSkillsInfo(t *testing.T) {
	b := withSkills(t)
	b.want(t, exitOK, "skills", "info", "explain")
	b.golden(t, "skills-info")
	b.c.outTTY = true
	b.want(t, exitOK, "skills", "info", "explain", "--body")
	if b.out.String() != "Explain it.\\x1b[31m\n" {
		t.Errorf("a terminal got %q", b.out.String())
	}
	b.c.outTTY = false
	b.want(t, exitFailed, "skills", "info", "nope")
	b.want(t, exitUsage, "skills", "info")
	var info rpc.SkillInfo
	b.want(t, exitOK, "skills", "info", "explain", "--json")
	if err := json.Unmarshal([]byte(b.out.String()), &info); err != nil || info.More != 7 {
		t.Errorf("%v\n%s", err, b.out.String())
	}
}

func TestSkillsSwitch(t *testing.T) {
	b := withSkills(t)
	b.daemon.skills.switched = rpc.SkillSwitched{File: "/h/config.hcl", Changed: true, Note: "it stays with runs that loaded it"}
	b.want(t, exitOK, "skills", "disable", "explain")
	if p := b.daemon.skills.last().(rpc.SkillSwitch); p.Name != "explain" || p.Enabled || p.Project != b.project {
		t.Errorf("asked for %+v", p)
	}
	if b.out.String() != "skill explain is off (wrote /h/config.hcl)\n" || b.err.String() != "it stays with runs that loaded it\n" {
		t.Errorf("%q %q", b.out.String(), b.err.String())
	}
	b.daemon.skills.switched = rpc.SkillSwitched{File: "/h/config.hcl"}
	b.want(t, exitOK, "skills", "enable", "explain")
	if p := b.daemon.skills.last().(rpc.SkillSwitch); !p.Enabled || b.out.String() != "skill explain is on already\n" {
		t.Errorf("%+v %q", p, b.out.String())
	}
	b.want(t, exitOK, "skills", "enable", "explain", "--json")
	if !strings.Contains(b.out.String(), `"changed": false`) {
		t.Errorf("%s", b.out.String())
	}
	b.want(t, exitFailed, "skills", "disable", "nope")
	b.want(t, exitUsage, "skills", "disable")
}

func TestSkillsPaths(t *testing.T) {
	b := withSkills(t)
	b.want(t, exitOK, "skills", "paths")
	b.golden(t, "skills-paths")
	b.want(t, exitOK, "skills", "paths", "--json")
	var folders []rpc.SkillFolder
	if err := json.Unmarshal([]byte(b.out.String()), &folders); err != nil || len(folders) != 3 {
		t.Errorf("%v\n%s", err, b.out.String())
	}
}

// TestSkillNamesComplete: each once, and none that a shell would take apart.
func TestSkillNamesComplete(t *testing.T) {
	b := withSkills(t)
	if got := b.offered(t, "bash", "skills", "info", ""); !slices.Equal(got, []string{"bad", "explain", "off", "theirs"}) {
		t.Errorf("%q", got)
	}
	if got := b.offered(t, "bash", "skills", "dis"); !slices.Equal(got, []string{"disable"}) {
		t.Errorf("%q", got)
	}
}

func TestSkillsMatch(t *testing.T) {
	b := withSkills(t)
	b.want(t, exitOK, "skills", "match", "nothing", "like", "it")
	if b.out.String() != "" || !strings.Contains(b.err.String(), "no skill fits") {
		t.Errorf("without a match it prints %q and %q", b.out.String(), b.err.String())
	}
	b.daemon.skills.matches.Matches = []rpc.SkillMatch{
		{Name: "explain", Description: "Explains\n code.", Tier: sdk.TierUser, Score: 12.34, Terms: []string{"explain", "code"}},
		{Name: "evil\x1b[2J", Description: "Moves the \u202ecursor.", Tier: sdk.TierWorkspace, Score: 0.04},
	}
	b.want(t, exitOK, "skills", "match", "-n", "2", "explain", "this code")
	b.golden(t, "skills-match")
	if p := b.daemon.skills.last().(rpc.SkillMatchQuery); p.Project != b.project || p.Query != "explain this code" || p.Limit != 2 {
		t.Errorf("asked for %+v", p)
	}
	var found rpc.SkillMatches
	b.want(t, exitOK, "skills", "match", "explain", "--json")
	if err := json.Unmarshal([]byte(b.out.String()), &found); err != nil || len(found.Matches) != 2 {
		t.Errorf("%v\n%s", err, b.out.String())
	}
	b.want(t, exitUsage, "skills", "match")
	b.want(t, exitUsage, "skills", "match", " ")
	b.want(t, exitUsage, "skills", "match", "-n", "0", "explain")
}

func TestSkillsExplain(t *testing.T) {
	b := withSkills(t)
	b.daemon.skills.explain = rpc.SkillExplain{
		Name: "explain", Found: true, InPrompt: true, Reasons: []string{"It is in the prompt.", "It comes from \x1b[2J nowhere."}, Shown: "<skill><name>explain</name></skill>",
	}
	b.want(t, exitOK, "skills", "explain", "explain", "-a", "chat", "-m", "fast", "--prompt", "p")
	b.golden(t, "skills-explain")
	if p := b.daemon.skills.last().(rpc.SkillExplainQuery); p != (rpc.SkillExplainQuery{Project: b.project, Name: "explain", Agent: "chat", Model: "fast", Prompt: "p"}) {
		t.Errorf("asked for %+v", p)
	}
	var x rpc.SkillExplain
	b.want(t, exitOK, "skills", "explain", "explain", "--json")
	if err := json.Unmarshal([]byte(b.out.String()), &x); err != nil || !x.InPrompt {
		t.Errorf("%v\n%s", err, b.out.String())
	}
	b.daemon.skills.explain = rpc.SkillExplain{Name: "nope", Reasons: []string{"There is no skill \"nope\"."}}
	b.want(t, exitFailed, "skills", "explain", "nope")
	if !strings.HasPrefix(b.out.String(), "nope is not in the prompt\n  There is no skill") {
		t.Errorf("an unknown name gives %q", b.out.String())
	}
	b.want(t, exitUsage, "skills", "explain")
}

// TestFolderLine: a folder is named once, whether its problem names it or not.
func TestFolderLine(t *testing.T) {
	for problem, want := range map[string]string{
		"no watches are left":                  "/h/skills: no watches are left",
		"cannot look into /h/skills/a: denied": "cannot look into /h/skills/a: denied",
		"":                                     "",
	} {
		if got := folderLine(rpc.SkillFolder{Path: "/h/skills", Problem: problem, Watching: "inotify"}); got != want {
			t.Errorf("%q is told as %q", problem, got)
		}
	}
}
