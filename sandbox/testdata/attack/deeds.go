//go:build linux

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// deeds are the attacks that take more than one system call. An error is a
// refusal.
var deeds = map[string]func(args []string) error{
	"reach": reach, "impersonate": impersonate, "processes": processes, "descriptors": descriptors, "memory": memory,
}

// reach wants a way to an address. Nothing is sent: the kernel looks for a route
// when a datagram socket is connected.
func reach(addresses []string) error {
	var errs []error
	for _, a := range addresses {
		conn, err := net.Dial("udp", a)
		if err == nil {
			return conn.Close()
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// impersonate takes the place of the runner, or of its owner.
func impersonate(args []string) error {
	path := args[0]
	for range 50 {
		if conn, err := net.Dial("unix", path); err == nil {
			return conn.Close()
		}
		time.Sleep(time.Millisecond)
	}
	if err := os.Remove(path); err == nil {
		return nil
	}
	_, err := net.Listen("unix", path)
	return err
}

// processes makes so many at once.
func processes(args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	var made []*exec.Cmd
	defer func() {
		for _, c := range made {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}()
	for len(made) < n {
		c := exec.Command("sleep", "60")
		if err := c.Start(); err != nil {
			return fmt.Errorf("after %d: %w", len(made), err)
		}
		made = append(made, c)
	}
	return nil
}

// descriptors opens so many at once.
func descriptors(args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	limit := unix.Rlimit{Cur: 1 << 20, Max: 1 << 20}
	_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	for i := range n {
		if _, err := unix.Open("/dev/null", unix.O_RDONLY, 0); err != nil {
			return fmt.Errorf("after %d: %w", i, err)
		}
	}
	return nil
}

// memory takes so many megabytes for one process.
func memory(args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	b, err := unix.Mmap(-1, 0, n<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	return unix.Munmap(b)
}

// can does what must work, and says with 0 that it does.
func can(name string, args []string) int {
	do, ok := controls[name]
	if !ok {
		fmt.Println("no such control:", name)
		return untried
	}
	if err := do(args); err != nil {
		fmt.Println("cannot", name+":", err)
		return 1
	}
	return 0
}

var controls = map[string]func(args []string) error{
	"unshare": func([]string) error { return unix.Unshare(unix.CLONE_FILES) },
	"threads": func([]string) error {
		var all sync.WaitGroup
		for range 32 {
			all.Go(func() { time.Sleep(10 * time.Millisecond); unix.Gettid() })
		}
		all.Wait()
		return exec.Command("true").Run()
	},
	"loopback":   loopback,
	"interfaces": interfaces,
	"sockets": func([]string) error {
		for _, family := range []int{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6} {
			for _, kind := range []int{unix.SOCK_STREAM, unix.SOCK_DGRAM} {
				if _, err := unix.Socket(family, kind, 0); err != nil {
					return fmt.Errorf("family %d: %w", family, err)
				}
			}
		}
		_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		return err
	},
	"memfd": func([]string) error { _, err := unix.MemfdCreate("x", unix.MFD_CLOEXEC); return err },
	"own":   own,
	"unix": func(args []string) error {
		l, err := net.Listen("unix", args[0])
		if err != nil {
			return err
		}
		conn, err := net.Dial("unix", args[0])
		if err != nil {
			return err
		}
		return errors.Join(conn.Close(), l.Close())
	},
	"processes": processes, "memory": memory, "cling": cling, "notify": notify,
	"descriptors": descriptors,
}

func loopback([]string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() {
		if conn, err := l.Accept(); err == nil {
			_, _ = io.WriteString(conn, "hi")
			_ = conn.Close()
		}
	}()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return err
	}
	got, err := io.ReadAll(conn)
	if err == nil && string(got) != "hi" {
		err = fmt.Errorf("got %q", got)
	}
	return err
}

func interfaces([]string) error {
	found, err := net.Interfaces()
	if err != nil {
		return err
	}
	var names []string
	for _, i := range found {
		names = append(names, i.Name)
	}
	if fmt.Println(strings.Join(names, " ")); len(names) == 0 {
		return errors.New("there is no interface, not even loopback")
	}
	return nil
}

// own does to itself and its child what it may not do to process 1.
func own([]string) error {
	limit := unix.Rlimit{Cur: 64, Max: 64}
	var cpus unix.CPUSet
	child := exec.Command("sleep", "60")
	return errors.Join(
		unix.Prlimit(0, unix.RLIMIT_NOFILE, &limit, nil), unix.SchedGetaffinity(0, &cpus), unix.SchedSetaffinity(0, &cpus),
		unix.Setpriority(unix.PRIO_PROCESS, 0, 19), child.Start(), child.Process.Signal(syscall.SIGKILL), reaped(child),
	)
}

func reaped(c *exec.Cmd) error {
	if err := c.Wait(); err == nil || c.ProcessState.ExitCode() != -1 {
		return fmt.Errorf("the child was not killed: %v", c.ProcessState)
	}
	return nil
}

// notify watches a file and the folder that it works in, makes the second file that it is
// given, and when somebody has made the third it prints how many events there were, and
// how many of a change of its own.
func notify(args []string) error {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK)
	if err != nil {
		return err
	}
	for _, name := range []string{args[0], "."} {
		if _, err := unix.InotifyAddWatch(fd, name, unix.IN_CREATE|unix.IN_MODIFY|unix.IN_MOVED_TO|unix.IN_DELETE_SELF|unix.IN_ATTRIB); err != nil {
			return err
		}
	}
	if err := os.WriteFile(args[1], nil, 0o600); err != nil {
		return err
	}
	for {
		if _, err := os.Stat(args[2]); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	others := events(fd)
	if err := os.Mkdir("own", 0o700); err != nil {
		return err
	}
	fmt.Printf("of others %d, of its own %d\n", others, events(fd))
	return nil
}

// events are how many inotify has to tell.
func events(fd int) (all int) {
	buf := make([]byte, 4096)
	n, err := unix.Read(fd, buf)
	for at := 0; err == nil && at+unix.SizeofInotifyEvent <= n; all++ {
		at += unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(buf[at+12:]))
	}
	return all
}

// cling keeps what it can of the folder that it is in: a process of its own that has
// left the session, with the folder as its own, files of it open and mapped, and
// sockets that hold each other and descriptors of the folder. It goes on to write.
func cling(args []string) error {
	if len(args) > 0 {
		return clinging(args[0])
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.Command(self, "can", "cling", "again")
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		return err
	}
	for range 500 { // until it writes
		if info, err := os.Stat("clung"); err == nil && info.Size() > 4096 {
			return cycle()
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("nobody clings")
}

func clinging(string) error {
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		signal.Ignore(s)
	}
	f, err := os.OpenFile("clung", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	if err := f.Truncate(4096); err != nil {
		return err
	}
	page, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	if err := cycle(); err != nil {
		return err
	}
	for n := byte('a'); ; n = 'a' + (n-'a'+1)%26 {
		for i := range page {
			page[i] = n
		}
		_, _ = f.WriteAt([]byte{n}, 4096)
	}
}

// cycle makes two sockets that nobody has but each other, with the folder and a file
// of it under way in them.
func cycle() error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	folder, err := unix.Open(".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	file, err := unix.Open("kept", unix.O_RDWR|unix.O_CREAT, 0o644)
	if err != nil {
		return err
	}
	for i := range pair {
		if err := unix.Sendmsg(pair[i], []byte{0}, unix.UnixRights(pair[0], pair[1], folder, file), nil, 0); err != nil {
			return err
		}
	}
	for _, fd := range []int{pair[0], pair[1], folder, file} {
		_ = unix.Close(fd)
	}
	return nil
}
