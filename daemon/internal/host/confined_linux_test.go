package host

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/confine"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// programs are bothy-shim, and the attacks that package confine tries too.
var programs = sync.OnceValues(func() (string, error) {
	dir := filepath.Dir(faultBinary)
	for name, pkg := range map[string]string{"bothy-shim": "../../cmd/bothy-shim", "attack": "../confine/testdata/attack"} {
		cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(dir, name), pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w\n%s", pkg, err, text)
		}
	}
	return dir, nil
})

// walled is a rig that can confine, on a kernel that can.
func walled(t testing.TB, change func(*Config)) *rig {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	if lacks := confine.ThisKernel(filepath.Join(dir, "bothy-shim")).Lacks(); len(lacks) > 0 {
		t.Skipf("this kernel does not hold a process back from %s", strings.Join(lacks, "; "))
	}
	return newRig(t, func(c *Config) {
		c.Shim = filepath.Join(dir, "bothy-shim")
		if change != nil {
			change(c)
		}
	})
}

// begin starts plugins that have to be ready, with no more than warnings.
func (r *rig) begin(t testing.TB, specs ...inspect.Spec) {
	t.Helper()
	for _, d := range r.start(context.Background(), specs) {
		if !d.Warning() {
			t.Fatalf("%s: %s", d.Summary, d.Detail)
		}
	}
}

// TestConfinedPlugin: a plugin with an empty confine block works, in folders of
// its own, and what it was is gone with it.
func TestConfinedPlugin(t *testing.T) {
	daemon := &fakeDaemon{}
	r := walled(t, func(c *Config) { c.Services = daemon })
	daemon.s = r.Supervisor
	s := spec("fault", "")
	s.Confine = &config.Confine{}
	s.Limits.Files = 300
	r.begin(t, s)

	if res := r.mustCall(t, "echo", `{"n":1,"text":"hello"}`); res.Output != "hello" {
		t.Errorf("it answers %q", res.Output)
	}
	if res := r.mustCall(t, "back", `{"service":"entry","name":"known"}`); !strings.HasPrefix(res.Output, "fault run") {
		t.Errorf("its callback answers %q", res.Output)
	}
	var about struct {
		Env        []string
		Pid, Group int
	}
	if err := json.Unmarshal(r.mustCall(t, "about", ``).Structured, &about); err != nil {
		t.Fatal(err)
	}
	st := r.status(t, "fault")
	if about.Pid != st.PID || about.Group != st.PID {
		t.Errorf("process %d, group %d, the supervisor's is %d", about.Pid, about.Group, st.PID)
	}
	if want := "its own folder; no network"; st.Confined != want {
		t.Errorf("the status says %q, want %q", st.Confined, want)
	}
	home := filepath.Join(r.Supervisor.cfg.DataDir, "confined", "fault", "home")
	env := strings.Join(about.Env, "\n")
	for _, want := range []string{"HOME=" + home + "\n", "XDG_RUNTIME_DIR=" + home + "/run\n", "TMPDIR=" + filepath.Dir(home) + "/tmp"} {
		if !strings.Contains(env, want) {
			t.Errorf("the environment lacks %s:\n%s", want, env)
		}
	}
	for _, path := range []string{"$HOME/kept", "$TMPDIR/passing"} {
		if res := r.mustCall(t, "spawn", `{"argv":["/bin/sh","-c","echo mine >`+path+`"]}`); res.Error != "" {
			t.Errorf("writing to %s: %s %s", path, res.Error, res.Output)
		}
	}
	if got := residentLimit(t, st.PID); !strings.Contains(got, "300") {
		t.Errorf("its limit of files: %s", got)
	}
	r.Stop(context.Background())
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(home), "*", "*")); err != nil || len(left) != 2 {
		t.Errorf("left of it: %q %v, want what it kept and its folder run", left, err)
	}
}

func residentLimit(t *testing.T, pid int) string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "Max open files") {
			return line
		}
	}
	return ""
}

