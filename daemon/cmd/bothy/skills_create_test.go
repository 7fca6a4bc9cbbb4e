package main

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk/rpc"
)

func TestSkillsCreate(t *testing.T) {
	b := withSkills(t)
	b.daemon.skills.created = rpc.SkillCreated{Folder: "/h/skills/x", Files: []string{"/h/skills/x/SKILL.md", "/h/skills/x/\x1b"}}
	b.want(t, exitOK, "skills", "create", "x", "-d", "a: b", "--code")
	if got, want := b.daemon.skills.last(), (rpc.SkillCreate{Name: "x", Description: "a: b", Code: true}); got != want {
		t.Errorf("asked for %+v, want %+v", got, want)
	}
	if got, want := b.out.String(), "/h/skills/x/SKILL.md\n/h/skills/x/\\x1b\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	if got := b.err.String(); !strings.Contains(got, "main.go") || strings.Contains(got, "description") {
		t.Errorf("with a description it says %q", got)
	}
	b.want(t, exitOK, "skills", "create", "x")
	if got := b.err.String(); !strings.Contains(got, "write into its description") || strings.Contains(got, "main.go") {
		t.Errorf("without a description it says %q", got)
	}
	b.want(t, exitUsage, "skills", "create")
}
