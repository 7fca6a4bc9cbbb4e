package folders

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/bothyd/bothy/sdk"
)

const (
	longestName   = 100 // bytes
	longestEnding = 16  // of them, with the dot
	mostOfAName   = 100 // files of one name, told apart by numbers
)

// safeName is a name of a file, as a service gives it, as it is safe for one: one part of a path, of characters that can
// be seen, that no listing leaves out and no command takes for a flag.
func safeName(name string) string {
	name = norm.NFC.String(strings.ToValidUTF8(name, ""))
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case sdk.Hidden(r):
			return -1
		case strings.ContainsRune(`<>:"|?*$`+"`", r):
			return '_'
		}
		return r
	}, name)
	name = strings.TrimRight(strings.TrimLeft(name, ". "), ". ")
	if strings.HasPrefix(name, "-") {
		name = "_" + name
	}
	if len(name) > longestName {
		stem, ending := parted(name)
		name = strings.TrimRight(sdk.Head(stem, longestName-len(ending)), ". ") + ending
	}
	if name == "" {
		return "file"
	}
	return name
}

// parted is a name without its ending, and that.
func parted(name string) (stem, ending string) {
	ending = path.Ext(name)
	if len(ending) > longestEnding || ending == name {
		return name, ""
	}
	return strings.TrimSuffix(name, ending), ending
}

// create makes a file of a name that nothing has yet.
func create(root *os.Root, name string) (*os.File, error) {
	stem, ending := parted(name)
	for n := 1; n <= mostOfAName; n++ {
		free := name
		if n > 1 {
			free = fmt.Sprintf("%s-%d%s", stem, n, ending)
		}
		file, err := root.OpenFile(free, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return file, err
		}
	}
	return nil, sdk.Errorf(sdk.Conflict, "the folder of the run has %d files called %s; give this one another name", mostOfAName, name)
}
