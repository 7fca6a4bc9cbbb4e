package folders

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

var private = sdk.Run{Key: "k1", Alias: "chat_1", Private: true}

// newFiles are those of a daemon, and the folder of the run private.
func newFiles(t *testing.T, quota int64) (f Files, folder string) {
	t.Helper()
	f = Files{Data: t.TempDir(), Quota: func() int64 { return quota }}
	return f, private.Folder(f.runDir(private))
}

// put writes a file in pieces.
func put(f Files, name string, data []byte, piece int) (string, error) {
	for at := 0; ; {
		done, err := f.Write(private, rpc.WorkspaceWrite{Name: name, Offset: int64(at), Size: int64(len(data)), Data: data[at:min(at+piece, len(data))]})
		if err != nil {
			return name, err
		}
		if name, at = done.Name, int(done.Written); at >= len(data) {
			return name, nil
		}
	}
}

// TestFilesGoInAndOut: whole, in pieces, and never over another one.
func TestFilesGoInAndOut(t *testing.T) {
	f, folder := newFiles(t, -1)
	big := bytes.Repeat([]byte("0123456789abcde\n"), rpc.MaxWorkspacePiece/16+100)
	for _, c := range []struct {
		name, want string
		data       []byte
	}{{"a.txt", "a.txt", []byte("one")}, {"a.txt", "a-2.txt", []byte("two")}, {"../a.txt", "a-3.txt", []byte("three")}, {"none", "none", []byte{}}, {"big", "big", big}} {
		name, err := put(f, c.name, c.data, rpc.MaxWorkspacePiece)
		if err != nil || name != c.want {
			t.Fatalf("%s: %q, %v", c.name, name, err)
		}
		if there, err := os.ReadFile(filepath.Join(folder, name)); err != nil || !bytes.Equal(there, c.data) {
			t.Errorf("%s has %d bytes, %v", name, len(there), err)
		}
		var got []byte
		for {
			p, err := f.Read(private, rpc.WorkspaceRead{Name: "/workspace/" + name, Offset: int64(len(got))})
			if err != nil || p.Size != int64(len(c.data)) {
				t.Fatalf("%s: %+v, %v", name, p, err)
			}
			if got = append(got, p.Data...); int64(len(got)) == p.Size {
				break
			}
		}
		if !bytes.Equal(got, c.data) {
			t.Errorf("%s is read as %d bytes", name, len(got))
		}
	}
}

