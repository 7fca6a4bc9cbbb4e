package inspect

import (
	"cmp"
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

	"github.com/bothyd/bothy/daemon/internal/bundle"
	"github.com/bothyd/bothy/daemon/internal/watch"
)

// Binary is a plugin's file, opened and verified. What was verified is what is
// started: on Linux the open file itself, not whatever its path names later. Of a
// bundle that holds for what is started; its other files are opened by their paths,
// and compared before and after.
type Binary struct {
	Verified                // Digest and Pin once it is; no Instance and no Problem
	Program  string         // the path of what is started
	Args     []string       // come before those of a block; describe gets none
	File     *os.File       // the program; a Binary that was closed still has the rest
	Bundle   *bundle.Folder // nil for a single file
	identity string         // of the file when its digest was worked out
	listing  bundle.Listing // of a bundle whose digest was worked out now
}

// Find opens the file of a plugin; nothing is verified yet. Its errors say where
// it looked.
func (s *Inspector) Find(spec Spec) (*Binary, *Fault) {
	path := s.PathOf(spec)
	b, err := OpenBinary(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Fault{
			Summary: "its binary is missing", Permanent: true, Missing: true,
			Detail: "Looked for " + path + ". Install it there, or set path in its block.",
		}
	case err != nil:
		return nil, &Fault{Summary: "its binary cannot be used", Detail: err.Error(), Permanent: true}
	case spec.Path == "":
		b.Origin = "bundled"
	case s.digestOf(path) != "":
		b.Origin = "store"
	}
	if b.Bundle != nil {
		b.Bundle.Whole = b.Origin == "store"
	}
	return b, nil
}

// PathOf is where the file of a plugin is looked for.
func (s *Inspector) PathOf(spec Spec) string {
	return cmp.Or(spec.Path, filepath.Join(s.cfg.Libexec, "bothy-plugin-"+spec.Plugin))
}

// OpenBinary opens a regular, executable file of this machine that nobody else
// can write, or a bundle that starts one. It waits for nobody: a named pipe is refused
// like all that is no file.
func OpenBinary(path string) (*Binary, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("path %q is not absolute", path)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errors.Is(err, syscall.ELOOP) {
		target, _ := filepath.EvalSymlinks(path)
		return nil, fmt.Errorf("%s is a symbolic link to %s: name the file itself", path, target)
	}
	if err != nil {
		return nil, err
	}
	b := &Binary{Verified: Verified{Path: path, Origin: "path"}, Program: path, File: f}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		_ = f.Close() // it is opened by its name below
		return openBundle(path)
	}
	if err := b.usable(); err != nil {
		_ = f.Close() // it is not used
		return nil, err
	}
	return b, nil
}

// usable says why a file cannot be started, and finds out whether it is a script.
func (b *Binary) usable() error {
	path := b.Path
	info, err := b.File.Stat()
	if err != nil {
		return err
	}
	mode := info.Mode()
	head := make([]byte, 2)
	if mode.IsRegular() {
		_, err = b.File.ReadAt(head, 0)
	}
	switch {
	case err == nil && bundle.IsArchive(head):
		return fmt.Errorf("%s is an archive: bothy plugins install takes what is in it", path)
	case !mode.IsRegular():
		return fmt.Errorf("%s is not a file (%v)", path, mode)
	case mode&0o111 == 0:
		return fmt.Errorf("%s is not executable (%v): run chmod +x on it", path, mode)
	case mode&0o002 != 0:
		return openToAll(path, mode)
	}
	if owner, me := ownerOf(info), os.Geteuid(); me != 0 && owner != me && owner != 0 {
		return fmt.Errorf("%s belongs to uid %d, neither to you nor to root", path, owner)
	}
	b.Script = err == nil && string(head) == "#!"
	return b.machine()
}

func openToAll(path string, mode fs.FileMode) error {
	return fmt.Errorf("%s can be changed by everybody (%v): run chmod o-w on it", path, mode)
}

// machine refuses a file that is for another kind of computer.
func (b *Binary) machine() error {
	want, known := elfMachines[runtime.GOARCH]
	if runtime.GOOS != "linux" || !known || b.Script {
		return nil
	}
	switch e, err := elf.NewFile(b.File); {
	case err != nil:
		return fmt.Errorf("%s is neither a program of this machine nor a script (which begins with #! and its interpreter)", b.Path)
	case e.Machine != want:
		return fmt.Errorf("%s was built for %v, this machine is %v: build it with GOARCH=%s", b.Path, e.Machine, want, runtime.GOARCH)
	}
	return nil
}

var elfMachines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64, "386": elf.EM_386, "riscv64": elf.EM_RISCV}

// Close closes the file.
func (b *Binary) Close() error { return b.File.Close() }

// Sum is the hex SHA-256 of the whole file, or of a bundle's listing, worked out now.
func (b *Binary) Sum() (string, error) {
	if b.Bundle != nil {
		var err error
		b.listing, err = b.Bundle.Sum()
		b.Files = b.listing.Files()
		return b.listing.Digest(), err
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(b.File, 0, 1<<40)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func ownerOf(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }

// Beside is what a script may read without being told: the folder that it lies
// in, for its modules lie there, unless that folder holds more than the script's
// own. A program needs none. Of a bundle it is the bundle.
func (b *Binary) Beside() []string {
	dir := filepath.Dir(b.Path)
	home, err := os.UserHomeDir()
	switch {
	case b.Bundle != nil:
		return []string{b.Path}
	case !b.Script || err != nil || dir == "/" || strings.HasPrefix(home+"/", dir+"/"):
		return nil
	}
	return []string{dir}
}

// Identity changes whenever the open file does, or anything of a bundle: it saves a
// digest of megabytes. It is empty when the bundle cannot be used, or what was opened
// of it, the manifest and what is started, is not what lies there.
func (b *Binary) Identity() string {
	_, identity := b.look()
	return identity
}

// look is Identity with what it looked at.
func (b *Binary) look() ([]bundle.Place, string) {
	info, err := b.File.Stat()
	if err != nil {
		return nil, ""
	}
	program := identityOf(info)
	if b.Bundle == nil {
		return []bundle.Place{{Path: b.Path, Info: info}}, program
	}
	tree, err := b.Bundle.Look()
	if err != nil {
		return nil, ""
	}
	return tree.Places, sumOf(tree.Places, map[string]string{bundle.ManifestName: identityOf(b.Bundle.Read), b.Bundle.Start: program})
}

// sumOf sums up the places of a bundle. It is empty where what was opened is not what lies
// there, or nothing does.
func sumOf(places []bundle.Place, opened map[string]string) string {
	if len(places) == 0 {
		return ""
	}
	hash := sha256.New()
	for _, p := range places {
		id := identityOf(p.Info)
		if is, had := opened[p.Path]; had && is != id {
			return ""
		}
		fmt.Fprintf(hash, "%s %q\n", id, p.Path)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// identityOf changes whenever a file does. Nobody can set the time at which the kernel
// saw it change.
func identityOf(info fs.FileInfo) string { return fmt.Sprint(watch.KeyOf(info), info.Mode()) }
