package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bothyd/bothy/sdk/protect"
)

// TestLoggedViolationsOutliveTheirManager: whenever a manager dies over a
// violation, the next one knows of it.
func TestLoggedViolationsOutliveTheirManager(t *testing.T) {
	planted := interrupted{Run: "r", Call: "c", Watch: []watched{{Path: ".bothy", Before: state{Kind: kindAbsent, At: ".bothy"}}}}
	for name, c := range map[string]struct {
		die  func(k *violationGuard, project string) // what the first manager still does
		want string
	}{
		"before it looked": {func(*violationGuard, string) {}, ActionRemoved},
		"before it undid":  {func(k *violationGuard, _ string) { k.violationLog("c").about(".bothy") }, ActionRemoved},
		"before it said so": {func(k *violationGuard, project string) {
			k.violationLog("c").about(".bothy")
			if err := os.RemoveAll(filepath.Join(project, ".bothy")); err != nil {
				t.Fatal(err)
			}
		}, ActionReported},
		"before the end": {func(k *violationGuard, project string) {
			was := planted
			g := &guarded{protection: &protection{project: project, watch: was.Watch}, shared: newProject(protect.Rules{})}
			k.after(g, "c", false)
		}, ActionRemoved},
	} {
		t.Run(name, func(t *testing.T) {
			project, runDir := t.TempDir(), t.TempDir()
			if err := os.Mkdir(filepath.Join(project, ".bothy"), 0o755); err != nil {
				t.Fatal(err)
			}
			was := planted
			was.Project = project
			data, err := json.Marshal(was)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(runDir, interruptedName), data, 0o600); err != nil {
				t.Fatal(err)
			}
			c.die(newViolationGuard(runDir, newProjects(protect.Rules{})), project)
			for range 2 {
				k := newViolationGuard(runDir, newProjects(protect.Rules{}))
				k.recover()
				got := k.loggedViolations("c")
				if len(got) != 1 || got[0].Path != ".bothy" || got[0].Action != c.want {
					t.Fatalf("logged %+v", got)
				}
				if others := k.loggedViolations("other"); len(others) != 0 {
					t.Fatalf("logged for another call: %+v", others)
				}
			}
			if _, err := os.Lstat(filepath.Join(project, ".bothy")); !os.IsNotExist(err) {
				t.Errorf("it is still there: %v", err)
			}
		})
	}
}

func TestViolationLogIsBounded(t *testing.T) {
	k := newViolationGuard(t.TempDir(), newProjects(protect.Rules{}))
	for i := range violationLogCap + 3 {
		if err := k.logViolations(fmt.Sprint(i), []Violation{{Path: "x"}}); err != nil {
			t.Fatal(err)
		}
	}
	if all := k.readViolationLog(); len(all) != violationLogCap || all[0].Call != "3" {
		t.Errorf("logged %+v", all)
	}
	if err := k.logViolations("5", nil); err != nil || len(k.loggedViolations("5")) != 0 || len(k.loggedViolations("6")) != 1 {
		t.Errorf("a call without violations is still logged: %v", err)
	}
	if len(k.loggedViolations("")) != 0 {
		t.Error("commands without a call id have notes")
	}
}
