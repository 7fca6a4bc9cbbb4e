package engine

import "testing"

func TestInProject(t *testing.T) {
	for path, want := range map[string]string{
		"a.txt": "a.txt", "./d//a.txt": "d/a.txt", "/p/d/a.txt": "d/a.txt", "d/../a.txt": "a.txt",
		"": "", ".": "", "/p": "", "../a.txt": "", "/px/a.txt": "", "/skills/x/SKILL.md": "", "d/../../a.txt": "",
	} {
		if got := inProject(path, "/p"); got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
}
