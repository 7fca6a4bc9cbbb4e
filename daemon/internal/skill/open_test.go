package skill

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
)

// TestReadRefuses has what is no readable file of a sensible size. None of it
// may be waited for, and none of it may be read whole to find out.
func TestReadRefuses(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	good := "---\nname: a\ndescription: d\n---\n"
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(os.WriteFile(at("good"), []byte(good), 0o600))
	check(syscall.Mkfifo(at("fifo"), 0o600))
	check(os.Symlink("good", at("link")))
	check(os.Symlink("loop", at("loop")))
	check(os.Mkdir(at("folder"), 0o700))
	check(os.WriteFile(at("sparse"), nil, 0o600))
	check(os.Truncate(at("sparse"), 100<<20))
	check(os.WriteFile(at("nul"), []byte(good+"\x00"), 0o600))
	check(os.WriteFile(at("latin1"), []byte(good+"\xe4"), 0o600))
	l, err := net.Listen("unix", at("socket"))
	check(err)
	defer l.Close()
	for _, c := range []struct {
		path string
		want []string
	}{
		{at("good"), nil}, {at("fifo"), []string{"NOT-A-FILE"}}, {at("link"), []string{"LINK"}}, {at("loop"), []string{"LINK"}},
		{at("folder"), []string{"NOT-A-FILE"}}, {at("sparse"), []string{"FILE-TOO-LARGE"}}, {at("socket"), []string{"NOT-A-FILE"}}, {at("missing"), []string{"UNREADABLE"}},
		{"/dev/zero", []string{"NOT-A-FILE"}}, {"/proc/self/mem", []string{"UNREADABLE"}}, {at("nul"), []string{"NUL"}}, {at("latin1"), []string{"ENCODING"}},
		{at("good") + "/SKILL.md", []string{"UNREADABLE"}},
	} {
		d := readFrom(c.path)
		if got := codes(d); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.path, got, c.want)
		}
		checkDocument(t, d)
	}
	if d := readFrom(at("good")); !d.Loaded || d.Name == "" {
		t.Errorf("read as %+v", d)
	}
}

// TestReadGrowing has a file of the kernel, whose size says nothing.
func TestReadGrowing(t *testing.T) {
	if d := readFrom("/proc/self/status"); !slices.Equal(codes(d), []string{"FRONTMATTER-MISSING"}) {
		t.Errorf("codes %v", codes(d))
	}
}

// readFrom reads the SKILL.md at a path.
func readFrom(path string) Document {
	text, fault := frontmatter.Open(path, MaxFile)
	if fault != nil {
		d := Document{}
		d.Name = SafeName("none")
		d.note(fault)
		return d
	}
	return Parse(text, filepath.Base(filepath.Dir(path)))
}
