package confine

// Kernel is what the kernel of this machine can hold a process to.
type Kernel struct {
	landlock int // the version of Landlock; 0 is none
	filters  bool
}

// ThisKernel looks at the kernel that runs. It changes nothing.
func ThisKernel() Kernel { return Kernel{landlock: landlockVersion(), filters: filters()} }

// Lacks says, for people, what of the bounds would not hold here. It is empty
// where all of them do.
func (k Kernel) Lacks() []string {
	var lacks []string
	switch {
	case k.landlock == 0:
		lacks = append(lacks, "files and signals (Landlock is off or missing: Linux 6.12 has what is needed, and lsm= on its command line must name landlock)")
	case k.landlock < 3:
		lacks = append(lacks, "emptying files that it may not write (Linux 6.2 can)")
	}
	if k.landlock > 0 && k.landlock < 6 {
		lacks = append(lacks, "signals to your other programs, and abstract Unix sockets (Linux 6.12 can)")
	}
	if !k.filters {
		lacks = append(lacks, "the network and other processes' memory (seccomp filters are off, or this is neither amd64 nor arm64)")
	}
	return lacks
}
