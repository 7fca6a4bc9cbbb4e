package confine

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestLinkedCertificates: what the system's certificates lead to is known, also where that is
// in a folder by another link, as /etc/static is.
func TestLinkedCertificates(t *testing.T) {
	folder := t.TempDir()
	for name, target := range map[string]string{"a.pem": "/etc/static/ssl/certs/a.pem", "b.pem": "../b.pem", "c.0": "a.pem", "d.pem": "/usr/share/d.pem"} {
		if err := os.Symlink(target, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := linked(folder), []string{"/etc/static/ssl/certs/a.pem", filepath.Join(filepath.Dir(folder), "b.pem")}; !slices.Equal(got, want) {
		t.Errorf("they lead to %q, want %q", got, want)
	}
	if got := linked(filepath.Join(folder, "nothing")); len(got) != 0 {
		t.Errorf("a folder that is not there has %q", got)
	}
}

// TestCertificates: a block's variables come before the daemon's own, and what is not
// there, or no path, is left out.
func TestCertificates(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"own", "block"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("SSL_CERT_DIR", filepath.Join(dir, "own"))
	t.Setenv("SSL_CERT_FILE", "relative.pem")
	for name, c := range map[string]struct {
		env  map[string]string
		want string
		not  string
	}{
		"the daemon's": {nil, "own", "block"},
		"the block's":  {map[string]string{"SSL_CERT_DIR": filepath.Join(dir, "block") + ":" + filepath.Join(dir, "nothing")}, "block", "own"},
	} {
		got := Certificates(c.env)
		if !slices.Contains(got, filepath.Join(dir, c.want)) || slices.Contains(got, filepath.Join(dir, c.not)) || slices.Contains(got, filepath.Join(dir, "nothing")) || slices.Contains(got, "relative.pem") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
