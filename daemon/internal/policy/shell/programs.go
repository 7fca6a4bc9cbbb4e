package shell

import (
	"maps"
	"strings"
)

// programs is every program that is known, by the name that it is called by. A
// program that is missing is not proven.
var programs = known()

// known gathers the families.
func known() map[string]program {
	all := map[string]program{}
	for _, k := range classes {
		for _, name := range strings.Fields(k.names) {
			all[name] = k.program()
		}
	}
	for _, family := range []map[string]usage{textPrograms, filePrograms, searchPrograms, systemPrograms} {
		for name, s := range family {
			all[name] = s.program()
		}
	}
	maps.Copy(all, languages)
	return all
}

// languages are the programs whose arguments are more than options and
// operands.
var languages = map[string]program{
	"echo": echo, "printf": printf, "test": test, "[": test,
	"find": find, "git": git, "tar": tar,
	"mv": moved, "cp": moved, "ln": moved, "link": moved, "install": moved,
	"sed": sed, "awk": awk, "gawk": awk, "mawk": awk, "nawk": awk,

	"curl": fetch, "wget": fetch, "lynx": fetch, "w3m": fetch, "links": fetch, "aria2c": fetch, "ftp": fetch, "tftp": fetch,
	"telnet": fetch, "dig": fetch, "nslookup": fetch, "host": fetch, "ping": fetch, "nmap": fetch, "gh": fetch, "rclone": fetch, "rsync": fetch,
	"ssh": remote("-o", "-F", "-J"), "scp": remote("-o", "-F", "-J", "-S"), "sftp": remote("-o", "-F", "-J", "-S", "-D"),
	"ssh-keygen": fetch, "ssh-add": fetch, "ssh-keyscan": fetch, "ssh-copy-id": fetch, "ssh-agent": fetch,
	"nc": remote("-e", "-c"), "ncat": remote("-e", "-c", "--exec", "--sh-exec", "--lua-exec"), "netcat": remote("-e", "-c"),
	"socat": remote("exec:", "system:", "shell:", "script:"),
}

// strictPrograms are judged otherwise in the strict form: no shell stands
// between the words and the program, and nothing more than these can be said.
var strictPrograms = map[string]program{
	"awk": awkChecked, "gawk": awkChecked, "mawk": awkChecked, "nawk": awkChecked,
	"sed": sedChecked,
}
