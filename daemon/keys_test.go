package daemon

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bothyd/bothy/daemon/internal/credential/ringtest"
)

// keysOf are the keys of a script, by name: the lines "NAME key" of $WORK/keys.
func keysOf(ts *testscript.TestScript) map[string]string {
	keys := map[string]string{}
	lines := bufio.NewScanner(strings.NewReader(ts.ReadFile(filepath.Join(ts.Getenv("WORK"), "keys"))))
	for lines.Scan() {
		if name, key, ok := strings.Cut(lines.Text(), " "); ok {
			keys[name] = key
		}
	}
	if len(keys) == 0 {
		ts.Fatalf("$WORK/keys has no keys")
	}
	return keys
}

// rings are the keyrings of scripts, by $WORK.
var rings sync.Map

// keyring is `keyring start`, `keyring lock`, `keyring unlock` and `keyring set NAME`.
func keyring(ts *testscript.TestScript, neg bool, args []string) {
	work := ts.Getenv("WORK")
	if !neg && len(args) == 1 && args[0] == "start" {
		dir, err := os.MkdirTemp("/tmp", "bk-") // short: a socket's path ends at 107 bytes
		ts.Check(err)
		s, err := ringtest.Start(dir)
		ts.Check(err)
		rings.Store(work, s)
		ts.Setenv("DBUS_SESSION_BUS_ADDRESS", s.Address())
		ts.Defer(func() {
			s.Close()
			rings.Delete(work)
			_ = os.RemoveAll(dir) // a folder below /tmp
		})
		return
	}
	found, there := rings.Load(work)
	switch {
	case neg || !there || len(args) == 0:
		ts.Fatalf("usage: keyring start, and then lock, unlock or set NAME")
	case args[0] == "set" && len(args) == 2:
		found.(*ringtest.Service).Set(args[1], keysOf(ts)[args[1]])
	case args[0] == "lock" || args[0] == "unlock":
		found.(*ringtest.Service).Lock(args[0] == "lock")
	default:
		ts.Fatalf("there is no keyring %v", args)
	}
}

// serveLock is `serve-lock`. Who has no key that is known gets an error which repeats it.
func serveLock(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: serve-lock")
	}
	keys := keysOf(ts)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, `{"object":"list","data":[{"id":"door","object":"model"}]}`)
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		shown := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		for name, key := range keys {
			if shown == key && !strings.HasPrefix(name, "WRONG") {
				w.Header().Set("Content-Type", "text/event-stream")
				s := sse{w: w, r: r}
				s.text("known as " + name)
				s.end("stop")
				return
			}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"message":"the key %s opens nothing","type":"invalid_request_error"}}`, shown)
	})
	server := httptest.NewServer(mux)
	ts.Setenv("LOCK_URL", server.URL+"/v1")
	ts.Defer(func() {
		server.CloseClientConnections()
		server.Close()
	})
}

// noKeys is `no-keys DIR...`. Processes are those of this user, whoever started them.
func noKeys(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: no-keys DIR...")
	}
	keys := keysOf(ts)
	looked := 0
	for _, dir := range args {
		eachFile(ts, dir, func(path string, text []byte) {
			looked++
			for name, key := range keys {
				if found := canaryIn(key, text); found != "" {
					ts.Fatalf("%s has %s %s", path, name, found)
				}
			}
		})
	}
	daemon := daemonOf(ts)
	processes, had := 0, false
	for pid, text := range ownProcesses(ts) {
		processes++
		for name, key := range keys {
			switch {
			case !bytes.Contains(text, []byte(key)):
			case name == "ENV_KEY" && pid == daemon:
				had = true
			default:
				comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
				ts.Fatalf("the process %d (%s) has %s in its arguments or its environment", pid, bytes.TrimSpace(comm), name)
			}
		}
	}
	if looked == 0 || processes < 3 {
		ts.Fatalf("looked at %d files and %d processes", looked, processes)
	}
	if wants := ts.Getenv("DAEMON_HAS_ENV_KEY") != ""; wants != had {
		ts.Fatalf("that the daemon has ENV_KEY in its environment is %v: what is looked for would not be found", had)
	}
}

// daemonOf is the process of the script's daemon, 0 when there is none.
func daemonOf(ts *testscript.TestScript) int {
	text, _ := os.ReadFile(filepath.Join(ts.Getenv("XDG_RUNTIME_DIR"), "bothy", "daemon.lock"))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

// ownProcesses are the arguments and the environment of each process that can be read.
func ownProcesses(ts *testscript.TestScript) map[int][]byte {
	all, err := filepath.Glob("/proc/[0-9]*")
	ts.Check(err)
	found := map[int][]byte{}
	for _, dir := range all {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		arguments, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil {
			continue // it has ended
		}
		environment, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil {
			continue // it is another user's
		}
		found[pid] = slices.Concat(arguments, []byte{0}, environment)
	}
	return found
}
