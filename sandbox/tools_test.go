//go:build linux

package sandbox_test

import (
	"strings"
	"testing"
)

// The host's own tools work in the skeleton image.
func TestHostToolsWork(t *testing.T) {
	m := shared(t)
	f := newFixture(t, m)
	f.write("c/hello.c", "#include <stdio.h>\nint main(void){puts(\"from c\");return 0;}\n")
	f.write("go.mod", "module hello\n\ngo 1.21\n")
	f.write("main.go", "package main\n\nfunc main() { println(1) }\n")
	for _, c := range []struct{ tool, script, want string }{
		{"python3", `python3 -c 'import ssl, json, subprocess, tempfile, threading; assert ssl.create_default_context().cert_store_stats()["x509_ca"] > 0; t = threading.Thread(target=print, args=("from python",)); t.start(); t.join()'`, "from python"},
		{"gcc", "gcc -O2 -o hello c/hello.c && ./hello", "from c"},
		// A whole build would compile the standard library first.
		{"go", "go list -f 'from {{.Name}}' . && go tool compile -o hello.o main.go && test -s hello.o", "from main"},
		{"node", `node -e 'const {Worker}=require("worker_threads"); new Worker("console.log(\"from node\")",{eval:true})'`, "from node"},
		{"git", `mkdir /tmp/r && cd /tmp/r && git init -q && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git log --oneline | wc -l`, "1"},
		{"perl", `perl -e 'print "from perl\n"'`, "from perl"},
		{"make", `printf 'a:\n\t@echo from make\n' >/tmp/m && make -f /tmp/m`, "from make"},
	} {
		t.Run(c.tool, func(t *testing.T) {
			needTool(t, c.tool)
			f.t = t
			if got := f.ok(c.script); !strings.Contains(got, c.want) {
				t.Fatalf("got %q, want %q", got, c.want)
			}
		})
	}
}
