package known

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/watch"
)

// programs are the ends of the names of files that an interpreter starts.
var programs = []string{".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".sh", ".jar", ".lua"}

// File is a file that a server starts.
type File struct {
	Path   string `json:"path"`
	Digest string `json:"digest"` // hex SHA-256
}

// Files are the files that a block starts, as they are now: its command, and the programs among its
// arguments. What they load, and what is fetched, is none of them.
func Files(s *config.Server) []File { return new(files).of(s) }

// files keeps digests of files that are still the same.
type files struct {
	kept map[string]keptFile
}

type keptFile struct {
	key    watch.Key
	digest string
}

// sum is what sums up a block, without the files that it starts and with them.
func (f *files) sum(s *config.Server) (command, whole string, started []File) {
	of := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			text = []byte(err.Error()) // of no type that cannot be encoded
		}
		sum := sha256.Sum256(text)
		return hex.EncodeToString(sum[:])
	}
	started = f.of(s)
	return of(s), of([]any{s, started}), started
}

// Sum is what bothy.lock says of what a block starts.
func Sum(s *config.Server) string {
	_, whole, _ := new(files).sum(s)
	return whole
}

// Starts reports whether a block starts now what the record is of.
func (r *Record) Starts(s *config.Server) bool {
	command, _, _ := new(files).sum(s)
	return r.Command == command && !slices.ContainsFunc(r.Files, func(file File) bool { return new(files).digest(file.Path) != file.Digest })
}

func (f *files) of(s *config.Server) (out []File) {
	if s.Command == "" {
		return nil
	}
	dir := s.Dir
	if dir == "" {
		dir, _ = os.UserHomeDir() // a path that is relative to nothing names no file
	}
	add := func(path string) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if digest := f.digest(path); digest != "" {
			out = append(out, File{path, digest})
		}
	}
	command := s.Command
	if !strings.Contains(command, "/") {
		command, _ = exec.LookPath(command) // one that is not there is started by nobody
	}
	if command != "" {
		add(command)
	}
	for _, a := range s.Args {
		if slices.Contains(programs, filepath.Ext(a)) {
			add(a)
		}
	}
	return out
}

// digest is of a regular file, and empty of everything else.
func (f *files) digest(path string) string {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	key := watch.KeyOf(info)
	if k, has := f.kept[path]; has && k.key == key {
		return k.digest
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return ""
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	if f.kept == nil {
		f.kept = map[string]keptFile{}
	}
	if key.Age(time.Now()) > watch.Resolution { // or else the next change may have the same time
		f.kept[path] = keptFile{key, digest}
	}
	return digest
}
