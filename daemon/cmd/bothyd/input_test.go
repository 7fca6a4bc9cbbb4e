package main

import (
	"os"
	"testing"
)

// TestReadTextOfAFolder: what cannot be read is named once.
func TestReadTextOfAFolder(t *testing.T) {
	f, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // it was only read
	if text, err := readText(f, "folder"); text != "" || err == nil || err.Error() != "read folder: is a directory" {
		t.Errorf("%q, %v", text, err)
	}
}