// TestFilesAreRefused: what has no place, is too large, leads elsewhere, or is no file.
func TestFilesAreRefused(t *testing.T) {
	f, folder := newFiles(t, 100)
	if err := os.MkdirAll(filepath.Join(f.runDir(private), "home"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{"home/cache": strings.Repeat("x", 90), "secret": "of the daemon", "workspace/": ""} {
		at := filepath.Join(f.runDir(private), path)
		var err error
		if strings.HasSuffix(path, "/") {
			err = os.MkdirAll(at, 0o700)
		} else {
			err = os.WriteFile(at, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"out": "../secret", "abs": filepath.Join(f.runDir(private), "secret"), "up": "..", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(folder, "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, rpc.MaxWorkspaceFile+1); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]sdk.Outcome{
		"none": sdk.NotFound, "../secret": sdk.Permission, "out": sdk.Permission, "abs": sdk.Permission, "up/secret": sdk.Permission, "up": sdk.Permission, "loop": sdk.Permission,
		"/etc/passwd": sdk.Permission, "/workspace/../secret": sdk.Permission, "pipe": sdk.Validation, ".": sdk.Validation, "large": sdk.Overflow, "": sdk.NotFound,
	} {
		if p, err := f.Read(private, rpc.WorkspaceRead{Name: name}); sdk.OutcomeOf(err) != want {
			t.Errorf("reading %q: %q, %v", name, p.Data, err)
		}
		if _, err := f.Write(private, rpc.WorkspaceWrite{Name: name, Offset: 1, Size: 2, Data: []byte("x")}); err == nil {
			t.Errorf("%q was written to", name)
		}
	}
	for name, c := range map[string]struct {
		write rpc.WorkspaceWrite
		want  sdk.Outcome
	}{
		"more than the quota leaves":   {rpc.WorkspaceWrite{Name: "x", Size: 11, Data: []byte("x")}, sdk.Overflow},
		"more than a file may have":    {rpc.WorkspaceWrite{Name: "x", Size: rpc.MaxWorkspaceFile + 1, Data: []byte("x")}, sdk.Overflow},
		"less than nothing":            {rpc.WorkspaceWrite{Name: "x", Size: -1}, sdk.Overflow},
		"more than it said":            {rpc.WorkspaceWrite{Name: "x", Size: 1, Data: []byte("xy")}, sdk.Validation},
		"nothing of something":         {rpc.WorkspaceWrite{Name: "x", Size: 1}, sdk.Validation},
		"a large piece":                {rpc.WorkspaceWrite{Name: "x", Size: rpc.MaxWorkspaceFile, Data: make([]byte, rpc.MaxWorkspacePiece+1)}, sdk.Validation},
		"the end of what is not there": {rpc.WorkspaceWrite{Name: "x", Offset: 1, Size: 2, Data: []byte("x")}, sdk.NotFound},
	} {
		if _, err := f.Write(private, c.write); sdk.OutcomeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := f.Write(sdk.Run{Key: "k2"}, rpc.WorkspaceWrite{Name: "x", Size: 1, Data: []byte("x")}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("a run of the terminal: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(f.runDir(private), "secret")); err != nil || string(text) != "of the daemon" {
		t.Errorf("%q, %v", text, err)
	}
	if err := os.Remove(large); err != nil {
		t.Fatal(err)
	}
	if name, err := put(f, "fits", []byte("0123456789"), 3); err != nil || name != "fits" {
		t.Errorf("%q, %v", name, err)
	}
	if _, err := f.Write(private, rpc.WorkspaceWrite{Name: "fits", Offset: 3, Size: 10, Data: []byte("x")}); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("a piece that was there already: %v", err)
	}
}

func TestSafeName(t *testing.T) {
	for name, want := range map[string]string{
		"report.pdf": "report.pdf", "Bericht März.pdf": "Bericht März.pdf", "a/b/c.txt": "c.txt", `C:\x\y.txt`: "y.txt", "..": "file", "": "file", "/": "file", ".bashrc": "bashrc", ". . x": "x",
		"-rf": "_-rf", "a\x00b": "ab", "a\nb": "a b", "gpj\u202e.exe": "gpj.exe", "a$(id)`": "a_(id)_", "x. ": "x", "\xff": "file", "e\u0301": "é",
		strings.Repeat("a", 300) + ".tar": strings.Repeat("a", 96) + ".tar", "x." + strings.Repeat("e", 300): "x." + strings.Repeat("e", 98),
	} {
		if got := safeName(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

// TestAnyNameIsSafe: whatever a service calls a file, it lies in the folder and is listed.
func TestAnyNameIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := safeName(rapid.OneOf(rapid.String(), rapid.StringMatching(`[./\\ -]{0,6}[a-z\x{202e}]{0,120}[./ ]{0,4}`)).Draw(t, "name"))
		if name == "" || len(name) > longestName || strings.ContainsAny(name, "/\\\x00\n") || name[0] == '.' || name[0] == '-' || name != safeName(name) {
			t.Fatalf("it is %q", name)
		}
	})
}

func FuzzSafeName(f *testing.F) {
	f.Add("../x")
	f.Fuzz(func(t *testing.T, name string) {
		if got := safeName(name); got == "" || got != filepath.Base(got) || got[0] == '.' || got[0] == '-' || len(got) > longestName {
			t.Errorf("%q is %q", name, got)
		}
	})
}
