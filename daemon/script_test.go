package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs testdata/script/*.txtar against the real binaries in the
// layout of an installation, each script with a home and a daemon of its own.
//
// Beside testscript's own commands there are:
//
//	answers L/L ARG..  call bothy in a terminal and type a line at each question
//	example VAR F NAME build bothy-plugin-NAME of examples/F, at the path in the variable VAR
//	hang-up            send the daemon SIGHUP
//	login-server start have a server of MCP at $LOGIN_URL that wants a login; revoke, end, logins N
//	no-canary DIR..    fail when the secret $CANARY is in a file below, in any form
//	keyring start      have a keyring of the script's own; lock, unlock it; set NAME, of $WORK/keys
//	kill9 INSTANCE     kill -9 the plugin instance, found by `bothy plugins list`
//	no-keys DIR..      fail when a key of $WORK/keys is in a file below, in any form, or in the arguments or the environment of a process; the daemon may have ENV_KEY
//	nothing-left       fail unless the daemon's processes and containers are gone
//	readme             run the commands that README shows
//	serve-lock         serve a model at $LOCK_URL that says by which key of $WORK/keys it is asked
//	serve-model        serve a model whose words follow from the prompt, at $MODEL_URL
//	serve-search       serve search engines at $SEARCH_URL that find pages of serve-web
//	serve-web          serve the hosts $SITE and $OTHER of an internet of the script's own
//	serve-words VAR W  serve a model that says W, at the URL in the variable VAR
//	same-process NAME  fail unless the plugin's process is that of the last time
//	spoil FILE A B     write B over each A in a file, as a disk that rots
//	sparse FILE SIZE   make a file of SIZE bytes that takes no room
//	until REGEXP ARG.. call bothy with the arguments until its output matches
//
// and the conditions [sandbox], which is true where rootless Podman can run,
// [network], where containers can be given one, [python], where the packages are that
// plugins in Python need, and [root], for whom no folder is
// closed.
func TestScripts(t *testing.T) {
	prefix := installation(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Setup:               func(env *testscript.Env) error { return setUp(env, prefix) },
		Condition:           condition,
		Cmds:                scriptCommands,
	})
}

var scriptCommands = map[string]func(*testscript.TestScript, bool, []string){
	"example":      scriptExample,
	"hang-up":      hangUp,
	"keyring":      keyring,
	"kill9":        killPlugin,
	"login-server": loginServer,
	"no-canary":    noCanary,
	"no-keys":      noKeys,
	"works":        works,
	"nothing-left": nothingLeft,
	"readme":       readme,
	"same-process": sameProcess,
	"serve-lock":   serveLock,
	"serve-model":  serveModel,
	"serve-search": serveSearch,
	"serve-web":    serveWeb,
	"serve-words":  serveWords,
	"sparse":       sparse,
	"spoil":        spoil,
	"until":        until,
}

var build struct {
	sync.Once
	prefix string
	err    error
}

// installation builds the binaries once, into the layout that `make build` makes.
func installation(t testing.TB) string {
	t.Helper()
	build.Do(func() { build.prefix, build.err = makeInstallation() })
	if build.err != nil {
		t.Fatal(build.err)
	}
	return build.prefix
}

func makeInstallation() (string, error) {
	prefix, err := os.MkdirTemp("", "bothy-prefix-")
	if err != nil {
		return "", err
	}
	targets := map[string]string{
		"./daemon/cmd/bothy": "bin/bothy", "./daemon/cmd/bothyd": "bin/bothyd",
		"./sandbox/runner": "libexec/bothy/bothy-runner", "./sandbox/view": "libexec/bothy/bothy-view",
		"./daemon/cmd/bothy-shim": "libexec/bothy/bothy-shim", "./terminal": "libexec/bothy/bothy-terminal",
	}
	plugins, err := filepath.Glob(filepath.Join("..", "plugins", "*", "main.go"))
	if err != nil {
		return "", err
	}
	for _, main := range plugins {
		name := filepath.Base(filepath.Dir(main))
		if name == "web" {
			continue
		}
		targets["./plugins/"+name] = "libexec/bothy/bothy-plugin-" + name
	}
	// One bridge has the name of a plugin.
	bridges := map[string]string{"./bridge/acp": "libexec/bothy/bothy-acp", "./bridge/mcp": "libexec/bothy/bothy-mcp"}
	if err := errors.Join(buildInto(prefix, targets), buildInto(prefix, bridges)); err != nil {
		return "", err
	}
	// The plugin web reaches what tests serve, and nothing else.
	if err := buildInto(prefix, map[string]string{"./plugins/web": "libexec/bothy/bothy-plugin-web"}, withTag("webtest")); err != nil {
		return "", err
	}
	return prefix, bundleLedger(prefix)
}

// withTag is the flag that adds a tag to those that everything is built with, so that what others wrote is compiled once.
func withTag(tag string) string {
	for _, flag := range strings.Fields(os.Getenv("GOFLAGS")) {
		if all, is := strings.CutPrefix(flag, "-tags="); is {
			tag += "," + all
		}
	}
	return "-tags=" + tag
}

// buildInto builds packages to their paths in an installation: in one go, and without what only a debugger
// reads, which is half the time.
func buildInto(prefix string, targets map[string]string, flags ...string) error {
	built := filepath.Join(prefix, "built")
	cmd := exec.Command("go", slices.Concat([]string{"build", "-ldflags=-s -w", "-o", built + "/"}, flags, slices.Collect(maps.Keys(targets)))...)
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the installation: %w\n%s", err, text)
	}
	for pkg, out := range targets {
		out = filepath.Join(prefix, out)
		if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(built, filepath.Base(pkg)), out); err != nil {
			return err
		}
	}
	return nil
}

func TestMain(m *testing.M) {
	if socket := os.Getenv(bareServer); socket != "" {
		fmt.Fprintln(os.Stderr, serveBare(socket))
		os.Exit(1)
	}
	if os.Getenv(hostileServer) != "" {
		fmt.Fprintln(os.Stderr, serveHostile())
		os.Exit(1)
	}
	if os.Getenv(playLedger) != "" {
		serveLedger()
	}
	if os.Getenv(playIntruder) != "" {
		serveIntruder()
	}
	if os.Getenv(playSpiller) != "" {
		serveSpiller()
	}
	if os.Getenv(playFront) != "" {
		serveFront()
	}
	if os.Getenv(playVeto) != "" {
		serveVeto()
	}
	if fault := os.Getenv(playFaulty); fault != "" {
		serveFaulty(fault)
	}
	code := m.Run()
	printResults()
	if build.prefix != "" {
		if err := os.RemoveAll(build.prefix); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// asksNobody is the environment in which agents do what is not denied: for
// tests that are about something else.
var asksNobody = []string{"BOTHY_POLICY_MODE=full", "BOTHY_POLICY_ALLOW_DANGEROUS=true"}

// setUp gives a script a home, a project and a short runtime folder, and ends
// its daemon when the script is over.
func setUp(env *testscript.Env, prefix string) error {
	runtime, err := os.MkdirTemp("/tmp", "bs-") // short: a socket's path ends at 107 bytes
	if err != nil {
		return err
	}
	for _, dir := range []string{"home", "project/.git/hooks"} {
		if err := os.MkdirAll(filepath.Join(env.WorkDir, dir), 0o700); err != nil {
			return err
		}
	}
	env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv("XDG_RUNTIME_DIR", runtime)
	env.Setenv("BOTHY_PREFIX", prefix)
	env.Setenv("PATH", filepath.Join(prefix, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	env.Setenv("PROJECT", filepath.Join(env.WorkDir, "project"))
	env.Setenv("NO_COLOR", "1")
	if err := goEnv(env); err != nil {
		return err
	}
	for _, v := range asksNobody {
		name, value, _ := strings.Cut(v, "=")
		env.Setenv(name, value) // a script about policy unsets them
	}
	env.Cd = filepath.Join(env.WorkDir, "project")
	env.Defer(func() {
		endDaemon(env, runtime)
		if err := removeAll(filepath.Join(env.WorkDir, "home")); err != nil {
			env.T().Log(err)
		}
	})
	return nil
}

// goEnv lets a script build a plugin with what the tests themselves were built
// from, at $CHECKOUT.
func goEnv(env *testscript.Env) error {
	checkout, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	env.Setenv("CHECKOUT", checkout)
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		return err
	}
	cache, modules, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	env.Setenv("GOCACHE", cache)
	env.Setenv("GOMODCACHE", modules)
	return nil
}

// removeAll removes a folder in which containers may have left files of
// subordinate ids: those go within a user namespace.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	out, err := exec.Command("unshare", "--user", "--map-root-user", "--map-auto", "rm", "-rf", dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("remove %s: %w: %s", dir, err, out)
	}
	return nil
}

// endDaemon ends the script's daemon by the pid in its lock file, waits for it
// and shows its log when the script failed.
func endDaemon(env *testscript.Env, runtime string) {
	defer os.RemoveAll(runtime)
	text, err := os.ReadFile(filepath.Join(runtime, "bothy", "daemon.lock"))
	if err != nil {
		return // there was none
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return // it stopped by itself
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err == nil {
		waitGone(pid, 30*time.Second)
	}
	if failed, ok := env.T().(interface{ Failed() bool }); ok && failed.Failed() {
		log, _ := os.ReadFile(filepath.Join(env.Getenv("HOME"), ".local/state/bothy/bothyd.log"))
		env.T().Log("bothyd.log:\n" + string(log))
	}
}

// waitGone polls until the process ended and reports whether it did.
func waitGone(pid int, within time.Duration) bool {
	for deadline := time.Now().Add(within); time.Now().Before(deadline); <-time.After(20 * time.Millisecond) {
		if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) || zombie(pid) {
			return true
		}
	}
	return false
}

func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// condition answers [sandbox], [network] and [root]. A script that needs it and has it not is
// skipped with a reason that begins with "sandbox:", which CI counts as failed.
func condition(name string) (bool, error) {
	if name == "root" {
		return os.Geteuid() == 0, nil
	}
	if name == "network" {
		_, slirp := exec.LookPath("slirp4netns")
		_, pasta := exec.LookPath("pasta")
		return slirp == nil || pasta == nil, nil
	}
	if name == "python" {
		return exec.Command(python, "-c", "import google.protobuf, grpc, grpc_tools").Run() == nil, nil
	}
	if name != "sandbox" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	if os.Geteuid() == 0 {
		return false, nil
	}
	_, err := exec.LookPath("podman")
	return err == nil, nil
}

func runBothy(ts *testscript.TestScript, args ...string) []byte {
	out, err := tryBothy(ts, args...)
	if err != nil {
		ts.Fatalf("bothy %v: %v", args, err)
	}
	return out
}

func tryBothy(ts *testscript.TestScript, args ...string) ([]byte, error) {
	cmd := exec.Command(filepath.Join(ts.Getenv("BOTHY_PREFIX"), "bin", "bothy"), args...)
	cmd.Dir = ts.Getenv("PROJECT")
	for _, name := range []string{"HOME", "XDG_RUNTIME_DIR", "BOTHY_PREFIX", "PATH", "NO_COLOR", "BOTHY_POLICY_MODE", "BOTHY_POLICY_ALLOW_DANGEROUS"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	return cmd.Output()
}

type listedPlugin struct {
	Instance string `json:"instance"`
	PID      int    `json:"pid"`
}

func runningPlugins(ts *testscript.TestScript) []listedPlugin {
	var list []listedPlugin
	out := runBothy(ts, "plugins", "list", "--json")
	if err := json.Unmarshal(out, &list); err != nil {
		ts.Fatalf("plugins list: %v\n%s", err, out)
	}
	return list
}

func killPlugin(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: kill9 INSTANCE")
	}
	for _, p := range runningPlugins(ts) {
		if p.Instance == args[0] && p.PID > 0 {
			ts.Check(syscall.Kill(p.PID, syscall.SIGKILL))
			ts.Setenv("KILLED", strconv.Itoa(p.PID))
			return
		}
	}
	ts.Fatalf("plugin %s does not run", args[0])
}

// until polls: what a script waits for happens in another process. With ! it waits until
// bothy does not say it any more.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: [!] until REGEXP ARGUMENT...")
	}
	wanted, err := regexp.Compile(args[0])
	ts.Check(err)
	var out []byte
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); <-time.After(20 * time.Millisecond) {
		if out, err = tryBothy(ts, args[1:]...); err == nil && wanted.Match(out) != neg {
			return
		}
	}
	said := "never said"
	if neg {
		said = "did not stop saying"
	}
	ts.Fatalf("bothy %v %s %s, but at last (%v):\n%s", args[1:], said, args[0], err, out)
}

func sparse(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sparse FILE SIZE")
	}
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(touch(ts, ts.MkAbs(args[0])), size))
}

// spoil wants texts of one length, and the first one to be there.
func spoil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 || len(args[1]) != len(args[2]) {
		ts.Fatalf("usage: spoil FILE TEXT OTHER, which is as long")
	}
	path := ts.MkAbs(args[0])
	text, err := os.ReadFile(path)
	ts.Check(err)
	if !strings.Contains(string(text), args[1]) {
		ts.Fatalf("%s does not hold %q", path, args[1])
	}
	ts.Check(os.WriteFile(path, []byte(strings.ReplaceAll(string(text), args[1], args[2])), 0o600))
}

func touch(ts *testscript.TestScript, path string) string {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	ts.Check(err)
	ts.Check(f.Close())
	return path
}

// nothingLeft looks for processes whose environment or command line names the
// script's runtime folder or its home: plugins, the Podman service, conmon,
// and the runner in a container.
func nothingLeft(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: nothing-left")
	}
	marks := []string{ts.Getenv("XDG_RUNTIME_DIR"), ts.Getenv("HOME")}
	var left []string
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); <-time.After(50 * time.Millisecond) {
		if left = processesNaming(marks); len(left) == 0 {
			return
		}
	}
	log, _ := os.ReadFile(filepath.Join(ts.Getenv("HOME"), ".local/state/bothy/bothyd.log"))
	ts.Fatalf("still there:\n%s\nbothyd.log:\n%s", strings.Join(left, "\n"), log)
}

func processesNaming(marks []string) []string {
	var found []string
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return []string{err.Error()}
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() || zombie(pid) {
			continue
		}
		command, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		for _, m := range marks {
			if strings.Contains(string(command), m) {
				found = append(found, e.Name()+" "+strings.ReplaceAll(string(command), "\x00", " "))
				break
			}
		}
	}
	return found
}
