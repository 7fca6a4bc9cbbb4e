package confine_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

// abuse is one thing that a plugin must not be able to do. Without walls it
// can, or the attack proves nothing.
type abuse struct {
	name    string
	args    []string
	refused string // is in the reason, so that it failed for the right one
	apart   string // the same in a root of its own, where that is another one; "worked" where it may
	// missing is what the machine says where even the unconfined attack fails
	// for want of a device, a module or a right of the tester's.
	missing []string
}

const (
	denied = "permission denied"
	absent = "no such file"
	barred = "operation not permitted"
	family = "address family not supported"
)

func (s scene) fileAbuses() []abuse {
	fresh := filepath.Join(filepath.Dir(s.secret), "fresh")
	return []abuse{
		{name: "read a key", args: []string{"read", s.secret}, refused: denied, apart: absent},
		{name: "read it by another way", args: []string{"climb", s.own, s.secret}, refused: denied, apart: absent},
		{name: "read it from the root of /proc", args: []string{"root", s.secret}, refused: denied, apart: absent},
		{name: "list the folder of the keys", args: []string{"list", filepath.Dir(s.secret)}, refused: denied, apart: absent},
		{name: "list the folder above its own", args: []string{"list", filepath.Dir(s.own)}, refused: denied},
		{name: "read what is in /etc but no program's business", args: []string{"list", "/etc"}, refused: denied},
		{name: "list the machine's folders", args: []string{"list", "/"}, refused: denied},
		{name: "a hard link into its own", args: []string{"link", s.secret, s.own}, refused: "cross-device", apart: absent},
		{name: "a symbolic link in its own", args: []string{"symlink", s.secret, s.own}, refused: denied, apart: absent},
		{name: "change a mode", args: []string{"mode", s.secret}, refused: barred, apart: absent},
		{name: "change times", args: []string{"times", s.secret}, refused: barred, apart: absent},
		{name: "set an attribute", args: []string{"attribute", s.secret}, refused: barred, apart: absent, missing: []string{"not supported"}},
		{name: "write what it may read", args: []string{"write", filepath.Join(s.shown, "text")}, refused: denied, apart: "read-only"},
		{name: "write outside", args: []string{"write", fresh}, refused: denied, apart: absent},
		{name: "write over a key", args: []string{"write", s.secret}, refused: denied, apart: absent},
		{name: "make a pipe outside", args: []string{"device", fresh + ".pipe"}, refused: denied, apart: absent},
		{name: "plant its own file outside", args: []string{"plant", s.own, fresh}, refused: denied, apart: absent},
		{name: "empty a key", args: []string{"empty", s.secret}, refused: denied, apart: absent},
		{name: "move a key into its own", args: []string{"rename", s.secret, s.own}, refused: denied, apart: absent},
		{name: "remove what it may read", args: []string{"remove", filepath.Join(s.shown, "text")}, refused: denied, apart: "read-only"},
	}
}

// processAbuses are tried on a process of the same user; at is an address in it.
func processAbuses(pid int, at uintptr) []abuse {
	p := strconv.Itoa(pid)
	return []abuse{
		{name: "read another environment", args: []string{"environ", p}, refused: denied},
		{name: "open another memory", args: []string{"memory", p}, refused: denied},
		{name: "look at other descriptors", args: []string{"descriptors", p}, refused: denied},
		{name: "another root", args: []string{"read", "/proc/" + p + "/root/etc/hostname"}, refused: denied},
		{name: "another working folder", args: []string{"list", "/proc/" + p + "/cwd"}, refused: denied},
		{name: "list the processes", args: []string{"processes"}, refused: denied},
		{name: "trace", args: []string{"trace", p}, refused: barred},
		{name: "read memory by a call", args: []string{"vmread", p, fmt.Sprintf("%#x", at)}, refused: barred},
		{name: "take a descriptor", args: []string{"steal", p}, refused: barred},
		{name: "signal", args: []string{"signal", p}, refused: barred},
		{name: "signal, with no parents left", args: []string{"orphan", "signal", p}, refused: barred},
		{name: "lower limits", args: []string{"limits", p}, refused: barred},
		{name: "lower a priority", args: []string{"priority", p}, refused: barred},
		{name: "take processors away", args: []string{"affinity", p}, refused: barred},
		{name: "shared memory", args: []string{"shared"}, refused: barred},
		{name: "io_uring", args: []string{"io_uring"}, refused: barred, missing: []string{"not implemented", barred}},
		{name: "a namespace", args: []string{"namespace"}, refused: barred, missing: []string{barred}},
		{name: "keys of the session", args: []string{"keys"}, refused: barred, missing: []string{"not implemented"}},
		{name: "new privileges", args: []string{"privileges"}, refused: "no new privileges"},
	}
}

