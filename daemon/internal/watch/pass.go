package watch

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// mostLinks is how many symbolic links are followed; the kernel takes 40.
const mostLinks = 40

// Pass is one check. What it names is watched until the next check, which has
// to name it again. A folder must be named before it is read: what changes
// afterwards makes an event.
type Pass struct {
	Last  bool   // events have come for as long as can be waited: take what there is
	After func() // is called when everybody who waited for the check knows that it is done

	set    *set // nil where nothing can be watched
	places map[string]Identity
	partly bool
}

func (p *Pass) begin() {
	if p.set != nil {
		p.set.begin()
	}
}

func (p *Pass) end() {
	if p.set != nil {
		p.set.end()
	}
}

// Folder watches all that happens directly in a folder, which is a path without
// links.
func (p *Pass) Folder(path string) {
	if p.set != nil {
		p.set.folder(path)
	}
}

// Name watches what happens to one name in a folder, which is a path without
// links.
func (p *Pass) Name(folder, path string) {
	if p.set != nil {
		p.set.name(folder, path)
	}
}

// Unwatchable says that the check came by something whose changes make no
// events: then it is repeated as often as where nothing can be watched.
func (p *Pass) Unwatchable() { p.partly = true }

// Path watches what an absolute path means, which need not be there yet: each
// link on the way, the file or folder itself, or else what it lacks first.
func (p *Pass) Path(path string) {
	if p.places != nil {
		p.places[path], _ = placeOf(path)
	}
	at, rest := string(filepath.Separator), Steps(path)
	for links := 0; len(rest) > 0; {
		next := filepath.Join(at, rest[0])
		info, err := os.Lstat(next)
		if err != nil || info.Mode()&fs.ModeSymlink != 0 || len(rest) == 1 {
			p.Name(at, next)
			info, err = os.Lstat(next) // again: what came before it was watched made no event
		}
		if err != nil {
			return
		}
		rest = rest[1:]
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		target, err := os.Readlink(next)
		if links++; err != nil || links > mostLinks {
			return
		}
		if !filepath.IsAbs(target) {
			target = at + string(filepath.Separator) + target
		}
		at, rest = string(filepath.Separator), append(Steps(target), rest...)
	}
}

// Steps are the parts of a path. Its .. stay: behind a link they lead elsewhere
// than Clean would have it.
func Steps(path string) []string {
	var out []string
	for _, part := range strings.Split(path, string(filepath.Separator)) {
		if part != "" && part != "." {
			out = append(out, part)
		}
	}
	return out
}
