package confine

// Kernel is what the kernel of this machine can hold a process to.
type Kernel struct {
	landlock int // the version of Landlock; 0 is none
	filters  bool
	roots    bool // a process can have a root of its own
}

// ThisKernel looks at the kernel that runs, with the help of the shim. It changes
// nothing.
func ThisKernel(shim string) Kernel {
	return Kernel{landlock: landlockVersion(), filters: filters(), roots: roots(shim)}
}

// Apart reports whether confined processes are started in namespaces of their
// own.
func (k Kernel) Apart() bool { return k.roots }

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
	if !k.roots && k.landlock < 9 {
		lacks = append(lacks, "Unix sockets of your other programs, such as the session bus, which can start any program for it (user namespaces are off: kernel.unprivileged_userns_clone, user.max_user_namespaces, or AppArmor's restriction of them)")
	}
	return lacks
}
