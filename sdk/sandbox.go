package sdk

import "cmp"

// Sandbox is the decoded sandbox block. Zero values mean the defaults. The tags
// say all that there is to know of an attribute of the block; what has no doc is
// none. What has the tag project may be another in a project; see [Sandbox.For].
type Sandbox struct {
	Image     string   `json:"image,omitempty" doc:"an OCI image present on this machine; empty is the skeleton with the host's /usr"`
	Runtime   string   `json:"runtime,omitempty" default:"auto" values:"auto,crun,runc" doc:"OCI runtime: auto, crun or runc"`
	Socket    string   `json:"socket,omitempty" kind:"path" doc:"a Podman socket to use; empty: the user's, else a service of Bothy's own"`
	Memory    int64    `json:"memory,omitempty" kind:"size" default:"2GB" project:"yes" doc:"memory of a run's container"`
	CPUs      float64  `json:"cpus,omitempty" project:"yes" doc:"processors of a run's container; by default half of those that are there"`
	Pids      int64    `json:"pids,omitempty" default:"512" project:"yes" doc:"processes of a run's container"`
	Tmp       int64    `json:"tmp,omitempty" kind:"size" default:"64MB" project:"yes" doc:"size of /tmp in the container"`
	Timeout   Duration `json:"timeout,omitempty" default:"{command_time}" project:"yes" doc:"time for one command that names none; at most {max_command_time}"`
	MaxOutput int64    `json:"max_output,omitempty" name:"max_stdout" kind:"size" default:"{command_output}" project:"yes" doc:"standard output that is kept of one command"`
	MaxErrors int64    `json:"max_errors,omitempty" name:"max_stderr" kind:"size" default:"{command_errors}" project:"yes" doc:"standard error that is kept of one command"`
	Path      []string `json:"path,omitempty"` // the caller's PATH; commands get the folders of it that they see
	Undo      int64    `json:"undo,omitempty"` // bytes of former contents that the store keeps (store.undo_size); 0 is no bound
	Shell     string   `json:"shell,omitempty" default:"bash" values:"bash,argv" doc:"how command lines are read: bash, or argv: one program and its words, without a shell"`
	Workspace string   `json:"workspace,omitempty" default:"project" values:"project,direct,private" project:"yes" doc:"project: a copy of it, if possible; direct: the project itself; private: a folder of the run"`
	Quota     int64    `json:"quota,omitempty" kind:"size" default:"5GB" project:"yes" doc:"what a run's home and private workspace may hold; watched, since only root could enforce it"`

	Projects []ProjectSandbox `json:"projects,omitempty"` // what project blocks say
	// Tests is how the tests of a project are run, where its block says it.
	Tests ProjectTests `json:"tests,omitzero"`
}

// ProjectTests is the block tests of a project block: what ToolTests runs there. Its zero value has the tool find it.
type ProjectTests struct {
	Command string `json:"command,omitempty" hcl:"command"`
	// JUnit is the report that the command writes in JUnit's XML, relative to the project; empty is that its output is read.
	JUnit string `json:"junit,omitempty" hcl:"junit,optional"`
}

// ProjectSandbox is what the project block of the user's file says of one project's
// sandbox.
type ProjectSandbox struct {
	Root string  `json:"root"` // of the project; absolute, without links
	Set  Sandbox `json:"set"`  // what differs; zero values are those of the sandbox block
}

// What a private run may use at most: who gives it its prompts need not be the person.
const (
	OutsideMemory = 512 << 20 // bytes
	OutsideCPUs   = 1
	OutsidePids   = 128
)

// For is the sandbox of the runs of a project, by its root as runs name it: what its
// project block says, else what the sandbox block says. An empty root is a private run
// (see [Run]): it has a folder of its own, and is bounded by [OutsideMemory],
// [OutsideCPUs] and [OutsidePids] too.
// Projects is empty in what For returns.
func (s Sandbox) For(root string) Sandbox {
	for _, p := range s.Projects {
		if p.Root == root && root != "" {
			set := p.Set
			s.Memory, s.CPUs, s.Pids = cmp.Or(set.Memory, s.Memory), cmp.Or(set.CPUs, s.CPUs), cmp.Or(set.Pids, s.Pids)
			s.Tmp, s.Quota = cmp.Or(set.Tmp, s.Tmp), cmp.Or(set.Quota, s.Quota)
			s.Timeout = cmp.Or(set.Timeout, s.Timeout)
			s.MaxOutput, s.MaxErrors = cmp.Or(set.MaxOutput, s.MaxOutput), cmp.Or(set.MaxErrors, s.MaxErrors)
			s.Workspace, s.Tests = cmp.Or(set.Workspace, s.Workspace), cmp.Or(set.Tests, s.Tests)
		}
	}
	s.Projects = nil
	if root == "" {
		s.Workspace = WorkspacePrivate
		s.Memory, s.CPUs, s.Pids = atMost(s.Memory, OutsideMemory), atMost(s.CPUs, OutsideCPUs), atMost(s.Pids, OutsidePids)
	}
	return s
}

// The values of Sandbox.Workspace that give every run a folder of its own, and that
// have its commands work in the project itself.
const (
	WorkspacePrivate = "private"
	WorkspaceDirect  = "direct"
)

// atMost bounds a limit; zero is one that is not set.
func atMost[T int64 | float64](limit, most T) T {
	if limit <= 0 {
		return most
	}
	return min(limit, most)
}
