package toolchain

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk/protect"
)

// plant makes a file below a home, or a folder where the path ends with a slash.
func plant(t *testing.T, home, path string) {
	t.Helper()
	at := filepath.Join(home, path)
	if strings.HasSuffix(path, "/") {
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte("x"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// everything is a home that has all that the table knows.
func everything(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	for _, p := range known {
		for _, pattern := range slices.Concat(p.shown, p.bins, p.newest, p.caches, withheld) {
			if !filepath.IsAbs(pattern) && !slices.Contains([]string{".asdf/plugins/*/.git", ".pyenv/plugins/*/.git", ".rustup/settings.toml", ".pyenv/version", ".asdf/asdf.sh"}, pattern) {
				plant(t, home, strings.ReplaceAll(pattern, "*", "1")+"/")
			}
		}
	}
	plant(t, home, ".rustup/settings.toml")
	return home
}

// below are paths of a home that a list has, without the home.
func below(home string, all []string) (found []string) {
	for _, path := range all {
		if Within(path, home) {
			found = append(found, strings.TrimPrefix(path, home+"/"))
		}
	}
	return found
}

func TestEverythingIsFound(t *testing.T) {
	home := everything(t)
	found := Find(home, nil, protect.Secret)
	for _, p := range known {
		if p.name != "homebrew" && p.name != "nix" && !slices.Contains(found.Names, p.name) {
			t.Errorf("%s is not found", p.name)
		}
	}
	all := slices.Concat(found.Shown, found.Caches)
	for i, a := range all {
		for j, b := range all {
			if i != j && Within(a, b) {
				t.Errorf("%s lies in %s", a, b)
			}
		}
	}
	for _, dir := range found.Path {
		if !slices.ContainsFunc(found.Shown, func(shown string) bool { return Within(dir, shown) }) {
			t.Errorf("%s is searched, and nobody sees it", dir)
		}
	}
	if got := below(home, found.Hidden); !slices.Equal(got, []string{"go/pkg/mod/cache/vcs"}) {
		t.Errorf("hidden: %q", got)
	}
}

// TestCredentialsAreNotShown plants something in each place beside what is shown, and
// what is named for credentials in each folder that is.
func TestCredentialsAreNotShown(t *testing.T) {
	home := everything(t)
	var planted []string
	for _, path := range Beside {
		plant(t, home, path+"/canary")
		planted = append(planted, path)
	}
	for _, dir := range below(home, slices.Concat(Find(home, nil, protect.Secret).Shown, Find(home, nil, protect.Secret).Caches)) {
		if dir == ".rustup/settings.toml" {
			continue
		}
		for _, name := range []string{".env", "id_ed25519", ".netrc", "deep/.npmrc.key", "deep/credentials.json"} {
			plant(t, home, filepath.Join(dir, name))
			planted = append(planted, filepath.Join(dir, name))
		}
	}
	found := Find(home, nil, protect.Secret)
	for _, path := range planted {
		at := filepath.Join(home, path)
		in := func(dir string) bool { return Within(at, dir) }
		if slices.ContainsFunc(slices.Concat(found.Shown, found.Caches), in) && !slices.ContainsFunc(found.Hidden, in) {
			t.Errorf("%s is shown", path)
		}
		if slices.ContainsFunc(found.Shown, func(dir string) bool { return Within(dir, at) }) {
			t.Errorf("what is shown lies in %s", path)
		}
	}
}

func TestSearchPath(t *testing.T) {
	home := t.TempDir()
	for _, path := range []string{
		".cargo/bin/cargo", ".nvm/versions/node/v9.1.0/bin/node", ".nvm/versions/node/v20.3.1/bin/node", ".nvm/versions/node/v20.12.0/bin/node",
		".local/share/fnm/node-versions/v22.1.0/installation/bin/node", "elsewhere/bin/tool", "empty/bin/",
	} {
		plant(t, home, path)
	}
	shell := filepath.Join(t.TempDir(), "multishell")
	if err := os.Symlink(filepath.Join(home, ".local/share/fnm/node-versions/v22.1.0/installation"), shell); err != nil {
		t.Fatal(err)
	}
	at := func(path string) string { return filepath.Join(home, path) }
	found := Find(home, []string{shell + "/bin", "/usr/games", at("elsewhere/bin"), at("empty/bin"), "/nonexistent", "relative", "/usr/games"}, protect.Secret)
	want := []string{at(".local/share/fnm/node-versions/v22.1.0/installation/bin"), "/usr/games", at(".cargo/bin"), at(".nvm/versions/node/v20.12.0/bin")}
	if !slices.Equal(found.Path, want) {
		t.Errorf("got %q, want %q", found.Path, want)
	}
	if want := []string{at("elsewhere/bin")}; !slices.Equal(found.Unseen, want) {
		t.Errorf("unseen: %q, want %q", found.Unseen, want)
	}
}

// TestLinksAreNotFollowed: a project could change where a link leads that lies in it.
func TestLinksAreNotFollowed(t *testing.T) {
	real := t.TempDir()
	plant(t, real, ".cargo/bin/cargo")
	plant(t, real, "dotfiles/bin/tool")
	plant(t, real, ".go/pkg/mod/x")
	plant(t, real, ".local/")
	for link, to := range map[string]string{".local/bin": "dotfiles/bin", "go": ".go"} {
		if err := os.Symlink(filepath.Join(real, to), filepath.Join(real, link)); err != nil {
			t.Fatal(err)
		}
	}
	home := filepath.Join(t.TempDir(), "home")
	if err := os.Symlink(real, home); err != nil {
		t.Fatal(err)
	}
	for _, home := range []string{real, home, home + "/"} {
		found := Find(home, nil, protect.Secret)
		if want := []string{filepath.Join(home, ".cargo/bin")}; !slices.Equal(found.Shown, want) || len(found.Caches) > 0 {
			t.Errorf("%s: got %q and %q", home, found.Shown, found.Caches)
		}
	}
}

// TestHomeIsClean: a home with a slash at its end hides what it would hide without.
func TestHomeIsClean(t *testing.T) {
	home := t.TempDir()
	plant(t, home, ".cargo/bin/.env")
	if found := Find(home+"/", nil, protect.Secret); found.Home != home || len(found.Hidden) != 1 {
		t.Errorf("got %+v", found)
	}
	for _, home := range []string{"", "relative", "/"} {
		if found := Find(home, nil, protect.Secret); len(found.Caches) > 0 || len(found.Shown) > 0 && !strings.HasPrefix(found.Shown[0], "/") {
			t.Errorf("%q: got %+v", home, found)
		}
	}
}

// TestPlacesAndWithheld name what a home can have.
func TestPlacesAndWithheld(t *testing.T) {
	if got := Places("/h"); !slices.Contains(got, "/h/.cargo/registry") || !slices.Contains(got, "/h/.cargo/bin") || slices.Contains(got, "/nix/store") {
		t.Errorf("got %q", got)
	}
	if got := Withheld("/h"); !slices.Equal(got, []string{"/h/go/pkg/mod/cache/vcs"}) {
		t.Errorf("got %q", got)
	}
}

func TestNoHome(t *testing.T) {
	found := Find("", []string{"/usr/bin"}, protect.Secret)
	if len(found.Caches) > 0 || !slices.Equal(found.Path, []string{"/usr/bin"}) {
		t.Errorf("got %+v", found)
	}
	if found := Find(filepath.Join(t.TempDir(), "[x"), nil, protect.Secret); len(found.Caches) > 0 {
		t.Errorf("got %+v", found)
	}
}

func TestVersionsAreCompared(t *testing.T) {
	ordered := []string{"v9.1.0", "v20.3.1", "v20.12", "v20.12.0", "v20.12.0-rc"}
	for i, a := range ordered {
		for j, b := range ordered {
			if got := byVersion(a, b); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%s and %s: %d", a, b, got)
			}
		}
	}
}
