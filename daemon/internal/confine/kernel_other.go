//go:build !linux

package confine

// Kernel is what the kernel of this machine can hold a process to: nothing.
type Kernel struct{}

// ThisKernel looks at the kernel that runs. It changes nothing.
func ThisKernel(string) Kernel { return Kernel{} }

// Apart reports whether confined processes are started in namespaces of their
// own.
func (Kernel) Apart() bool { return false }

// Lacks says, for people, what of the bounds would not hold here. It is empty
// where all of them do.
func (Kernel) Lacks() []string { return []string{"anything (only Linux confines)"} }