// TestConfinedAbuse: a confined plugin, and whatever it starts, gets at nothing
// of the daemon's or of another plugin's. An unconfined one does.
func TestConfinedAbuse(t *testing.T) {
	r := walled(t, nil)
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	open, shut := spec("open", ""), spec("shut", "")
	shut.Confine = &config.Confine{ReadPaths: []string{filepath.Join(dir, "attack")}}
	r.begin(t, open, shut)

	data, home := r.Supervisor.cfg.DataDir, t.TempDir()
	token := filepath.Join(r.Supervisor.cfg.SocketDir, "token") // as the daemon's lies beside its socket
	key, database := filepath.Join(home, "id_ed25519"), filepath.Join(data, "bothy.db")
	for _, path := range []string{token, key, database} {
		if err := os.WriteFile(path, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	bus := filepath.Join(home, "bus") // as that of the session, which starts programs for whoever asks
	if b, err := net.Listen("unix", bus); err != nil {
		t.Fatal(err)
	} else {
		defer b.Close()
	}
	pid, other := strconv.Itoa(os.Getpid()), strconv.Itoa(r.status(t, "open").PID)
	for _, deed := range [][]string{
		{"read", token}, {"read", key}, {"read", database}, {"orphan", "read", token}, {"write", key}, {"write", filepath.Join(data, "new")},
		{"list", r.Supervisor.cfg.SocketDir}, {"list", data}, {"write", filepath.Join(filepath.Dir(faultBinary), "planted")},
		{"signal", pid}, {"environ", pid}, {"descriptors", pid}, {"memory", other}, {"signal", other}, {"limits", other}, {"orphan", "signal", pid},
		{"tcp", l.Addr().String()}, {"udp", "127.0.0.1:9"}, {"orphan", "tcp", l.Addr().String()}, {"netlink"}, {"privileges"}, {"unix", bus},
	} {
		arguments, err := json.Marshal(map[string][]string{"argv": append([]string{filepath.Join(dir, "attack")}, deed...)})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.mustCall(t, "open__spawn", string(arguments)).Output; got != "worked\n" {
			t.Errorf("%v by a plugin without walls: %q, want it to work, or the attack proves nothing", deed, got)
		}
		if got := r.mustCall(t, "shut__spawn", string(arguments)).Output; !strings.HasPrefix(got, "refused: ") {
			t.Errorf("%v by a confined plugin: %q", deed, got)
		}
	}
}

// TestConfinedLeavesNothing: what a confined plugin has started ends with it, in a session
// of its own and without a variable of the plugin's, and until then it is the plugin's.
func TestConfinedLeavesNothing(t *testing.T) {
	r := walled(t, nil)
	s := spec("fault", "")
	s.Confine = &config.Confine{}
	r.begin(t, s)
	away := func() int {
		res := r.mustCall(t, "spawn", `{"argv":["/usr/bin/env","-i","/bin/sh","-c","(setsid sleep 300 >/dev/null 2>&1 & echo $!)"]}`)
		pid, err := strconv.Atoi(strings.TrimSpace(res.Output))
		if err != nil || gone(pid) || !r.Owns(pid) {
			t.Fatalf("it started %q: %v, is there %v, the plugin's %v", res.Output, err, !gone(pid), r.Owns(pid))
		}
		return pid
	}
	first := away()
	_, err := r.call(t, "crash", ``)
	wantOutcome(t, err, sdk.PluginCrashed)
	second := away()
	r.Stop(t.Context())
	if !gone(first) || !gone(second) {
		t.Errorf("gone: of one that crashed %v, of one that was stopped %v", gone(first), gone(second))
	}
	open, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range open {
		if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, "user:[") {
			t.Errorf("the namespace %s is held", to)
		}
	}
}

// TestUnconfinable are blocks that cannot hold: the plugin does not start.
func TestUnconfinable(t *testing.T) {
	r := walled(t, nil)
	granted, gone, interpreter := spec("granted", ""), spec("gone", ""), spec("script", "")
	granted.Grants, granted.Confine = []string{sdk.GrantSandbox}, &config.Confine{}
	gone.Confine = &config.Confine{Paths: []string{filepath.Join(t.TempDir(), "nothing")}}
	interpreter.Path, interpreter.Confine = executable(t, "#!"+filepath.Join(t.TempDir(), "python")+"\n"), &config.Confine{}
	found := r.start(context.Background(), []inspect.Spec{granted, gone, interpreter})
	for instance, want := range map[string]string{
		"granted": `grants "sandbox", which needs Podman`, "gone": "nothing, which is not there", "script": "read_paths",
	} {
		var text string
		for _, d := range found {
			if d.Instance == instance {
				text += d.Summary + ": " + d.Detail
			}
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s: %q, want %q", instance, text, want)
		}
		if r.status(t, instance).State == Ready {
			t.Errorf("%s runs", instance)
		}
	}
	bare := newRig(t, func(c *Config) { c.Shim = "/nowhere/bothy-shim" })
	s := spec("fault", "")
	s.Confine = &config.Confine{BestEffort: true}
	if found := bare.start(context.Background(), []inspect.Spec{s}); len(found) == 0 || !strings.Contains(found[0].Detail, "bothy-shim, which confines it, is missing") {
		t.Errorf("without the shim: %v", found)
	}
}

// TestBundledWithoutShim: a plugin that comes with Bothy, which no block confines, runs where
// bothy-shim is missing, and its status says that nothing holds it.
func TestBundledWithoutShim(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Shim = "/nowhere/bothy-shim" })
	s := spec("fault", "")
	s.Confine = &config.Confine{BestEffort: true, Bundled: true}
	if found := r.start(context.Background(), []inspect.Spec{s}); len(found) != 0 {
		t.Errorf("it says %v", found)
	}
	r.mustCall(t, "noop", ``)
	if st := r.status(t, "fault"); !strings.Contains(st.Confined, "NOT held back from anything: bothy-shim") {
		t.Errorf("the status says %q", st.Confined)
	}
}

