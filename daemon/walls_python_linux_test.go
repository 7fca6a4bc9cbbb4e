package daemon

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk/rpc"
)

// reaches is the beginning of a plugin in Python: it tries to reach what the variables
// REACH_* name, itself and from a process that left its parents behind, and writes what it
// got into its home, before it serves.
const reaches = `import os, socket, sys

def opened(path):
    with open(path, "rb") as f:
        return f.read(1) is not None

def connected(family, address):
    s = socket.socket(family, socket.SOCK_STREAM)
    s.settimeout(2)
    s.connect(address)
    return s

def hello(path, token):
    s = connected(socket.AF_UNIX, path)
    s.settimeout(5)
    f = s.makefile("rwb")
    f.readline()
    f.write(('{"jsonrpc":"2.0","id":1,"method":"hello","params":{"client":"x","protocol":"2.0","token":"%s"}}\n' % token).encode())
    f.flush()
    answer = f.readline()
    if b'"approve"' not in answer:
        raise OSError(answer)

env = os.environ
daemon = os.getppid()
TRIES = {
    "token": lambda: opened(env["REACH_TOKEN"]),
    "database": lambda: opened(env["REACH_DATABASE"]),
    "configuration": lambda: opened(env["REACH_CONFIG"]),
    "home": lambda: os.listdir(env["REACH_HOME"]),
    "agent": lambda: connected(socket.AF_UNIX, env["REACH_AGENT"]),
    "bus": lambda: connected(socket.AF_UNIX, env["REACH_BUS"]),
    "abstract": lambda: connected(socket.AF_UNIX, "\0" + env["REACH_ABSTRACT"]),
    "loopback": lambda: connected(socket.AF_INET, ("127.0.0.1", int(env["REACH_PORT"]))),
    "environment": lambda: opened("/proc/%d/environ" % daemon),
    "root": lambda: opened("/proc/%d/root%s" % (daemon, env["REACH_TOKEN"])),
    "signal": lambda: os.kill(daemon, 0),
    "role": lambda: hello(env["REACH_SOCKET"], open(env["REACH_TOKEN"]).read().strip()),
}

def reach(who):
    with open(os.path.join(env["HOME"], "reached-" + who + ".new"), "w") as out:
        for name, attempt in TRIES.items():
            try:
                attempt()
                print(name, "reached", file=out)
            except Exception as e:
                print(name, "refused", repr(e)[:200], file=out)
    os.rename(os.path.join(env["HOME"], "reached-" + who + ".new"), os.path.join(env["HOME"], "reached-" + who))

if "describe" not in sys.argv:
    reach("itself")
    before = os.getpid()
    between = os.fork()
    if between == 0:
        between = os.getpid()
        if os.fork() == 0:
            os.setsid()
            while os.getppid() == between:
                pass
            reach("detached")
        os._exit(0)
    os.waitpid(between, 0)
`

// TestInstalledReachesNothing: a plugin in Python, as plugins install configures it by
// itself, reaches nothing of the person's and gets no role, and neither does a process of
// it that left its parents behind. Unconfined it reaches all of it, so that the attempts
// prove something; a role it gets then only once it left its parents behind
// (docs/security.md, Plugins).
func TestInstalledReachesNothing(t *testing.T) {
	t.Parallel()
	needPython(t)
	s := newSeat(t, 80, 24)
	s.write(".ssh/id_canary", "a key\n")
	var lines string
	bundle := t.TempDir()
	reaching(t, bundle)

	listen := func(network, address string) net.Addr {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return l.Addr()
	}
	listen("unix", filepath.Join(s.home, "agent"))
	listen("unix", filepath.Join(s.home, "bus"))
	abstract := fmt.Sprintf("bothy-test-%d", os.Getpid())
	listen("unix", "@"+abstract)
	_, port, err := net.SplitHostPort(listen("tcp", "127.0.0.1:0").String())
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(strings.TrimPrefix(s.env[1], "XDG_RUNTIME_DIR="), "bothy")
	for name, value := range map[string]string{
		"TOKEN": rpc.TokenPath(filepath.Join(at, rpc.SocketName), rpc.RoleApprove), "SOCKET": filepath.Join(at, rpc.SocketName),
		"DATABASE": filepath.Join(s.home, ".local/state/bothy/bothy.db"), "CONFIG": filepath.Join(s.home, ".config/bothy/config.hcl"),
		"HOME": filepath.Join(s.home, ".ssh"), "AGENT": filepath.Join(s.home, "agent"), "BUS": filepath.Join(s.home, "bus"), "ABSTRACT": abstract, "PORT": port,
	} {
		lines += fmt.Sprintf("    REACH_%s = %q\n", name, value)
	}
	s.bothy("plugins", "install", "--yes", bundle)
	s.bothy("plugins", "install", "--yes", "--unconfined", "--name", "free", bundle)
	block := regexp.MustCompile(`(?m)^plugin "(words|free)" \{$`)
	config, err := os.ReadFile(filepath.Join(s.home, ".config/bothy/config.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	with := func(more string) {
		s.write(".config/bothy/config.hcl", block.ReplaceAllString(string(config), "$0\n"+more))
	}
	with("  enabled = false")
	s.bothy("tools", "list") // starts the daemon, whose tokens and database are there then
	with("  env = {\n" + lines + "  }")

	for _, c := range []struct{ who, home, refused string }{
		{"itself", ".local/state/bothy/confined/words/home", "token database configuration home agent bus abstract loopback environment root signal role"},
		{"detached", ".local/state/bothy/confined/words/home", "token database configuration home agent bus abstract loopback environment root signal role"},
		{"itself", "", "role"},
		{"detached", "", ""},
	} {
		text := s.written(filepath.Join(s.home, c.home, "reached-"+c.who))
		refused := regexp.MustCompile(`(?m)^(\w+) refused`).FindAllStringSubmatch(text, -1)
		var names []string
		for _, m := range refused {
			names = append(names, m[1])
		}
		if got := strings.Join(names, " "); got != c.refused || strings.Count(text, "\n") != 12 {
			t.Errorf("%s in %q was refused %q, want %q:\n%s", c.who, c.home, got, c.refused, text)
		}
	}
}

// written waits for a file and is its text.
func (s *seat) written(path string) string {
	s.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(20 * time.Millisecond) {
		if text, err := os.ReadFile(path); err == nil {
			return string(text)
		}
	}
	s.t.Fatalf("%s is not there: %s", path, s.bothy("plugins", "list"))
	return ""
}

// reaching makes a bundle of the example in Python whose script begins with reaches.
func reaching(t *testing.T, folder string) {
	t.Helper()
	script, _ := example(t, "python-tool", "words")
	if err := os.CopyFS(folder, os.DirFS(filepath.Dir(script))); err != nil {
		t.Fatal(err)
	}
	served, err := os.ReadFile(script)
	if err == nil {
		first, rest, _ := strings.Cut(string(served), "\n")
		err = os.WriteFile(filepath.Join(folder, filepath.Base(script)), []byte(first+"\n"+reaches+"\n"+rest), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}
