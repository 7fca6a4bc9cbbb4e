package confine

import "golang.org/x/sys/unix"

const (
	arch         = unix.AUDIT_ARCH_X86_64
	otherNumbers = 0x40000000 // the x32 calls begin here
)

// changesHere and refusedHere are the calls that only this machine has.
var (
	changesHere = []uint32{unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT}
	refusedHere = []uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB}
)
