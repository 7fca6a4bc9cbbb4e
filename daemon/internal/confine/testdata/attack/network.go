package main

import (
	"net"

	"golang.org/x/sys/unix"
)

func init() {
	deeds["tcp"] = func(a []string) error { return dial("tcp", a[0]) }
	deeds["udp"] = func(a []string) error { return dial("udp", a[0]) }
	deeds["listen"] = func(a []string) error {
		l, err := net.Listen("tcp", a[0])
		if err == nil {
			err = l.Close()
		}
		return err
	}
	deeds["unix"] = func(a []string) error { return dial("unix", a[0]) } // @ begins an abstract one
	deeds["datagram"] = func(a []string) error { return dial("unixgram", a[0]) }
	deeds["netlink"] = func([]string) error { return open(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE) }
	deeds["vsock"] = func([]string) error { return open(unix.AF_VSOCK, unix.SOCK_STREAM, 0) }
	deeds["raw"] = func([]string) error { return open(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP) }
	deeds["packet"] = func([]string) error { return open(unix.AF_PACKET, unix.SOCK_RAW, 0) }
	deeds["crypto"] = func([]string) error { return open(unix.AF_ALG, unix.SOCK_SEQPACKET, 0) }
	deeds["serve"] = func(a []string) error { // a socket of its own, as every plugin has
		l, err := net.Listen("unix", a[0])
		if err != nil {
			return err
		}
		if err := dial("unix", a[0]); err != nil {
			return err
		}
		return l.Close()
	}
}

func dial(network, address string) error {
	c, err := net.Dial(network, address)
	if err != nil {
		return err
	}
	if network == "udp" || network == "unixgram" { // connecting these is no more than a note
		if _, err := c.Write([]byte("x")); err != nil {
			return err
		}
	}
	return c.Close()
}

func open(family, kind, protocol int) error {
	fd, err := unix.Socket(family, kind, protocol)
	if err == nil {
		err = unix.Close(fd)
	}
	return err
}
