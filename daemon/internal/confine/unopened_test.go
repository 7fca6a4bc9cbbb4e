package confine

import (
	"strings"
	"testing"
)

func TestUnopened(t *testing.T) {
	open := []string{"/home/me/notes", "/data/confined/p"}
	for text, path := range map[string]string{
		"open /home/me/src/a.go: no such file or directory":                           "/home/me/src/a.go",
		"[Errno 2] No such file or directory: '/home/me/src/a.go'":                    "/home/me/src/a.go",
		"[Errno 13] Permission denied: '/home/me/.ssh/id'":                            "/home/me/.ssh/id",
		"Error: ENOENT: no such file or directory, open '/home/me/x.json'":            "/home/me/x.json",
		"it ended before its handshake: cannot open database (/var/lib/x.db): unable": "/var/lib/x.db",
		"config=/home/me/notes/../src/c.toml does not exist":                          "/home/me/src/c.toml",
		"read /home/me/notes/a and /home/me/other: no such file":                      "/home/me/other",
		"open /home/me/notesx: no such file":                                          "/home/me/notesx",
		"open /home/me/notes/a: no such file or directory":                            "",
		"open /data/confined/p/home/a: no such file or directory":                     "",
		"open /usr/share/dict/words: no such file or directory":                       "",
		"open notes/a: no such file or directory":                                     "",
		"wrote /home/me/src/a.go":                                                     "",
		"there is no such file: say which":                                            "",
		"/ is not found":                                                              "",
		"GET https://example.org/home/me: 404 not found":                              "",
		"": "",
	} {
		got := Unopened(text, open)
		if path == "" && got != "" || path != "" && !strings.HasPrefix(got, path+" is not open to this plugin, ") {
			t.Errorf("%q: %q, want of %q", text, got, path)
		}
	}
}

func FuzzUnopened(f *testing.F) {
	f.Add("open /home/me/a: no such file or directory", "/home/me")
	f.Fuzz(func(t *testing.T, text, open string) {
		if got := Unopened(text, []string{open}); got != "" && !strings.HasPrefix(got, "/") {
			t.Errorf("%q: %q", text, got)
		}
	})
}
