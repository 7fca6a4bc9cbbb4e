package project

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"
)

func TestInstructions(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"plain", "Use tabs.\n", "Use tabs."},
		{"mark and line ends", "\xef\xbb\xbfa\r\nb\r\n", "a\nb"},
		{"not UTF-8", "a\xffb", "ab"},
		{"empty", " \n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			if err := os.WriteFile(filepath.Join(root, InstructionsFile), []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := Instructions(root)
			if err != nil || got != c.want {
				t.Fatalf("%q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestInstructionsMissing(t *testing.T) {
	if got, err := Instructions(t.TempDir()); got != "" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	if _, err := Instructions(filepath.Join(t.TempDir(), "gone")); err == nil {
		t.Fatal("a project that is not there has instructions")
	}
}

func TestInstructionsAreCut(t *testing.T) {
	root := t.TempDir()
	long := strings.Repeat("é", MaxInstructions)
	if err := os.WriteFile(filepath.Join(root, InstructionsFile), []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Instructions(root)
	if err != nil || !utf8.ValidString(got) || len(got) > MaxInstructions+200 || !strings.Contains(got, "left out") {
		t.Fatalf("%d bytes, %v, end %.100q", len(got), err, got[max(0, len(got)-100):])
	}
}

func TestInstructionsStayInTheProject(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(root, InstructionsFile)); err != nil {
		t.Fatal(err)
	}
	if got, err := Instructions(root); err == nil || strings.Contains(got, "secret") {
		t.Fatalf("a link out of the project was followed: %q, %v", got, err)
	}
}

func TestInstructionsOddFiles(t *testing.T) {
	folder, pipe := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, InstructionsFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(pipe, InstructionsFile), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{folder, pipe} {
		if got, err := Instructions(root); err == nil {
			t.Errorf("%q was read from what is no regular file", got)
		}
	}
}
