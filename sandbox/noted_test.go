package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestNotedViolationsOutliveTheirManager: whenever a manager dies over a
// violation, the next one knows of it.
func TestNotedViolationsOutliveTheirManager(t *testing.T) {
	planted := interrupted{Run: "r", Call: "c", Watch: []watched{{Path: ".bothy", Before: state{Kind: kindAbsent, At: ".bothy"}}}}
	for name, c := range map[string]struct {
		die  func(k *keeper, project string) // what the first manager still does
		want string
	}{
		"before it looked": {func(*keeper, string) {}, ActionRemoved},
		"before it undid":  {func(k *keeper, _ string) { k.notes("c").about(".bothy") }, ActionRemoved},
		"before it said so": {func(k *keeper, project string) {
			k.notes("c").about(".bothy")
			if err := os.RemoveAll(filepath.Join(project, ".bothy")); err != nil {
				t.Fatal(err)
			}
		}, ActionReported},
		"before the end": {func(k *keeper, project string) {
			was := planted
			g := &guarded{protection: &protection{project: project, watch: was.Watch}, shared: newProject()}
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
			c.die(newKeeper(runDir, nil, newProjects(nil)), project)
			for range 2 {
				k := newKeeper(runDir, nil, newProjects(nil))
				k.recover()
				got := k.noted("c")
				if len(got) != 1 || got[0].Path != ".bothy" || got[0].Action != c.want {
					t.Fatalf("noted %+v", got)
				}
				if others := k.noted("other"); len(others) != 0 {
					t.Fatalf("noted for another call: %+v", others)
				}
			}
			if _, err := os.Lstat(filepath.Join(project, ".bothy")); !os.IsNotExist(err) {
				t.Errorf("it is still there: %v", err)
			}
		})
	}
}

func TestNotedIsBounded(t *testing.T) {
	k := newKeeper(t.TempDir(), nil, newProjects(nil))
	for i := range notedCalls + 3 {
		if err := k.note(fmt.Sprint(i), []Violation{{Path: "x"}}); err != nil {
			t.Fatal(err)
		}
	}
	if all := k.allNoted(); len(all) != notedCalls || all[0].Call != "3" {
		t.Errorf("noted %+v", all)
	}
	if err := k.note("5", nil); err != nil || len(k.noted("5")) != 0 || len(k.noted("6")) != 1 {
		t.Errorf("a call without violations is still noted: %v", err)
	}
	if len(k.noted("")) != 0 {
		t.Error("commands without a call id have notes")
	}
}
