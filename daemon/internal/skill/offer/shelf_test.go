package offer

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk"
)

const text = "---\nname: deploy\ndescription: Deploys.\n---\nDo it.\n"

// desk is a shelf and a project.
type desk struct {
	*Shelf
	project string
	trusted map[string]string
	checks  int
}

func newDesk(t *testing.T) *desk {
	d := &desk{project: t.TempDir(), trusted: map[string]string{}}
	d.Shelf = New(filepath.Join(t.TempDir(), "offered"), Options{
		Trusted: func(string) map[string]string { return d.trusted },
		Check:   func(context.Context, string) error { d.checks++; return nil },
		MayRead: func(string) func(string) error {
			return func(path string) error {
				if filepath.Base(path) == "secret.md" {
					return sdk.Errorf(sdk.Permission, "%s may not be read", path)
				}
				return nil
			}
		},
	})
	return d
}

func (d *desk) write(t *testing.T, name, content string) {
	t.Helper()
	at := filepath.Join(d.project, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (d *desk) take(t *testing.T, path string) (Offered, error) {
	t.Helper()
	return d.Path(t.Context(), d.project, path)
}

// packed is one file of an archive.
type packed struct {
	name, content string
	mode          fs.FileMode
}

func pack(t testing.TB, files ...packed) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		if f.mode != 0 {
			h.SetMode(f.mode)
		}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write([]byte(f.content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestOneSkillFourWays: a folder, an archive of its files, one of the folder and, where it is all, the file alone come to the
// same name and hash, which is that of the folder as `bothy trust` takes it.
func TestOneSkillFourWays(t *testing.T) {
	d := newDesk(t)
	d.write(t, "docs/skills/deploy/SKILL.md", text)
	d.write(t, "docs/notes.md", text)
	d.write(t, "flat.zip", pack(t, packed{"SKILL.md", text, 0o644}))
	d.write(t, "up.ZIP", pack(t, packed{"deploy/", "", fs.ModeDir | 0o755}, packed{"deploy/SKILL.md", text, 0o600}, packed{"__MACOSX/deploy/._SKILL.md", "x", 0}))
	want, err := skill.ReadContents(t.Context(), filepath.Join(d.project, "docs/skills/deploy"), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"docs/skills/deploy", "./docs/skills/deploy/", filepath.Join(d.project, "docs/skills/deploy"), "docs/skills/deploy/SKILL.md", "docs/notes.md", "flat.zip", "up.ZIP"} {
		o, err := d.take(t, path)
		if err != nil || o.Name != "deploy" || o.Hash != want.Hash || o.Trusted {
			t.Errorf("%s: %+v, %v", path, o, err)
		}
	}
	if o, err := d.Text(t.Context(), d.project, "https://a.example/x/deploy.md", text); err != nil || o.Hash != want.Hash {
		t.Errorf("%+v, %v", o, err)
	}
	if d.checks != 1 {
		t.Errorf("the catalogue was asked for %d times", d.checks)
	}
	d.trusted["deploy"] = want.Hash
	if o, err := d.take(t, "flat.zip"); err != nil || !o.Trusted {
		t.Errorf("%+v, %v", o, err)
	}
	d.write(t, "docs/skills/deploy/run.sh", "#!/bin/sh\n")
	if o, err := d.take(t, "docs/skills/deploy"); err != nil || o.Trusted || o.Hash == want.Hash {
		t.Errorf("a file more: %+v, %v", o, err)
	}
}

// TestRefused: what leads out of its folder, is no file, is too much or has nothing of a skill is not taken, and nothing of it
// is left.
func TestRefused(t *testing.T) {
	d := newDesk(t)
	many := []packed{{"SKILL.md", text, 0}}
	for i := range skill.MaxFiles {
		many = append(many, packed{fmt.Sprintf("f%d", i), "", 0})
	}
	crowd := []packed{{"SKILL.md", text, 0}}
	for i := range mostNames {
		crowd = append(crowd, packed{fmt.Sprintf("d%d/", i), "", fs.ModeDir | 0o755})
	}
	skillMD := packed{"SKILL.md", text, 0}
	steep := []packed{skillMD}
	for i := range 2 * mostNames / 2000 {
		steep = append(steep, packed{fmt.Sprintf("f%d/", i) + strings.Repeat("n/", 2000) + "n", "x", 0})
	}
	for name, files := range map[string][]packed{
		"slip":      {skillMD, {"../evil", "x", 0}},
		"deep":      {skillMD, {"a/../../evil", "x", 0}},
		"absolute":  {skillMD, {"/etc/evil", "x", 0}},
		"backslash": {skillMD, {`..\evil`, "x", 0}},
		"dotted":    {skillMD, {"./a", "x", 0}},
		"empty":     {skillMD, {"", "x", 0}},
		"link":      {skillMD, {"a", "/etc/passwd", fs.ModeSymlink | 0o777}},
		"pipe":      {skillMD, {"a", "", fs.ModeNamedPipe | 0o666}},
		"device":    {skillMD, {"a", "", fs.ModeDevice | 0o666}},
		"twice":     {skillMD, skillMD},
		"both":      {skillMD, {"a", "x", 0}, {"a/b", "x", 0}},
		"long":      {skillMD, {strings.Repeat("n", 300), "x", 0}},
		"control":   {skillMD, {"a\x1b[2J", "x", 0}},
		"turned":    {skillMD, {"a\u202eb", "x", 0}},
		"bomb":      {skillMD, {"a", strings.Repeat("\x00", skill.MaxBytes), 0}},
		"path":      {skillMD, {strings.Repeat("n/", skill.MaxPath/2) + "n", "x", 0}},
		"steep":     steep,
		"many":      many,
		"crowd":     crowd,
		"none":      {{"README.md", text, 0}},
		"nothing":   {},
		"broken":    {{"SKILL.md", "no fields", 0}},
	} {
		d.write(t, name+".zip", pack(t, files...))
		switch o, err := d.take(t, name+".zip"); {
		case sdk.OutcomeOf(err) != sdk.Validation:
			t.Errorf("%s: %+v, %v", name, o, err)
		case len(err.Error()) > 1000:
			t.Errorf("%s is refused in %d bytes", name, len(err.Error()))
		}
	}
	d.write(t, "noise.zip", "PK\x03\x04 and no more")
	d.write(t, "text.txt", text)
	d.write(t, "plain.md", "no fields")
	d.write(t, "bare/README.md", text)
	d.write(t, "linked/SKILL.md", text)
	d.write(t, "piped/SKILL.md", text)
	outside := filepath.Join(t.TempDir(), "SKILL.md")
	for _, err := range []error{
		os.WriteFile(outside, []byte(text), 0o644),
		os.Symlink("SKILL.md", filepath.Join(d.project, "linked/again")),
		syscall.Mkfifo(filepath.Join(d.project, "piped/pipe"), 0o600),
		syscall.Mkfifo(filepath.Join(d.project, "pipe.md"), 0o600),
		os.Symlink(outside, filepath.Join(d.project, "out.md")),
		os.Symlink(filepath.Dir(outside), filepath.Join(d.project, "out")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	d.write(t, "closed/SKILL.md", text)
	d.write(t, "closed/secret.md", "x")
	d.write(t, "secret.md", text)
	for path, want := range map[string]sdk.Outcome{
		"noise.zip": sdk.Validation, "text.txt": sdk.Validation, "plain.md": sdk.Validation, "bare": sdk.Validation, "linked": sdk.Validation,
		"piped": sdk.Validation, "pipe.md": sdk.Validation, "nowhere.md": sdk.NotFound, "text.txt/x.md": sdk.NotFound,
		"../SKILL.md": sdk.Permission, ".": sdk.Permission, "/etc/hosts": sdk.Permission, "out.md": sdk.Permission, "out": sdk.Permission, "out/SKILL.md": sdk.Permission,
		"closed": sdk.Permission, "secret.md": sdk.Permission,
	} {
		if o, err := d.take(t, path); sdk.OutcomeOf(err) != want {
			t.Errorf("%s: %+v, %v, want %s", path, o, err, want)
		}
	}
	if _, err := d.Path(t.Context(), "", "a.md"); sdk.OutcomeOf(err) != sdk.Unavailable {
		t.Errorf("without a project: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(d.root, "*", "*")); err != nil || len(left) > 0 || d.checks > 0 {
		t.Errorf("left are %v (%v), after %d checks", left, err, d.checks)
	}
}

// TestOneTextUnderTwoNames: a text that gives itself no name is one skill under each name, and none of them takes another away.
func TestOneTextUnderTwoNames(t *testing.T) {
	d := newDesk(t)
	const nameless = "---\ndescription: d\n---\n"
	d.write(t, "one.md", nameless)
	d.write(t, "two.md", nameless)
	one, err := d.take(t, "one.md")
	if err != nil {
		t.Fatal(err)
	}
	d.trusted[one.Name] = one.Hash
	two, err := d.take(t, "two.md")
	if err != nil || two.Name == one.Name || two.Hash != one.Hash || two.Trusted {
		t.Errorf("%+v, %v", two, err)
	}
	if c, err := skill.ReadContents(t.Context(), one.Folder, 0); err != nil || c.Hash != one.Hash {
		t.Errorf("what is trusted: %+v, %v", c, err)
	}
}

// TestRoom: the oldest that nobody trusts make room, and what is trusted stays; another project has its own.
func TestRoom(t *testing.T) {
	d := newDesk(t)
	var first Offered
	for i := range 3 * mostKept {
		o, err := d.Text(t.Context(), d.project, fmt.Sprintf("https://a.example/s%d.md", i), fmt.Sprintf("---\ndescription: d%d\n---\n", i))
		if err != nil || o.Name != fmt.Sprintf("s%d", i) {
			t.Fatalf("%+v, %v", o, err)
		}
		if i == 0 {
			first, d.trusted = o, map[string]string{o.Name: o.Hash}
		}
	}
	left, err := filepath.Glob(filepath.Join(Folder(d.root, d.project), "*"))
	if err != nil || len(left) != mostKept+1 {
		t.Errorf("%d are left, %v", len(left), err)
	}
	if c, err := skill.ReadContents(t.Context(), first.Folder, 0); err != nil || c.Hash != first.Hash {
		t.Errorf("what is trusted: %+v, %v", c, err)
	}
	if Folder(d.root, d.project) == Folder(d.root, d.project+"2") {
		t.Error("two projects have one folder")
	}
}
