package sandbox

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// host makes a small file tree like a distribution's.
func host(t *testing.T, merged bool) string {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"usr/bin", "usr/lib", "etc/alternatives", "etc/ssl/certs", "etc/java-17-openjdk"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "etc/ld.so.cache"), []byte("cache"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bin", "lib"} {
		var err error
		if merged {
			err = os.Symlink("usr/"+name, filepath.Join(root, name))
		} else {
			err = os.Mkdir(filepath.Join(root, name), 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func entries(t *testing.T, data []byte) map[string]*tar.Header {
	t.Helper()
	found := make(map[string]*tar.Header)
	r := tar.NewReader(bytes.NewReader(data))
	for {
		h, err := r.Next()
		if err == io.EOF {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if found[h.Name] != nil {
			t.Errorf("%s is in the image twice", h.Name)
		}
		found[h.Name] = h
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" {
			t.Errorf("%s belongs to %d:%d %q", h.Name, h.Uid, h.Gid, h.Uname)
		}
	}
}

func TestSkeletonFollowsTheHost(t *testing.T) {
	merged, err := makeSkeleton(host(t, true))
	if err != nil {
		t.Fatal(err)
	}
	split, err := makeSkeleton(host(t, false))
	if err != nil {
		t.Fatal(err)
	}
	if merged.tag == split.tag {
		t.Error("two kinds of hosts share an image")
	}
	got := entries(t, merged.tar)
	if h := got["bin"]; h == nil || h.Typeflag != tar.TypeSymlink || h.Linkname != "usr/bin" {
		t.Errorf("bin of a merged host: %+v", h)
	}
	if h := entries(t, split.tar)["bin/"]; h == nil {
		t.Error("a host with its own /bin needs a mount point for it")
	}
	for _, name := range []string{"./", "usr/", "etc/alternatives/", "etc/ssl/certs/", "etc/java-17-openjdk/", "etc/ld.so.cache", "workspace/", "home/bothy/", "skills/", "run/bothy/", "opt/bothy/runner"} {
		h := got[name]
		if h == nil {
			t.Errorf("%s is missing", name)
		} else if h.Typeflag == tar.TypeDir && h.Mode&0o055 != 0o055 {
			t.Errorf("%s has mode %o: nobody but root can enter", name, h.Mode)
		}
	}
	destinations := make(map[string]bool)
	for _, m := range split.mounts {
		destinations[m.Destination] = true
		if !slices.Contains(m.Options, "ro") {
			t.Errorf("%s is mounted writable", m.Destination)
		}
	}
	for _, want := range []string{"/usr", "/bin", "/lib", "/etc/alternatives", "/etc/ld.so.cache", "/etc/java-17-openjdk"} {
		if !destinations[want] {
			t.Errorf("%s is not mounted", want)
		}
	}
	if destinations["/etc/pki"] {
		t.Error("what the host lacks is mounted")
	}
}

func TestSkeletonIsTheSameEveryTime(t *testing.T) {
	root := host(t, true)
	a, err := makeSkeleton(root)
	if err != nil {
		t.Fatal(err)
	}
	b, err := makeSkeleton(root)
	if err != nil {
		t.Fatal(err)
	}
	if a.tag != b.tag || !bytes.Equal(a.tar, b.tar) {
		t.Error("the same host gives two images")
	}
}

func TestIdentityIsGitConfiguration(t *testing.T) {
	for who, want := range map[Identity]string{
		{}:                            "",
		{Name: `a "b" \c`}:            "[user]\n\tname = \"a \\\"b\\\" \\\\c\"\n",
		{Name: "a\nb", Email: "x@y"}:  "[user]\n\temail = \"x@y\"\n",
		{Name: "[core]", Email: "#;"}: "[user]\n\tname = \"[core]\"\n\temail = \"#;\"\n",
	} {
		if got := who.config(); got != want {
			t.Errorf("%+v: got %q, want %q", who, got, want)
		}
	}
}
