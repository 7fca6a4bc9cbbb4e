package store

import (
	"strings"
	"testing"
)

// TestFilesystemOfAFolder is that of the mount which is nearest above it.
func TestFilesystemOfAFolder(t *testing.T) {
	for dir, want := range map[string]string{"/proc": "proc", "/proc/self/task": "proc", "/sys": "sysfs", "/sys/fs": "sysfs"} {
		if kind, err := filesystemKind(dir); err != nil || kind != want {
			t.Errorf("%s is %q, %v", dir, kind, err)
		}
	}
	if kind, err := filesystemKind("/"); err != nil || kind == "" || strings.HasPrefix(kind, "proc") {
		t.Errorf("/ is %q, %v", kind, err)
	}
	if _, err := filesystemKind("/proc/no such folder"); err == nil {
		t.Error("what is not there has a filesystem")
	}
}