func networkAbuses(t *testing.T, s scene) []abuse {
	abstract := "@confine-" + filepath.Base(filepath.Dir(s.own))
	socket := filepath.Join(filepath.Dir(s.own), "log.sock")
	listen(t, "unix", abstract)
	bus := listen(t, "unix", filepath.Join(filepath.Dir(s.own), "bus"))
	packets, err := net.ListenPacket("unixgram", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = packets.Close() }) // it goes with the test
	v6, missing := "[::1]:1", []string(nil)
	if l, err := net.Listen("tcp6", "[::1]:0"); err == nil {
		v6 = l.Addr().String()
		accept(t, l)
	} else {
		missing = []string{"cannot assign", family, "unreachable", "refused"}
	}
	v4 := listen(t, "tcp4", "127.0.0.1:0")
	return []abuse{
		{name: "TCP", args: []string{"tcp", v4}, refused: family},
		{name: "TCP, with no parents left", args: []string{"orphan", "tcp", v4}, refused: family},
		{name: "TCP version 6", args: []string{"tcp", v6}, refused: family, missing: missing},
		{name: "UDP", args: []string{"udp", "127.0.0.1:9"}, refused: family},
		{name: "listen", args: []string{"listen", "127.0.0.1:0"}, refused: family},
		{name: "raw packets", args: []string{"raw"}, refused: family, missing: []string{barred}},
		{name: "packets of the link", args: []string{"packet"}, refused: family, missing: []string{barred, family}},
		{name: "netlink", args: []string{"netlink"}, refused: family},
		{name: "the machine's host", args: []string{"vsock"}, refused: family, missing: []string{family}},
		{name: "the kernel's ciphers", args: []string{"crypto"}, refused: family, missing: []string{family}},
		{name: "an abstract socket", args: []string{"unix", abstract}, refused: barred},
		{name: "the session bus", args: []string{"unix", bus}, refused: "worked", apart: absent}, // which only a root of its own can hold
		{name: "the session bus by another root", args: []string{"unix", "/proc/" + strconv.Itoa(os.Getpid()) + "/root" + bus}, refused: denied},
		{name: "a datagram to a program", args: []string{"datagram", socket}, refused: denied},
	}
}

func listen(t *testing.T, network, address string) string {
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	return accept(t, l)
}

// accept takes connections until the test ends.
func accept(t *testing.T, l net.Listener) string {
	t.Cleanup(func() { _ = l.Close() }) // ends what follows
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close() // the attack only wants to get here
		}
	}()
	return l.Addr().String()
}

func TestAbuse(t *testing.T) {
	requireWalls(t)
	held, free := newScene(t), newScene(t)
	victim, at := victim(t)
	try(t, held, held.fileAbuses(), free.fileAbuses())
	process := processAbuses(victim, at)
	try(t, held, process, process)
	network := networkAbuses(t, held)
	try(t, held, network, network)
}

// victim is another process of the user's: this one, for its memory is known.
func victim(t *testing.T) (pid int, at uintptr) {
	word := new(int)
	t.Cleanup(func() { *word = 1 }) // until then it stays where it is
	return os.Getpid(), uintptr(unsafe.Pointer(word))
}

// try makes every attack with walls and, on a scene of its own, without.
func try(t *testing.T, s scene, held, free []abuse) {
	for n, a := range held {
		t.Run(strings.ReplaceAll(a.name, " ", "_"), func(t *testing.T) {
			for _, apart := range []bool{true, false} {
				spec, want := s.spec(), a.refused
				if apart && a.apart != "" {
					want = a.apart
				}
				spec.Apart, spec.BestEffort = apart, !apart
				got := output(t, confined(t, spec, attack, a.args...))
				if want != "worked" && !strings.HasPrefix(got, "refused:") || !strings.Contains(got, want) {
					t.Errorf("with walls (a root of its own: %v): %q, want %q", apart, got, want)
				}
			}
			control := output(t, exec.Command(attack, free[n].args...))
			if control == "worked" {
				return
			}
			for _, word := range a.missing {
				if strings.Contains(control, word) {
					t.Logf("not to be had here even without walls: %s", control)
					return
				}
			}
			t.Errorf("without walls: %q, want it to work, or the attack proves nothing", control)
		})
	}
}

// TestRoom is what a plugin needs to live behind the walls.
func TestRoom(t *testing.T) {
	requireWalls(t)
	s := newScene(t)
	for _, args := range [][]string{
		{"own", s.own}, {"own", s.open}, {"mode", filepath.Join(s.own, "new")}, {"read", filepath.Join(s.shown, "text")}, {"list", s.shown},
		{"serve", filepath.Join(s.own, "sock")}, {"execute", "/bin/sh", "-c", "exit 0"},
		{"read", "/dev/null"}, {"read", "/proc/self/status"}, {"read", "/etc/passwd"}, {"list", "/usr/lib"}, {"signal", "0"},
	} {
		t.Run(strings.Join(args[:1], ""), func(t *testing.T) {
			if got := output(t, confined(t, s.spec(), attack, args...)); got != "worked" {
				t.Errorf("%v: %s", args, got)
			}
		})
	}
	// A folder by a name with a link in it.
	linked := s.spec()
	if err := os.Symlink(s.own, s.own+".link"); err != nil {
		t.Fatal(err)
	}
	linked.Write = []string{s.own + ".link"}
	for _, dir := range []string{s.own, s.own + ".link"} {
		if got := output(t, confined(t, linked, attack, "own", dir)); got != "worked" {
			t.Errorf("in %s: %s", dir, got)
		}
	}
	open := s.spec()
	open.Network = true
	for _, args := range [][]string{{"tcp", listen(t, "tcp4", "127.0.0.1:0")}, {"udp", "127.0.0.1:9"}, {"listen", "127.0.0.1:0"}, {"netlink"}} {
		if got := output(t, confined(t, open, attack, args...)); got != "worked" {
			t.Errorf("with the network, %v: %s", args, got)
		}
	}
}

func TestSetUID(t *testing.T) {
	requireWalls(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can make a program that is set-uid for another user")
	}
	s := newScene(t)
	for dir := s.open; dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(attack)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(s.open, "attack")
	if err := os.WriteFile(other, text, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(other, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(other, 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	if got := output(t, exec.Command(attack, "setuid", other, "65534")); got != "worked" {
		t.Fatalf("without walls: %s", got)
	}
	if got := output(t, confined(t, s.spec(), attack, "setuid", other, "65534")); got != `refused: it ran as "0\nworked\n"` {
		t.Errorf("with walls: %s", got)
	}
}
