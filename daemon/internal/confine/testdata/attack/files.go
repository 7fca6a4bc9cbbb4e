package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	deeds["read"] = func(a []string) error { _, err := os.ReadFile(a[0]); return err }
	deeds["list"] = func(a []string) error { _, err := os.ReadDir(a[0]); return err }
	deeds["write"] = func(a []string) error { return os.WriteFile(a[0], []byte("attacked"), 0o600) }
	deeds["empty"] = func(a []string) error { return os.Truncate(a[0], 0) }
	deeds["remove"] = func(a []string) error { return os.Remove(a[0]) }
	deeds["mode"] = func(a []string) error { return os.Chmod(a[0], 0o666) }
	deeds["times"] = func(a []string) error { return os.Chtimes(a[0], time.Unix(1, 0), time.Unix(1, 0)) }
	deeds["attribute"] = func(a []string) error { return unix.Setxattr(a[0], "user.attack", []byte("1"), 0) }
	deeds["execute"] = func(a []string) error { return exec.Command(a[0], a[1:]...).Run() }
	deeds["device"] = func(a []string) error { return unix.Mknod(a[0], unix.S_IFIFO|0o600, 0) }
	// Tricks: another name for what may not be read.
	deeds["link"] = func(a []string) error { return read(os.Link(a[0], a[1]+"/link"), a[1]+"/link") }
	deeds["symlink"] = func(a []string) error {
		_ = os.Remove(a[1] + "/symlink") // of an earlier attack
		return read(os.Symlink(a[0], a[1]+"/symlink"), a[1]+"/symlink")
	}
	deeds["rename"] = func(a []string) error { return read(os.Rename(a[0], a[1]+"/renamed"), a[1]+"/renamed") }
	deeds["plant"] = func(a []string) error { // what is its own goes where it may not write
		if err := os.WriteFile(a[0]+"/planted", []byte("planted"), 0o600); err != nil {
			return err
		}
		return os.Rename(a[0]+"/planted", a[1])
	}
	deeds["climb"] = func(a []string) error {
		_, err := os.ReadFile(filepath.Join(a[0], "..", filepath.Base(filepath.Dir(a[1])), filepath.Base(a[1])))
		return err
	}
	deeds["root"] = func(a []string) error { _, err := os.ReadFile("/proc/self/root" + a[0]); return err }
	deeds["own"] = func(a []string) error { // what every program may do in its own folder
		old, fresh := filepath.Join(a[0], "sub", "old"), filepath.Join(a[0], "new")
		if err := os.MkdirAll(filepath.Dir(old), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(old, []byte("mine"), 0o600); err != nil {
			return err
		}
		if err := os.Rename(old, fresh); err != nil {
			return err
		}
		return read(os.Remove(filepath.Dir(old)), fresh)
	}
}

// read opens what a trick has made.
func read(err error, path string) error {
	if err != nil {
		return err
	}
	_, err = os.ReadFile(path)
	return err
}