// TestConfinedCertificates: what a block says of a TLS client's certificates can be read. A
// link there opens nothing, for the plugin may have made it.
func TestConfinedCertificates(t *testing.T) {
	r := walled(t, nil)
	folder, secret := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	for _, path := range []string{filepath.Join(folder, "own.pem"), secret} {
		if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(secret, filepath.Join(folder, "planted.pem")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_DIR", t.TempDir()) // the block's goes before
	s := spec("fault", "")
	s.Confine, s.Env = &config.Confine{Network: true}, map[string]string{"SSL_CERT_DIR": folder}
	r.begin(t, s)
	if res := r.mustCall(t, "spawn", `{"argv":["/bin/cat","`+filepath.Join(folder, "own.pem")+`"]}`); res.Output != "text" {
		t.Errorf("it reads %q", res.Output)
	}
	if res := r.mustCall(t, "spawn", `{"argv":["/bin/cat","`+filepath.Join(folder, "planted.pem")+`"]}`); res.Error == "" {
		t.Errorf("by a link it reads %q", res.Output)
	}
}

// TestReachesTheDaemon: a confined channel finds the daemon's socket in its own folder.
func TestReachesTheDaemon(t *testing.T) {
	dir := shortDir(t)
	socket := filepath.Join(dir, "bothy.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	own := filepath.Join(dir, "own")
	if err := os.Mkdir(own, 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a channel is opened again when it ended
		name, err := (&confine.Process{}).Reach(socket, own)
		if err != nil || filepath.Dir(name) != own {
			t.Fatalf("%s, %v", name, err)
		}
		c, err := net.Dial("unix", name)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close() // it got there
	}
	var none *confine.Process
	if name, err := none.Reach(socket, own); name != socket || err != nil {
		t.Errorf("without walls: %s, %v", name, err)
	}
}

func TestHeld(t *testing.T) {
	block := &config.Confine{Paths: []string{"/a"}, ReadPaths: []string{"/b"}, Network: true, BestEffort: true}
	for _, c := range []struct {
		block *config.Confine
		lacks []string
		want  string
	}{
		{nil, nil, ""},
		{&config.Confine{}, nil, "its own folder; no network"},
		{block, nil, "its own folder, /a, /b (read); the network"},
		{block, []string{"files"}, "its own folder, /a, /b (read); the network; NOT held back from files"},
	} {
		if got := held(c.block, c.lacks); got != c.want {
			t.Errorf("%+v: %q, want %q", c.block, got, c.want)
		}
	}
	if d := unheld(spec("x", ""), []string{"files", "signals"}); len(d) != 1 || !d[0].Warning() || !strings.Contains(d[0].Detail, "files; signals") {
		t.Errorf("the warning is %v", d)
	}
}

// executable makes an executable file of its own folder.
func executable(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bothy-plugin-script")
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDescribedBehindWalls: what nobody vouches for says what it declares, and
// sees and changes nothing meanwhile.
func TestDescribedBehindWalls(t *testing.T) {
	r := walled(t, nil)
	secret, written := filepath.Join(t.TempDir(), "secret"), filepath.Join(t.TempDir(), "written")
	if err := os.WriteFile(secret, []byte("told\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := `#!/bin/sh
name=nothing
{ read -r name <` + secret + `; } 2>/dev/null
{ echo x >` + written + `; } 2>/dev/null
echo "{\"name\":\"$name\",\"version\":\"$HOME\"}"
`
	s := spec("script", "")
	s.Path = executable(t, text)
	m, err := r.inspect.Manifest(context.Background(), s)
	if err != nil || m.Name != "nothing" {
		t.Errorf("it says %+v, %v", m, err)
	}
	if _, err := os.Stat(written); err == nil {
		t.Error("it wrote")
	}
	// What somebody vouches for runs as it will run later.
	s.SHA256 = sha256Of(t, s.Path)
	elsewhere := inspect.New(inspect.Config{Log: r.cfg.Log, Shim: r.cfg.Shim, DataDir: t.TempDir()})
	if m, err = elsewhere.Manifest(context.Background(), s); err != nil || m.Name != "told" {
		t.Errorf("pinned, it says %+v, %v", m, err)
	}
	if m, err = r.inspect.Manifest(context.Background(), spec("fault", "")); err != nil || m.Name != "fault" {
		t.Errorf("the fault plugin says %q, %v", m.Name, err)
	}
}

func TestPythonDescribesItself(t *testing.T) {
	r := walled(t, nil)
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Skip("there is no /usr/bin/python3")
	}
	s := spec("python", "")
	s.Path = executable(t, "#!/usr/bin/env python3\nimport json, ssl, random, tempfile, neighbour\nprint(json.dumps({'name': neighbour.name}))\n")
	if err := os.WriteFile(filepath.Join(filepath.Dir(s.Path), "neighbour.py"), []byte("name = 'python'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := r.inspect.Manifest(context.Background(), s); err != nil || m.Name != "python" {
		t.Errorf("it says %+v, %v", m, err)
	}
}

// TestLentLeavesNothing: what a server kept that was lent is gone with the loan, with an orderly stop of the
// daemon, and at the next start after another end; what others keep stays.
func TestLentLeavesNothing(t *testing.T) {
	r := walled(t, nil)
	lent, own := spec("fault", ""), spec("fault", "")
	lent.Instance, lent.Confine, lent.Env = sdk.MCPPrefix+"_1a_notes", &config.Confine{}, map[string]string{"FAULT_CALLS": "all"}
	own.Instance, own.Confine = "own", &config.Confine{}
	data, sockets := r.cfg.DataDir, r.cfg.SocketDir
	left := func() (found []string) {
		for _, pattern := range []string{filepath.Join(data, confinedDir, "*"), filepath.Join(sockets, lentFolders), filepath.Join(data, "plugins", "*.json")} {
			all, err := filepath.Glob(pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range all {
				text, _ := os.ReadFile(path) // none of a folder
				if strings.Contains(path+string(text), lent.Instance) {
					found = append(found, path)
				}
			}
		}
		return found
	}
	lend := func() {
		t.Helper()
		for _, d := range r.Apply(t.Context(), []inspect.Spec{own, lent}) {
			if !d.Warning() {
				t.Fatal(d.Summary, d.Detail)
			}
		}
		if len(left()) == 0 {
			t.Fatal("it has no folder")
		}
	}
	lend()
	r.Apply(t.Context(), []inspect.Spec{own})
	eventually(t, "it is gone with the loan", func() bool { return len(left()) == 0 })
	lend()
	r.Stop(t.Context())
	if found := left(); len(found) > 0 {
		t.Errorf("an orderly stop leaves %v", found)
	}
	for _, dir := range []string{filepath.Join(data, confinedDir, lent.Instance, "home"), filepath.Join(data, confinedDir, lent.Instance+".ABC"), filepath.Join(sockets, lent.Instance, "x")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	next, err := New(r.cfg)
	if err != nil {
		t.Fatal(err)
	}
	next.Stop(t.Context())
	if found := left(); len(found) > 0 {
		t.Errorf("the next start leaves %v", found)
	}
	if _, err := os.Stat(filepath.Join(data, confinedDir, "own", "home")); err != nil {
		t.Error(err)
	}
}
