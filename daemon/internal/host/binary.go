package host

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// binary is a plugin's file, opened and verified. What was verified is what is
// started: on Linux the open file itself, not whatever its path names later.
type binary struct {
	path    string
	file    *os.File
	script  bool // its digest covers neither its interpreter nor what it imports
	bundled bool // it is part of the installation

	digest   string // hex SHA-256, once it is verified
	identity string // of the file when it was
	pin      Pin    // what vouches for the digest
}

// find opens the file of a plugin; nothing is verified yet. Its errors say where
// it looked.
func find(spec Spec, libexec []string) (*binary, *startError) {
	looked := candidates(spec, libexec)
	for _, path := range looked {
		b, err := openBinary(path)
		if isMissing(err) {
			continue
		}
		if err != nil {
			return nil, &startError{summary: "its binary cannot be used", detail: err.Error(), permanent: true}
		}
		b.bundled = spec.Path == ""
		return b, nil
	}
	return nil, &startError{
		summary: "its binary is missing", permanent: true, missing: true,
		detail: fmt.Sprintf("Looked for %s. Install it there, or set path in its block.", strings.Join(looked, " and ")),
	}
}

// candidates are the paths at which find looks, in its order.
func candidates(spec Spec, libexec []string) []string {
	if spec.Path != "" {
		return []string{spec.Path}
	}
	var paths []string
	for _, dir := range libexec {
		paths = append(paths, filepath.Join(dir, "bothy-plugin-"+spec.Plugin))
	}
	return paths
}

// isMissing tells a file that is not there from one that cannot be used.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// openBinary opens a regular, executable file of this machine that nobody else
// can write.
func openBinary(path string) (*binary, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("path %q is not absolute", path)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0) // a pipe would be waited for
	if errors.Is(err, syscall.ELOOP) {
		target, _ := filepath.EvalSymlinks(path)
		return nil, fmt.Errorf("%s is a symbolic link to %s: name the file itself", path, target)
	}
	if err != nil {
		return nil, err
	}
	if err := usable(f, path); err != nil {
		_ = f.Close() // it is not used
		return nil, err
	}
	b := &binary{path: path, file: f}
	head := make([]byte, 2)
	_, err = f.ReadAt(head, 0)
	b.script = err == nil && string(head) == "#!"
	return b, nil
}

func usable(f *os.File, path string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	mode := info.Mode()
	switch {
	case !mode.IsRegular():
		return fmt.Errorf("%s is not a file (%v)", path, mode)
	case mode&0o111 == 0:
		return fmt.Errorf("%s is not executable (%v): run chmod +x on it", path, mode)
	case mode&0o002 != 0:
		return fmt.Errorf("%s can be changed by everybody (%v): run chmod o-w on it", path, mode)
	}
	if owner, me := ownerOf(info), os.Geteuid(); owner >= 0 && me != 0 && owner != me && owner != 0 {
		return fmt.Errorf("%s belongs to uid %d, neither to you nor to root", path, owner)
	}
	return machine(f, path)
}

// machine refuses a file that is for another kind of computer. What is no ELF
// file may be a script: the kernel decides.
func machine(f *os.File, path string) error {
	want, ok := elfMachines[runtime.GOARCH]
	if runtime.GOOS != "linux" || !ok {
		return nil
	}
	e, err := elf.NewFile(f)
	if err != nil {
		var format *elf.FormatError
		if errors.As(err, &format) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return interpreted(f, path)
		}
		return err
	}
	if e.Machine != want {
		return fmt.Errorf("%s was built for %v, this machine is %v: build it with GOARCH=%s", path, e.Machine, want, runtime.GOARCH)
	}
	return nil
}

var elfMachines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64, "386": elf.EM_386, "riscv64": elf.EM_RISCV}

func interpreted(f *os.File, path string) error {
	head := make([]byte, 2)
	if _, err := f.ReadAt(head, 0); err != nil || string(head) != "#!" {
		return fmt.Errorf("%s is neither a program of this machine nor a script (which begins with #! and its interpreter)", path)
	}
	return nil
}

// digest is the hex SHA-256 of a whole file.
func digest(f *os.File) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, 1<<40)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func ownerOf(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}
