package sdktest

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/tool"
)

// strange is a base that no tool gives.
const strange = "no such base"

// stages asks what a call would change, which must change nothing, and makes
// the call as one that agreed to something else. It returns the call as a
// person agreed to it.
func stages(t *testing.T, client *tool.Client, call sdk.Invocation) sdk.Invocation {
	t.Helper()
	before := filesBelow(t, call.Project)
	staged, err := client.Stage(soon(t), call)
	if err != nil {
		t.Errorf("it cannot be said what the call would change: %v", err)
		return call
	}
	if staged.Base == "" {
		t.Error("what the call would change is bound to nothing: the base is empty")
	}
	if !utf8.ValidString(staged.Diff) {
		t.Error("the difference is no UTF-8")
	}
	if again, err := client.Stage(soon(t), call); err != nil || again != staged {
		t.Errorf("asked again, the call would change %+v (%v) and not %+v", again, err, staged)
	}
	call.Base = strange
	if r, err := client.Invoke(soon(t), call, &Recorder{}); err == nil && !r.Success && r.Outcome != sdk.Conflict || err != nil && outcome(err) != sdk.Conflict {
		t.Errorf("a call with a base that is none ended with %+v %v, want outcome conflict", r, err)
	}
	if after := filesBelow(t, call.Project); !maps.Equal(before, after) {
		t.Errorf("asking what the call would change, or a call with a base that is none, made %v of %v", after, before)
	}
	call.Base = staged.Base
	return call
}

// unstaged asks the tools that declare that they cannot say what they would
// change.
func unstaged(t *testing.T, client *tool.Client) {
	t.Helper()
	for _, s := range client.Tools() {
		if s.Staged {
			continue
		}
		if _, err := client.Stage(soon(t), sdk.Invocation{Tool: s.Name, CallID: "stage", Project: t.TempDir()}); outcome(err) != sdk.Unavailable {
			t.Errorf("%s is not declared as staged and answered %v, want outcome unavailable", s.Name, err)
		}
	}
}

// unprepared asks the tools that declare that they make nothing ready.
func unprepared(t *testing.T, client *tool.Client) {
	t.Helper()
	for _, s := range client.Tools() {
		if s.Prepares {
			continue
		}
		if _, err := client.Prepare(soon(t), sdk.Place{Tool: s.Name, Project: t.TempDir(), RunDir: t.TempDir()}); outcome(err) != sdk.Unavailable {
			t.Errorf("%s is not declared as one that prepares and answered %v, want outcome unavailable", s.Name, err)
		}
	}
}

// filesBelow is what a project holds, by path.
func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	if dir == "" {
		return found
	}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		found[name] = info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			var body []byte
			body, err = os.ReadFile(name)
			found[name] += fmt.Sprintf(" %q", body)
		case info.Mode()&fs.ModeSymlink != 0:
			var target string
			target, err = os.Readlink(name)
			found[name] += " -> " + target
		}
		return err
	})
	if err != nil {
		t.Fatalf("look at the project of the call: %v", err)
	}
	return found
}
