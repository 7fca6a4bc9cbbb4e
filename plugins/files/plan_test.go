package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestStillIsAskedLast changes the project after the plan was agreed to, as
// somebody would who is quick.
func TestStillIsAskedLast(t *testing.T) {
	ctx := context.Background()
	for name, op := range map[string]struct {
		plan func(p *project) (*plan, error)
		do   func(p *project) error
	}{
		"write": {
			func(p *project) (*plan, error) {
				return p.planWrite(ctx, writeArgs{"d/x", "new"})
			},
			func(p *project) error { _, err := p.write(ctx, writeArgs{"d/x", "new"}); return err },
		},
		"edit": {
			func(p *project) (*plan, error) {
				return p.planEdit(ctx, editArgs{"d/x", "x", "new"})
			},
			func(p *project) error { _, err := p.edit(ctx, editArgs{"d/x", "x", "new"}); return err },
		},
		"delete": {
			func(p *project) (*plan, error) { return p.planDelete(ctx, deleteArgs{"d", true}) },
			func(p *project) error { _, err := p.delete(ctx, deleteArgs{"d", true}); return err },
		},
		"move": {
			func(p *project) (*plan, error) { return p.planMove(ctx, moveArgs{"d", "z", false}) },
			func(p *project) error { _, err := p.move(ctx, moveArgs{"d", "z", false}); return err },
		},
		"move onto": {
			func(p *project) (*plan, error) { return p.planMove(ctx, moveArgs{"none", "d/x", true}) },
			func(p *project) error { _, err := p.move(ctx, moveArgs{"none", "d/x", true}); return err },
		},
		"copy": {
			func(p *project) (*plan, error) { return p.planCopy(ctx, moveArgs{"d", "z", false}) },
			func(p *project) error { _, err := p.copy(ctx, moveArgs{"d", "z", false}); return err },
		},
	} {
		t.Run(name, func(t *testing.T) {
			tp := newProject(t, stagedFiles)
			agreed, err := op.plan(tp.project)
			if err != nil {
				t.Fatal(err)
			}
			if err := tp.agree(agreed, agreed.base()); err != nil {
				t.Fatal(err)
			}
			tp.put("d/x", "x \n")
			tp.unchangedBy(func() { wantOutcome(t, op.do(tp.project), sdk.Conflict, "to the person who agreed") })
			tp.put("d/x", "x\n") // as it was, but touched: the time of a change cannot be set back
			tp.unchangedBy(func() { wantOutcome(t, op.do(tp.project), sdk.Conflict) })
			if agreed, err = op.plan(tp.project); err != nil {
				t.Fatal(err)
			}
			tp.agreed = agreed
			if err := op.do(tp.project); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestStagedIsBounded: what is left out of a difference is said, and all of it
// is bound all the same.
func TestStagedIsBounded(t *testing.T) {
	s := newStaging(t, map[string]string{"big": strings.Repeat("line\n", 100_000)})
	staged, err := s.stage("write_file", object{"path": "big", "content": strings.Repeat("other\n", 100_000)})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(staged.Diff); n < shownPatch/2 || n > shownPatch+1000 || !strings.Contains(staged.Diff, " lines more of this file are not shown\n# not shown: ") || !strings.HasSuffix(staged.Diff, " in the project\n") {
		t.Errorf("%d bytes, ending %q", n, staged.Diff[max(0, n-300):])
	}
	s.put("big", strings.Repeat("line\n", 99_999)+"Line\n")
	if got := s.invoke("write_file", object{"path": "big", "content": strings.Repeat("other\n", 100_000)}, staged.Base); got.Outcome != sdk.Conflict {
		t.Errorf("the end of a file that was not shown: %+v", got)
	}

	huge := filepath.Join(s.dir, "huge")
	if err := os.WriteFile(huge, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, mostHashed+1); err != nil {
		t.Fatal(err)
	}
	if staged, err = s.stage("delete_path", object{"path": "huge"}); err != nil || !strings.Contains(staged.Diff, "# the file a/huge is not shown: 268.4 MB, not read: at most 268.4 MB are read of one call\n") {
		t.Errorf("%q, %v", staged.Diff, err)
	}
	if err := os.Truncate(huge, mostHashed+2); err != nil {
		t.Fatal(err)
	}
	if got := s.invoke("delete_path", object{"path": "huge"}, staged.Base); got.Outcome != sdk.Conflict {
		t.Errorf("a file that was not read: %+v", got)
	}

	for i := range 3000 {
		s.put("many/"+strings.Repeat("f", i%40)+string(rune('a'+i%26))+strings.Repeat("g", i/40), strings.Repeat("z\n", 50))
	}
	if staged, err = s.stage("delete_path", object{"path": "many", "recursive": true}); err != nil {
		t.Fatal(err)
	}
	if n := len(staged.Diff); n > shownPatch+1000 || !strings.Contains(staged.Diff[n-300:], " more files, for this is longer than") {
		t.Errorf("%d bytes, ending %q", n, staged.Diff[max(0, n-300):])
	}
}

// TestStagingAsksTheSystem: nobody is asked about what the system would refuse.
func TestStagingAsksTheSystem(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere; run as somebody else")
	}
	s := newStaging(t, map[string]string{"shut/f": "x\n", "open/f": "x\n"})
	chmod(s, "shut", 0o555)
	t.Cleanup(func() { chmod(s, "shut", 0o755) })
	for _, tt := range []struct {
		tool      string
		arguments object
	}{
		{"write_file", object{"path": "shut/f", "content": "y"}},
		{"write_file", object{"path": "shut/new/f", "content": "y"}},
		{"edit_file", object{"path": "shut/f", "old_text": "x", "new_text": "y"}},
		{"create_directory", object{"path": "shut/new"}},
		{"delete_path", object{"path": "shut/f"}},
		{"move_path", object{"source": "shut/f", "destination": "g"}},
		{"move_path", object{"source": "open/f", "destination": "shut/g"}},
		{"copy_path", object{"source": "open/f", "destination": "shut/g"}},
	} {
		_, err := s.stage(tt.tool, tt.arguments)
		wantOutcome(t, err, sdk.Permission, "does not allow")
	}
}
