package bundle

import "syscall"

// openFlags make an open wait for nobody.
const openFlags = syscall.O_NONBLOCK
