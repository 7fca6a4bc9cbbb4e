package skill

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
)

// FuzzParse holds what is true of every document to any bytes.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"---\nname: a\ndescription: b: c\n---\nbody", "\ufeff---\r\nname: x\r\n---\r\n", "---\na: &a [*a]\n---\n", "---\n\tname: a\n---",
		"---\nname: a\ndescription: 'x\n  y' z\nallowed-tools: Bash(a b) [\n---\n", "---\rname: a\r---\r", "---\n? - a\n: {b: [c]}\n<<: *x\n---\n", "-", "",
		"---\nname: |2-\n   x\n...\n--- \n---\n", "---\nname: !!binary aGk=\ndescription: !!float x\n---\n", string(ordinary),
	} {
		f.Add([]byte(s), "folder")
	}
	f.Fuzz(func(t *testing.T, text []byte, folder string) {
		d := parse(text, folder, true)
		checkDocument(t, d)
		again := Parse(text, folder)
		if again.Name != d.Name || again.Description != d.Description || again.Loaded != d.Loaded || again.Body != d.Body {
			t.Fatalf("strict reading differs:\n%+v\n%+v", d, again)
		}
	})
}

// TestAnyDescription writes any line of text behind description:, as people do
// who know no YAML, and reads it back.
func TestAnyDescription(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.StringMatching(`[A-Za-z@%*\[\]"']`).Draw(t, "first")
		rest := rapid.StringMatching(`[ a-zA-Z:;,.#'"()\[\]{}<>*&!?|%@0-9äß漢/\\-]{0,60}`).Draw(t, "rest")
		line := first + rest
		d := Parse([]byte("---\nname: a\ndescription: "+line+"\nlicense: MIT\n---\nbody"), "a")
		checkDocument(t, d)
		plain := strings.ContainsAny(first, "[\"'*")
		if !d.Loaded && !plain {
			t.Fatalf("%q is not read: %+v", line, d.Diagnostics)
		}
		if d.Repaired && d.Loaded && d.Description != frontmatter.Visible(line) {
			t.Fatalf("%q is read as %q", line, d.Description)
		}
		if d.Loaded && d.License != "MIT" {
			t.Fatalf("%q swallowed the next field", line)
		}
	})
}

// TestRepairOnlyAfterFailure holds that what is YAML is read as YAML says.
func TestRepairOnlyAfterFailure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("abc: #-'\"[]{}&*!|>%@`,\n\t"))).Draw(t, "text")
		quoted := strings.ReplaceAll(strings.ReplaceAll(text, "\t", " "), "'", "''")
		d := Parse([]byte("---\nname: a\ndescription: 'x "+strings.ReplaceAll(quoted, "\n", "\n  ")+"'\n---\n"), "a")
		checkDocument(t, d)
		if d.Repaired || !d.Loaded || d.Description != frontmatter.Visible("x "+text) {
			t.Fatalf("%q is read as %q, repaired %v, %v", text, d.Description, d.Repaired, d.Diagnostics)
		}
	})
}

func TestSafeName(t *testing.T) {
	for in, want := range map[string]string{
		"pdf-tools": "pdf-tools", "PDF  Tools!": "pdf-tools", "--a--b--": "a-b", "Größe": "größe", "Gro\u0308ße": "größe", "日本語 スキル": "日本語-スキル",
		"../../etc/passwd": "etc-passwd", "a\u200bb": "ab", "a_b.c": "a-b-c", strings.Repeat("a", 70): strings.Repeat("a", 64),
		strings.Repeat("a", 63) + "-b": strings.Repeat("a", 63), "con": "con",
	} {
		if got := SafeName(in); got != want {
			t.Errorf("SafeName(%q) = %q, want %q", in, got, want)
		}
	}
	for _, in := range []string{"", "!!!", "..", "\xff\xfe", "🎉"} {
		if got := SafeName(in); !strings.HasPrefix(got, "skill-") {
			t.Errorf("SafeName(%q) = %q", in, got)
		}
	}
	if SafeName("!") == SafeName("?") {
		t.Error("two names without a letter are one")
	}
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.String().Draw(t, "text")
		name := SafeName(in)
		if SafeName(name) != name {
			t.Fatalf("%q gives %q, and that gives %q", in, name, SafeName(name))
		}
		if strings.Trim(name, "-") != name || strings.Contains(name, "--") || len([]rune(name)) > MaxName {
			t.Fatalf("%q gives %q", in, name)
		}
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatalf("%q gives %q, which is no folder: %v", in, name, err)
		}
	})
}

func TestSplitTools(t *testing.T) {
	for in, want := range map[string][]string{
		"Bash(git:*, jq:*) Read": {"Bash(git:*, jq:*)", "Read"}, "a,b c": {"a", "b", "c"}, "Bash(a": {"Bash(a"}, "a) b": {"a)", "b"}, "": nil, " , ": nil,
	} {
		if got := frontmatter.SplitTools(in); !slices.Equal(got, want) {
			t.Errorf("frontmatter.SplitTools(%q) = %q, want %q", in, got, want)
		}
	}
}
