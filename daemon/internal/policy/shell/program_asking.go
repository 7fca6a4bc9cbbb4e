package shell

import (
	"slices"
	"strings"
)

// asking are commands of programs that can do everything which only read, each with the
// options that leave it so.
var asking = map[string]map[string]string{
	"go":    {"env": "-json -changed", "list": "-m -json -deps -test -e -find", "doc": "-all -short -src -u -c -cmd", "help": ""},
	"gofmt": {"-l": "-l -d -s -e", "-d": "-l -d -s -e"},
	"npm":   {"ls": "--all --json --long --prod", "list": "--all --json --long --prod", "root": "", "prefix": ""},
	"unzip": {"-l": "", "-Z": "", "-Z1": ""},
}

// asks reports whether a call only reads, of the project alone: by one of the commands that
// are known to, and with nothing else than their options and paths of the workspace.
func (c call) asks() bool {
	if len(c.argv) < 2 {
		return false
	}
	options, known := asking[c.argv[0]][c.argv[1]]
	if !known {
		return false
	}
	for i := 2; i < len(c.argv); i++ {
		switch word := c.argv[i]; {
		case c.glob(i):
			return false
		case word == "-f" && c.argv[1] == "list": // and a format
			if i++; c.glob(i) {
				return false
			}
		case strings.HasPrefix(word, "-"):
			if !slices.Contains(strings.Fields(options), word) {
				return false
			}
		case strings.ContainsAny(word, "=@") || c.reads(word, false).grade > Proven:
			return false
		}
	}
	return true
}
