package skill

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
	"github.com/bothyd/bothy/sdk"
)

func TestCreateRefuses(t *testing.T) {
	root := filepath.Join(t.TempDir(), "not", "yet")
	if _, err := Create(root, New{Name: "there"}); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(root, "dangling")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, description string
		outcome           sdk.Outcome
	}{
		{"Bad-Name", "d", sdk.Validation}, {strings.Repeat("a", 65), "d", sdk.Validation}, {"", "d", sdk.Validation}, {"there", "d", sdk.Conflict},
		{"dangling", "d", sdk.Conflict}, {"a--b", "d", sdk.Validation}, {"-a", "d", sdk.Validation}, {"a-", "d", sdk.Validation}, {"a_b", "d", sdk.Validation},
		{"a/b", "d", sdk.Validation}, {"..", "d", sdk.Validation}, {"ä", "d", sdk.Validation}, {"a\n", "d", sdk.Validation}, {"a b", "d", sdk.Validation},
		{"long", strings.Repeat("x", 1025), sdk.Validation},
	} {
		if files, err := Create(root, New{Name: c.name, Description: c.description}); sdk.OutcomeOf(err) != c.outcome || files != nil {
			t.Errorf("Create(%q): %v, %v; want %s", c.name, files, err, c.outcome)
		}
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestCreateAnything holds that a new skill is without a warning, whatever its
// description is.
func TestCreateAnything(t *testing.T) {
	root := t.TempDir()
	made := func(t interface {
		Helper()
		Fatalf(string, ...any)
	}, n New) Document {
		t.Helper()
		files, err := Create(root, n)
		if err != nil {
			t.Fatalf("%+v: %v", n, err)
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatalf("%v", err)
		}
		d := parse(text, n.Name, true)
		if !d.Loaded || d.Repaired || len(d.Diagnostics) != 0 || d.Name != n.Name || d.Description == "" {
			t.Fatalf("%+v is read as %+v from\n%s", n, d, text)
		}
		if want := frontmatter.Visible(n.Description); want != "" && strings.ToValidUTF8(n.Description, "") == n.Description && d.Description != want {
			t.Fatalf("%q became %q", n.Description, d.Description)
		}
		if (d.Plugin == n.Name) != n.Code {
			t.Fatalf("the plugin is %q", d.Plugin)
		}
		if err := os.RemoveAll(filepath.Dir(files[0])); err != nil {
			t.Fatalf("%v", err)
		}
		return d
	}
	for _, description := range []string{"a: b", "", " \n", "@x", "---\nname: evil\n---", "'\"\\", "- # x", "\x00\x1b[31m", "\xff\xfe", "a\u2028b\u202ec", "{{x}} $ARGUMENTS `!`", "null", "漢字: x"} {
		made(t, New{Name: "table", Description: description})
	}
	made(t, New{Name: "007", Description: "x", Code: true})
	rapid.Check(t, func(t *rapid.T) {
		made(t, New{
			Name:        rapid.StringMatching(`[a-z0-9]{1,20}(-[a-z0-9]{1,10}){0,3}`).Draw(t, "name"),
			Description: rapid.StringN(0, 200, -1).Draw(t, "description"),
			Code:        rapid.Bool().Draw(t, "code"),
		})
	})
}
