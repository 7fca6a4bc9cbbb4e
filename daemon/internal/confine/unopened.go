package confine

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
)

var (
	// notThere is how programs say that a file cannot be had.
	notThere = regexp.MustCompile(`(?i)no such file|not found|does not exist|cannot open|permission denied|not permitted|\bENOENT\b|\bEACCES\b`)
	// absolutePath is a path in a text, with what may stand before it.
	absolutePath = regexp.MustCompile(`(?:^|[\s"'` + "`" + `=(\[:])(/[^/\s"'` + "`" + `<>|,;:()\[\]][^\s"'` + "`" + `<>|,;:()\[\]]*)`)
)

// Unopened says of a failure, as a confined process tells it, which file in it the process
// never had: what is not open is not there for it, and it cannot tell the two apart. It is
// empty where the text is not about a file that cannot be had, or all in it is open. Only
// the text is looked at: whether there is such a file is nothing that the process may learn.
func Unopened(text string, open []string) string {
	text = text[:min(len(text), 4<<10)]
	if !notThere.MatchString(text) {
		return ""
	}
	for _, found := range absolutePath.FindAllStringSubmatch(text, -1) {
		path := filepath.Clean(found[1])
		if path != "/" && !slices.ContainsFunc(slices.Concat(open, machine), func(at string) bool { return below(path, at) }) {
			return fmt.Sprintf("%s is not open to this plugin, and what is not open is not there for it: paths and read_paths of its confine block open files", path)
		}
	}
	return ""
}

// machine is what is of no person: either open to every process, or its own.
var machine = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/etc", "/proc", "/sys", "/dev", "/tmp"}

func below(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}
