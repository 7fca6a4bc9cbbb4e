package frame

import (
	"bytes"
	"strconv"
)

// Uncounted is the number of filters where the kernel tells only that there are some.
const Uncounted = -1

// Filters reads from a process's status file how many filters of system calls hold for
// the process: proc_pid_status(5), Seccomp and Seccomp_filters. Before Linux 5.9 the
// kernel does not count them: [Uncounted]. Filters are inherited, so that one need not be
// the process's own.
func Filters(status []byte) int {
	some := false
	for line := range bytes.Lines(status) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		n, err := strconv.Atoi(string(bytes.TrimSpace(value)))
		switch {
		case err != nil:
		case string(name) == "Seccomp_filters":
			return n
		case string(name) == "Seccomp":
			some = n == 2 // SECCOMP_MODE_FILTER
		}
	}
	if some {
		return Uncounted
	}
	return 0
}
