package confine

import "golang.org/x/sys/unix"

const (
	arch         = unix.AUDIT_ARCH_AARCH64
	otherNumbers = 0x40000000 // this machine has none
)

// changesHere and refusedHere are the calls that only this machine has: none.
var changesHere, refusedHere []uint32
