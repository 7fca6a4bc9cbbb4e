package shell

import (
	"slices"
	"strings"
	"testing"
)

func TestStrict(t *testing.T) {
	for _, c := range []struct {
		line string
		argv []string // nil: refused
		says string   // what a refusal names
	}{
		{line: `ls -la docs`, argv: []string{"ls", "-la", "docs"}},
		{line: `  ls -la docs `, argv: []string{"ls", "-la", "docs"}},
		{line: `grep "a;b" f`, argv: []string{"grep", "a;b", "f"}},
		{line: `awk '$1 > 5 {print $2}' f`, argv: []string{"awk", "$1 > 5 {print $2}", "f"}},
		{line: `echo ''`, argv: []string{"echo", ""}},
		{line: `echo 'a  b' "c d" e\ f`, argv: []string{"echo", "a  b", "c d", "e f"}},
		{line: `echo '$HOME' "\$x" '*' \*`, argv: []string{"echo", "$HOME", "$x", "*", "*"}},
		{line: `env`, argv: []string{"env"}},
		{line: `yes`, argv: []string{"yes"}},
		{line: `sed s/a/b/ f`, argv: []string{"sed", "s/a/b/", "f"}},
		{line: `git status`, argv: []string{"git", "status"}},
		{line: `touch f`, argv: []string{"touch", "f"}},

		{line: `nmap 10.0.0.5`, says: "nmap"},
		{line: `printf hi > out.txt`, says: ">"},
		{line: `sort < in.txt`, says: "<"},
		{line: "echo `id`", says: "`"},
		{line: `echo $(id)`, says: "$"},
		{line: `echo ${HOME}`, says: "$"}, {line: `echo $HOME`, says: "$"},
		{line: `sleep 1 & id`, says: "join"},
		{line: `sleep 1 &`, says: "&"},
		{line: `ls; id`, says: ";"},
		{line: `ls;`, says: ";"},
		{line: `ls && id`, says: "&&"}, {line: `ls | sort`, says: "|"},
		{line: "ls\nid", says: "new lines"},
		{line: "sh -c \"ls\nid\"", says: "sh"},
		{line: `find . -name '*.o' -exec rm {} +`, says: "find"},
		{line: `find . -execdir rm {} +`}, {line: `find . -ok rm {} \;`}, {line: `find . -delete`}, {line: `find . -fprintf f %p`},
		{line: `awk 'BEGIN{system("id")}'`, says: "awk"}, {line: `awk '"id" | getline x'`}, {line: `awk '{print > "f"}' x`}, {line: `awk '{print "}" > "f"}' x`},
		{line: `awk '{print | "sh"}' x`}, {line: `awk -f prog x`}, {line: `awk '{print}' /etc/passwd`}, {line: `awk '@load "x"' f`}, {line: `awk '{print}' .env`},
		{line: `sed '1e id' f`}, {line: `sed 's/a/id/e' f`}, {line: `sed -i s/a/b/ f`}, {line: `sed 'w f' x`},
		{line: `tar -cf /dev/null x --checkpoint=1 --checkpoint-action=exec=id`}, {line: `tar xf x --to-command=sh`}, {line: `tar -I sh -xf x`}, {line: `tar xf x --use-compress-program=sh`},
		{line: `sort --compress-program=sh f`}, {line: `env python3 x.py`, says: "env"}, {line: `env -S 'curl x'`, says: "env"},
		{line: `xargs rm`}, {line: `git -c core.pager=id log`}, {line: `git -c alias.x='!id' x`}, {line: `node -e 1`}, {line: `python3 -c 1`},
		{line: `sh -c "sh -c id"`}, {line: `sh -c "env id"`}, {line: `bash -c ls`}, {line: `timeout 5 ls`}, {line: `sudo ls`}, {line: `nohup ls`}, {line: `exec ls`},
		{line: ``, says: "empty"}, {line: `   `, says: "blanks"}, {line: `ls "x`, says: "quote"}, {line: `ls 'x`, says: "quote"}, {line: `# x`, says: "comment"},
		{line: `/bin/ls`, says: "bare names"}, {line: `LS`, says: "LS"}, {line: `./ls`, says: "bare names"}, {line: `FOO=1 ls`, says: "FOO"}, {line: `LC_ALL=C ls`, says: "LC_ALL"},
		{line: `ls *`, says: "pattern"}, {line: `ls ~`, says: "~"}, {line: `ls ~/x`, says: "~"}, {line: `ls {a,b}`, says: "expand"}, {line: `echo $'a'`, says: "$"}, {line: `cd x`, says: "cd"}, {line: `! ls`, says: "!"},
		{line: `(ls)`, says: "shell"}, {line: `time ls`, says: "time"}, {line: `f() { ls; }`, says: "function"}, {line: `export X=1`, says: "export"}, {line: `eval ls`, says: "eval"}, {line: `'' x`, says: "empty"},
		{line: `rm -rf /`, says: "undone"}, {line: `cat /etc/hosts`}, {line: `cat ../x`}, {line: "ls \u202e", says: "U+202E"}, {line: `cat <<EOF`, says: ""},
		{line: strings.Repeat("a", sizeCap+1), says: "bytes"},
	} {
		r := Strict(c.line, start)
		allowed := r.Grade <= Contained
		switch {
		case allowed != (c.argv != nil):
			t.Errorf("%q: %s by %s: %s", c.line, columns[r.Grade], r.Rule, r.Reason)
		case allowed && !slices.Equal(r.Argv, c.argv):
			t.Errorf("%q runs %q, want %q", c.line, r.Argv, c.argv)
		case !allowed && (r.Reason == "" || r.Rule == "" || !strings.Contains(r.Reason+"; "+r.Instead, c.says)):
			t.Errorf("%q is refused by %s with %q, which does not name %q", c.line, r.Rule, r.Reason+"; "+r.Instead, c.says)
		}
	}
}

// TestStrictNothing holds the three ways of saying nothing apart.
func TestStrictNothing(t *testing.T) {
	seen := map[string]string{}
	for _, line := range []string{"", "  ", `ls "`} {
		reason := Strict(line, start).Reason
		if other, twice := seen[reason]; twice {
			t.Errorf("%q and %q are both refused with %q", line, other, reason)
		}
		seen[reason] = line
	}
}
