package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// mostLinks is how many symbolic links are followed; the kernel takes 40.
const mostLinks = 40

// route walks to a file as the kernel does. It collects the folders in which
// something can happen to what the path means (that of the file, that of every
// link on the way, or the last one that is there), and the names to which.
func route(path string, folders, names map[string]bool) {
	folder, rest := "/", parts(path)
	for links := 0; len(rest) > 0; {
		next := filepath.Join(folder, rest[0])
		names[next] = true
		info, err := os.Lstat(next)
		if err != nil || len(rest) == 1 {
			folders[folder] = true
		}
		if err != nil {
			return
		}
		rest = rest[1:]
		if info.Mode()&os.ModeSymlink == 0 {
			folder = next
			continue
		}
		folders[folder] = true
		target, err := os.Readlink(next)
		if links++; err != nil || links > mostLinks {
			return
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(folder, target)
		}
		folder, rest = "/", append(parts(target), rest...)
	}
}

func parts(path string) []string {
	return strings.FieldsFunc(filepath.Clean(path), func(r rune) bool { return r == filepath.Separator })
}

func contentKeys(files []string) map[string]string {
	keys := map[string]string{}
	for _, file := range files {
		keys[file] = contentKey(file)
	}
	return keys
}

// contentKey is another one whenever the content of a file is, or what keeps it
// from being read. It reads no more than Load does, and waits for no pipe.
func contentKey(path string) string {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err.Error()
	}
	if !info.Mode().IsRegular() {
		return info.Mode().Type().String()
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(f, MaxFile+1)); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %s", info.Size(), hex.EncodeToString(sum.Sum(nil)))
}
