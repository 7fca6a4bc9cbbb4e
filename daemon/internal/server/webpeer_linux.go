package server

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// userOf is the user of the socket at the other end of a connection within this machine, as the
// kernel's table says (proc_net_tcp(5)).
func userOf(nc net.Conn) (uid int, known bool, err error) {
	x, err := otherEnd(nc)
	return x.uid, true, err
}

// peersOf are the processes that have that socket open. There are none when all of them have ended,
// or hide what they have open, as a process that is not dumpable does.
func peersOf(nc net.Conn) (pids []int, known bool, err error) {
	x, err := otherEnd(nc)
	if err != nil || x.inode == 0 {
		return nil, true, err
	}
	pids, err = holders("/proc", x.inode)
	return pids, true, err
}

// tcpEnd is one socket of the kernel's table.
type tcpEnd struct {
	local, remote netip.AddrPort
	uid           int
	inode         uint64 // 0 when no process has it any more
}

// otherEnd finds the socket that a connection comes from. It is in the table of IPv6 as well when
// its process opened it for both.
func otherEnd(nc net.Conn) (tcpEnd, error) {
	from, to := addressOf(nc.RemoteAddr()), addressOf(nc.LocalAddr())
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if errors.Is(err, os.ErrNotExist) {
			continue // no IPv6
		}
		if err != nil {
			return tcpEnd{}, fmt.Errorf("who connected: %w", err)
		}
		x, found, err := findEnd(f, from, to)
		_ = f.Close() // read only
		if err != nil {
			return tcpEnd{}, fmt.Errorf("who connected: %s: %w", table, err)
		}
		if found {
			return x, nil
		}
	}
	return tcpEnd{}, errors.New("the process at the other end is gone, so nobody can say whose it was")
}

func addressOf(a net.Addr) netip.AddrPort {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	at := tcp.AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap().WithZone(""), at.Port())
}

func findEnd(table io.Reader, local, remote netip.AddrPort) (tcpEnd, bool, error) {
	lines := bufio.NewScanner(table)
	lines.Scan() // the heading
	for lines.Scan() {
		x, err := parseEnd(lines.Text())
		if err != nil {
			return tcpEnd{}, false, err
		}
		if x.local == local && x.remote == remote {
			return x, true, nil
		}
	}
	return tcpEnd{}, false, lines.Err()
}

// parseEnd reads a row of the table.
func parseEnd(row string) (x tcpEnd, err error) {
	fields := strings.Fields(row)
	if len(fields) < 10 {
		return x, fmt.Errorf("a row of %d fields", len(fields))
	}
	if x.local, err = parseAddress(fields[1]); err != nil {
		return x, err
	}
	if x.remote, err = parseAddress(fields[2]); err != nil {
		return x, err
	}
	if x.uid, err = strconv.Atoi(fields[7]); err != nil {
		return x, err
	}
	x.inode, err = strconv.ParseUint(fields[9], 10, 64)
	return x, err
}

// parseAddress reads 0100007F:1F90: words of four bytes as this machine keeps them, which is with
// the last byte first on all that Bothy runs on, and a port.
func parseAddress(text string) (netip.AddrPort, error) {
	host, port, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(host)
	if err != nil {
		return netip.AddrPort{}, err
	}
	n, err := strconv.ParseUint(port, 16, 16)
	if err != nil {
		return netip.AddrPort{}, err
	}
	if len(raw) != 4 && len(raw) != 16 {
		return netip.AddrPort{}, fmt.Errorf("an address of %d bytes", len(raw))
	}
	for word := range slices.Chunk(raw, 4) {
		slices.Reverse(word)
	}
	address, _ := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(address.Unmap(), uint16(n)), nil
}

// holders are the processes that have a socket open, as far as this user may look.
func holders(proc string, inode uint64) ([]int, error) {
	all, err := os.ReadDir(proc)
	if err != nil {
		return nil, fmt.Errorf("who connected: %w", err)
	}
	want := fmt.Sprintf("socket:[%d]", inode)
	var found []int
	for _, d := range all {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		folder := filepath.Join(proc, d.Name(), "fd")
		open, err := os.ReadDir(folder)
		if err != nil {
			continue // of another user, hidden, or gone
		}
		for _, fd := range open {
			if to, err := os.Readlink(filepath.Join(folder, fd.Name())); err == nil && to == want {
				found = append(found, pid)
				break
			}
		}
	}
	return found, nil
}
