package bundle

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/bothyd/bothy/sdk/protect"
)

// What a bundle may be. A tree of node_modules is far below it.
const (
	MostFiles = 100_000   // files, folders and links
	MostFile  = 256 << 20 // bytes of one file
	MostBytes = 1 << 30   // of all together
	mostPath  = 1024      // bytes of a path
	mostDepth = 64        // names in a path
)

// checkPath refuses a path that is not plainly one below a folder, on every system.
func checkPath(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the path is empty")
	case len(name) > mostPath:
		return fmt.Errorf("the path %q... is longer than %d bytes", name[:80], mostPath)
	case path.IsAbs(name):
		return fmt.Errorf("the path %q is absolute", name)
	case !filepath.IsLocal(name):
		return fmt.Errorf("the path %q leads out of the folder", name)
	case path.Clean(name) != name || name == ".":
		return fmt.Errorf("the path %q is not written in its shortest form", name)
	case strings.Count(name, "/") >= mostDepth:
		return fmt.Errorf("the path %q... has more than %d folders", name[:min(len(name), 80)], mostDepth)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) || strings.Contains(name, `\`):
		return fmt.Errorf("the path %q has a character that no file of a plugin needs", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > 255 {
			return fmt.Errorf("the name %q... is longer than 255 bytes", part[:80])
		}
	}
	return nil
}

// seen are the paths of a bundle that were met, with the folders that they lie in, by
// what file systems that fold names take them for.
type seen map[string]string

// add refuses a path whose name some system takes for another one that is there.
func (s seen) add(name string) error {
	if err := checkPath(name); err != nil {
		return err
	}
	for at := name; at != "."; at = path.Dir(at) {
		fold := folded(at)
		other, had := s[fold]
		if had && other != at {
			return fmt.Errorf("%q and %q differ only in what some file systems do not tell apart, such as case", other, at)
		}
		if had {
			return nil // so are its folders
		}
		s[fold] = at
	}
	return nil
}

// has reports whether a path was met, or is the folder itself.
func (s seen) has(name string) bool { return name == "." || s[folded(name)] == name }

// folded is what the file systems take a name for that tell the fewest apart.
func folded(name string) string { return protect.Fold(norm.NFC.String(name)) }

// budget counts what a bundle takes up.
type budget struct {
	files int
	bytes int64
}

// take counts one thing, whose size is in bytes.
func (b *budget) take(name string, size int64) error {
	b.files++
	b.bytes += size
	switch {
	case b.files > MostFiles:
		return fmt.Errorf("it has more than %d files", MostFiles)
	case size < 0 || size > MostFile:
		return fmt.Errorf("%s is larger than %d MB", name, MostFile>>20)
	case b.bytes > MostBytes:
		return fmt.Errorf("its files are larger than %d MB together", MostBytes>>20)
	}
	return nil
}

// checkLink refuses a link at a path that is not plainly one to something in the
// bundle. A folder that is named on the way back is never a link itself: ".." stands
// at the beginning alone.
func checkLink(name, target string) error {
	switch {
	case target == "" || path.IsAbs(target):
		return fmt.Errorf("%s is a link to %q: links lead to something in the bundle, by a path from where they lie", name, target)
	case path.Clean(target) != target:
		return fmt.Errorf("%s is a link to %q, which is not written in its shortest form", name, target)
	case !filepath.IsLocal(path.Join(path.Dir(name), target)):
		return fmt.Errorf("%s is a link to %q, which leads out of the folder", name, target)
	}
	return nil
}
