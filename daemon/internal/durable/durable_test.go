package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWrite: a file takes the place of another one whole, and nothing else is left.
func TestWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	for n, text := range []string{"one", "", strings.Repeat("two", 10_000), "", "four"} {
		if err := []func(string, []byte) error{Write, Replace}[n%2](file, []byte(text)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(file)
		if err != nil || string(got) != text {
			t.Errorf("%d bytes became %d (%v)", len(text), len(got), err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
			t.Errorf("%v %v", info.Mode(), err)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
}

// TestWriteFails: what was there stays, and nothing of the attempt.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	place := filepath.Join(dir, "folder", "inside")
	if err := os.MkdirAll(place, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Dir(place), []byte("x")); err == nil {
		t.Error("a folder was replaced")
	}
	if err := Write(filepath.Join(dir, "no", "x"), []byte("x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a folder that is not there: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
	if err := Folder(filepath.Join(dir, "no")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if err := Folder(place); err != nil {
		t.Error(err)
	}
}

// TestExchange: the file has the mode that it is to have, once nothing speaks against it.
func TestExchange(t *testing.T) {
	file, no := filepath.Join(t.TempDir(), "x"), errors.New("no")
	if err := Exchange(file, []byte("one"), 0o640, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := Exchange(file, []byte("two"), 0o600, func() error { return no }); !errors.Is(err, no) {
		t.Error(err)
	}
	text, err := os.ReadFile(file)
	if info, statErr := os.Stat(file); err != nil || statErr != nil || string(text) != "one" || info.Mode() != 0o640 {
		t.Errorf("%s %v %v", text, info.Mode(), err)
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
}
