package reader

import "golang.org/x/sys/unix"

// machine is whose numbers the calls of the system have.
const machine = unix.AUDIT_ARCH_X86_64
