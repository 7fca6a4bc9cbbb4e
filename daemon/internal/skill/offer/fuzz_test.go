package offer

import (
	"path/filepath"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/skill"
)

// FuzzUnzip: whatever an archive holds, what is taken of it stays below its folder and within the limits.
func FuzzUnzip(f *testing.F) {
	for _, name := range []string{"SKILL.md", "a/SKILL.md", "../a", "/a", `a\b`, ""} {
		f.Add([]byte(pack(f, packed{name, text, 0o755}, packed{"b/c", "", 0})))
	}
	f.Fuzz(func(t *testing.T, archive []byte) {
		s := source{at: "x.zip"}
		if s.unzip(t.Context(), archive) != nil {
			return
		}
		var size int64
		for _, p := range s.parts {
			if size += int64(len(p.content)); !filepath.IsLocal(p.path) {
				t.Errorf("it has %q", p.path)
			}
		}
		if size > skill.MaxBytes || len(s.parts) > skill.MaxFiles {
			t.Errorf("it has %d files of %d bytes", len(s.parts), size)
		}
	})
}
