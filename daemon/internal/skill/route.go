package skill

import (
	"io/fs"
	"os"
	"path/filepath"
)

// route walks to a folder of a tier as the kernel does, and tells where
// something can happen to what its path means: beside each link on the way,
// beside the folder, and in the last one that is there.
func route(path string, tell func(folder, name string)) {
	at, rest := string(filepath.Separator), steps(path)
	for links := 0; len(rest) > 0; {
		next := filepath.Join(at, rest[0])
		rest = rest[1:]
		info, err := os.Lstat(next)
		link := err == nil && info.Mode()&fs.ModeSymlink != 0
		if err != nil || link || len(rest) == 0 {
			tell(at, next)
		}
		if err != nil {
			return
		}
		if !link {
			at = next
			continue
		}
		target, err := os.Readlink(next)
		if links++; err != nil || links > mostLinks {
			return
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(at, target)
		}
		at, rest = string(filepath.Separator), append(steps(target), rest...)
	}
}
