package main

import "golang.org/x/sys/unix"

// machineCalls are those that only this machine has, among them the call table
// of x32.
func machineCalls(c func(name string, nr uintptr, args ...uintptr) call) []call {
	const x32 = 0x40000000
	return []call{
		c("iopl", unix.SYS_IOPL, 3), c("ioperm", unix.SYS_IOPERM, 0, 1, 1), c("modify_ldt", unix.SYS_MODIFY_LDT, 1, words(0, 0), 16),
		c("x32 getppid", x32|unix.SYS_GETPPID), c("x32 unshare", x32|unix.SYS_UNSHARE, unix.CLONE_NEWUSER),
	}
}
