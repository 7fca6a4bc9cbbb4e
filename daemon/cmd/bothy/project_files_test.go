package main

import (
	"strings"
	"testing"
)

func TestProjectVerbs(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.detail.root = b.project
	said := func() string { return strings.Join(strings.Fields(b.out.String()), " ") }
	b.want(t, exitOK, "project", "init")
	if got, want := b.out.String(), b.project+": 1234 files, 1 new or changed; there is more than is looked at, or than can be read\n"; got != want {
		t.Errorf("init said %q, want %q", got, want)
	}
	b.want(t, exitOK, "project", "files")
	if got := said(); !strings.HasPrefix(got, "PATH BYTES TOKENS CONSTRAINT CHANGED a.go 2048 512") || !strings.Contains(got, "vendor/b.go") || !strings.Contains(got, "readonly") {
		t.Errorf("files said %q", got)
	}
	b.want(t, exitOK, "project", "constrain")
	if got := said(); !strings.HasPrefix(got, "PATTERN CONSTRAINT SET vendor readonly") {
		t.Errorf("constrain said %q", got)
	}
	b.want(t, exitOK, "project", "constrain", "ignore", "testdata")
	if got := said(); b.daemon.constrained != "testdata ignore" || !strings.HasSuffix(got, "3 files, 2 gone") {
		t.Errorf("constrain set %q and said %q", b.daemon.constrained, got)
	}
	if b.want(t, exitOK, "project", "constrain", "--clear", "testdata"); b.daemon.constrained != "testdata " {
		t.Errorf("clear set %q", b.daemon.constrained)
	}
	for _, args := range [][]string{{"constrain", "ignore"}, {"constrain", "add", "x", "--clear", "y"}, {"files", "-n", "0"}} {
		b.want(t, exitUsage, append([]string{"project"}, args...)...)
	}
}
