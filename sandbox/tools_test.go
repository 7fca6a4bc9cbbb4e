//go:build linux

package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sandbox"
)

// work is what the seccomp profile was measured with: one program or more
// that do real work, and what they print when they did.
type work struct{ tool, script, want string }

func works() []work {
	return []work{
		{"python3", `python3 - <<'PY'
import ssl, json, subprocess, tempfile, threading, multiprocessing, socket, sqlite3, asyncio, os, mmap
assert ssl.create_default_context().cert_store_stats()["x509_ca"] > 0
sqlite3.connect("/tmp/x.db").execute("create table t(a)")
with multiprocessing.get_context("fork").Pool(2) as pool: assert pool.map(abs, [-1, -2]) == [1, 2]
assert subprocess.run(["echo", "x"], capture_output=True).stdout == b"x\n"
asyncio.run(asyncio.sleep(0)); mmap.mmap(-1, 4096); os.nice(1); socket.create_server(("127.0.0.1", 0))
t = threading.Thread(target=print, args=("from python",)); t.start(); t.join()
PY`, "from python"},
		{"gcc", `gcc -O2 -pthread -o threads c/threads.c && ./threads && ! strace -V >/dev/null 2>&1 || true`, "64 threads"},
		{"make", `make -C c -j2 && c/hello`, "from make"},
		{"go", goScript(), "from main"},
		{"node", `node -e 'const {Worker}=require("worker_threads"), {execSync}=require("child_process"), fs=require("fs"), net=require("net");
fs.writeFileSync("n", "x"); execSync("true"); const s=net.createServer(c=>c.end()).listen(0, "127.0.0.1", ()=>net.connect(s.address().port).on("close", ()=>{s.close();
new Worker("console.log(\"from node\")", {eval: true})}).resume())'`, "from node"},
		{"git", `mkdir r && cd r && git init -q -b main && git config --file ~/.gitconfig user.name a && git config --file ~/.gitconfig user.email a@b &&
echo 1 >f && git add f && git commit -qm 1 && git checkout -qb other && echo 2 >g && git add g && git commit -qm 2 && git checkout -q main &&
echo 3 >f && git commit -qam 3 && git merge -q -m merged other && echo 4 >f && git stash -q && git stash pop -q && git checkout -q f &&
git worktree add -q ../w other && git -C ../w log --oneline | wc -l && git gc -q && git fsck && git clone -q . ../copy && git -C ../copy status --short && echo "from git $(git log --oneline | wc -l)" && cd .. && rm -rf w copy r`, "from git 4"},
		{"perl", `perl -MSocket -MPOSIX -e 'pipe(R, W); if (!fork) { syswrite W, "from perl"; POSIX::_exit(0) } wait; close W; print <R>'`, "from perl"},
		{"tar", `mkdir -p t/a && echo x >t/a/b && ln -s b t/a/l && tar -czf t.tgz t && rm -r t && tar -xzpf t.tgz && tar -tzf t.tgz | wc -l && cat t/a/l && rm -r t t.tgz && echo from tar`, "from tar"},
		{"bash", `coproc cat; echo x >&"${COPROC[1]}"; read -r a <&"${COPROC[0]}"; diff <(echo a) <(echo a) && mkfifo /tmp/q && (echo "from bash $a" >/tmp/q &) && cat /tmp/q`, "from bash x"},
	}
}

// goScript builds and tests a module without the network, which compiles the
// standard library first and takes half a minute: all of it where time is no
// matter, the parts elsewhere.
func goScript() string {
	if os.Getenv("CI") == "" {
		return `cd m && go list -f 'from {{.Name}}' . && go tool compile -p main -o hello.o main.go && go fmt ./... && test -s hello.o`
	}
	return `cd m && export GOFLAGS=-mod=mod GOPROXY=off && go build -o hello . && ./hello && go test ./... && go vet . && go list -f 'from {{.Name}}' .`
}

// The host's own tools work in the skeleton image, under our profile. What the
// host lacks is counted and named.
func TestToolchains(t *testing.T) {
	m := shared(t)
	f := newFixture(t, m)
	for name, content := range map[string]string{
		"c/hello.c":   "#include <stdio.h>\nint main(void){puts(\"from make\");return 0;}\n",
		"c/Makefile":  "hello: hello.c\n\tcc -O0 -o hello hello.c\n",
		"c/threads.c": "#include <pthread.h>\n#include <stdio.h>\nstatic int n;static pthread_mutex_t m=PTHREAD_MUTEX_INITIALIZER;static void*one(void*x){for(int i=0;i<1000;i++){pthread_mutex_lock(&m);n++;pthread_mutex_unlock(&m);}return x;}\nint main(void){pthread_t t[64];for(int i=0;i<64;i++)if(pthread_create(&t[i],0,one,0))return 1;for(int i=0;i<64;i++)pthread_join(t[i],0);printf(\"%d threads\\n\",n/1000);return 0;}\n",
		"m/go.mod":    "module hello\n\ngo 1.21\n",
		"m/main.go":   "package main\n\nfunc two() int { return 2 }\n\nfunc main() { println(two()) }\n",
		"m/x_test.go": "package main\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) { if two() != 2 { t.Fatal(two()) } }\n",
	} {
		f.write(name, content)
	}
	var missing []string
	for _, c := range works() {
		if !hostHas(c.tool) {
			missing = append(missing, c.tool)
			continue
		}
		t.Run(c.tool, func(t *testing.T) {
			f.t = t
			out := f.exec(t.Context(), sandbox.Command{Argv: []string{"bash", "-c", c.script}, Timeout: 10 * time.Minute})
			if out.err != nil || out.ExitCode != 0 || !strings.Contains(out.stdout, c.want) || len(out.Violations) != 0 {
				t.Fatalf("exit %d, want %q: %+v %v\n%s%s", out.ExitCode, c.want, out.Result, out.err, out.stdout, out.stderr)
			}
		})
	}
	if len(missing) > 0 {
		t.Logf("%d of %d toolchains are not on this host: %s", len(missing), len(works()), strings.Join(missing, ", "))
		if os.Getenv("CI") != "" {
			t.Errorf("not measured: %v", missing)
		}
	}
}

// hostHas says whether a command in the sandbox finds the program.
func hostHas(name string) bool {
	for _, dir := range []string{"/usr/bin", "/usr/local/bin", "/usr/local/go/bin"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}
