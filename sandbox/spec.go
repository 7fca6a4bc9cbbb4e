package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/bothyd/bothy/sandbox/toolchain"
)

// The labels of our containers.
const (
	labelInstance = "bothy.instance"
	labelRun      = "bothy.run"
	labelRunDir   = "bothy.rundir"
	labelMounts   = "bothy.mounts"
	labelSpec     = "bothy.spec"
	labelBase     = "bothy.base"
	labelLimits   = "bothy.limits"
)

// containerSpec is the part of Podman's SpecGenerator that we set, field for
// field as it goes over the wire (a test holds it against the real type). The
// real one is not linked: its package carries a C constructor that joins user
// namespaces before main, and needs build tags that would spread to everything.
type containerSpec struct {
	Name       string            `json:"name"`
	Image      string            `json:"image"`
	Labels     map[string]string `json:"labels"`
	Entrypoint []string          `json:"entrypoint"`
	Command    []string          `json:"command"`
	WorkDir    string            `json:"work_dir"`
	User       string            `json:"user"`
	Hostname   string            `json:"hostname"`
	OCIRuntime string            `json:"oci_runtime,omitempty"`
	Remove     bool              `json:"remove"`
	Volatile   bool              `json:"volatile"`
	Systemd    string            `json:"systemd"`
	SdNotify   string            `json:"sdnotifyMode"`
	Umask      string            `json:"umask"`

	HTTPProxy       bool   `json:"httpproxy"`
	EnvHost         bool   `json:"env_host"`
	ManagePassword  bool   `json:"manage_password"`
	ImageResolvConf bool   `json:"use_image_resolve_conf"`
	ImageHosts      bool   `json:"use_image_hosts"`
	ImageVolumes    string `json:"image_volume_mode"`

	UserNS namespace `json:"userns"`
	NetNS  namespace `json:"netns"`
	// NetworkOptions are by the mode of NetNS.
	NetworkOptions map[string][]string `json:"network_options,omitempty"`

	PidNS namespace `json:"pidns"`
	IpcNS namespace `json:"ipcns"`
	UtsNS namespace `json:"utsns"`

	ReadOnly        bool     `json:"read_only_filesystem"`
	ReadWriteTmpfs  bool     `json:"read_write_tmpfs"`
	CapDrop         []string `json:"cap_drop"`
	NoNewPrivileges bool     `json:"no_new_privileges"`
	Seccomp         string   `json:"seccomp_profile_path"`

	Mounts    []mount         `json:"mounts"`
	Overlays  []overlayVolume `json:"overlay_volumes,omitempty"`
	ShmSize   int64           `json:"shm_size"`
	Resources *resources      `json:"resource_limits,omitempty"`
	Rlimits   []rlimit        `json:"r_limits"`
	Log       logConfig       `json:"log_configuration"`
}

type namespace struct {
	Mode  string `json:"nsmode"`
	Value string `json:"value,omitempty"`
}

type mount struct {
	Destination string   `json:"destination"`
	Type        string   `json:"type"`
	Source      string   `json:"source"`
	Options     []string `json:"options"`
}

// overlayVolume is a folder of the host that can be written to and stays as it is.
type overlayVolume struct {
	Destination string   `json:"destination"`
	Source      string   `json:"source"`
	Options     []string `json:"options"`
}

type resources struct {
	Memory memoryLimit `json:"memory"`
	CPU    cpuLimit    `json:"cpu"`
	Pids   pidsLimit   `json:"pids"`
}

type memoryLimit struct {
	Limit int64 `json:"limit"`
	Swap  int64 `json:"swap"`
}

type cpuLimit struct {
	Quota  int64 `json:"quota"`
	Period int64 `json:"period"`
}

type pidsLimit struct {
	Limit int64 `json:"limit"`
}

// rlimit's type is without RLIMIT_: the server adds it.
type rlimit struct {
	Type string `json:"type"`
	Hard int64  `json:"hard"`
	Soft int64  `json:"soft"`
}

type logConfig struct {
	Driver string `json:"driver"`
}

func readOnly(source, destination string) mount {
	return mount{Destination: destination, Type: "bind", Source: source, Options: []string{"rbind", "ro", "nosuid", "nodev"}}
}

func readWrite(source, destination string) mount {
	return mount{Destination: destination, Type: "bind", Source: source, Options: []string{"rbind", "rw", "nosuid", "nodev"}}
}

// base is what all containers of a manager share.
type base struct {
	image    string
	skeleton bool
	mounts   []mount
	seccomp  string
	runner   string
	// runnerHash makes a container with another runner another container.
	runnerHash string
	instance   string
	// tools are what commands have of the person's home.
	tools *homeTools
	// git is a file with the person's name and address for git; empty when there is none.
	git                    string
	emptyFile, emptyFolder string
	// hard are this process's own hard limits, which a container's cannot
	// exceed.
	hard map[string]int64
}

// spec describes a run's container. Two calls give the same hash exactly when
// one container serves for the other.
func (b base) spec(run RunSpec, limits Limits, p *protection, n network, socketDir string, found toolchain.Found) containerSpec {
	s := b.describe(run, limits, p, socketDir)
	h := b.home(run, found)
	s.Mounts, s.Overlays = append(append(s.Mounts, h.mounts...), run.writableMounts()...), h.overlays
	s.connect(n)
	base := b.hash(limits)
	if run.beside != nil {
		s.share(run.beside.neighbour)
		base = baseBackground
	}
	s.Labels = map[string]string{
		labelInstance: b.instance, labelRun: run.RunID, labelRunDir: filepath.Clean(run.RunDir),
		labelMounts: formatMounts(p.guarded(run)), labelSpec: s.hash(b.runnerHash), labelBase: base, labelLimits: limits.label(),
	}
	return s
}

// baseBackground is the label of a container that no later manager takes over.
const baseBackground = "background"

// label is how limits stand on a container, for a later manager to read.
func (l Limits) label() string {
	data, err := json.Marshal(l)
	if err != nil {
		return ""
	}
	return string(data)
}

// hash is what the containers of all runs with these limits have in common.
func (b base) hash(limits Limits) string {
	return b.describe(RunSpec{}, limits, &protection{}, "").hash(b.runnerHash)
}

func (b base) describe(run RunSpec, limits Limits, p *protection, socketDir string) containerSpec {
	s := containerSpec{
		Name:       "bothy-" + key(b.instance) + "-" + key(run.RunID),
		Image:      b.image,
		Entrypoint: []string{runnerMount},
		Command:    []string{socketMount + "/" + socketName},
		WorkDir:    "/",
		User:       "1000:1000",
		Hostname:   "bothy",
		Remove:     true,
		Volatile:   true,
		Systemd:    "false",
		SdNotify:   "ignore",
		Umask:      "0022",

		ManagePassword:  !b.skeleton,
		ImageResolvConf: true,
		ImageHosts:      true,
		ImageVolumes:    "ignore",

		UserNS: namespace{Mode: "keep-id", Value: "uid=1000,gid=1000"},
		NetNS:  namespace{Mode: noNetwork.mode},
		PidNS:  namespace{Mode: "private"},
		IpcNS:  namespace{Mode: "private"},
		UtsNS:  namespace{Mode: "private"},

		ReadOnly:        true,
		CapDrop:         []string{"ALL"},
		NoNewPrivileges: true,
		Seccomp:         b.seccomp,
		ShmSize:         16 * mib,
		Log:             logConfig{Driver: "k8s-file"},
	}
	s.Mounts = b.runMounts(run, limits, p, socketDir)
	s.limit(limits, b.hard)
	if run.slot != "" {
		// The first write to a file of the project copies it as a whole, whatever
		// its size: what is written is measured instead.
		s.Rlimits = slices.DeleteFunc(s.Rlimits, func(r rlimit) bool { return r.Type == "FSIZE" })
	}
	return s
}

func (b base) runMounts(run RunSpec, limits Limits, p *protection, socketDir string) []mount {
	mounts := slices.Clone(b.mounts)
	mounts = append(mounts,
		mount{Destination: "/tmp", Type: "tmpfs", Source: "tmpfs", Options: []string{"rw", "nosuid", "nodev", "mode=1777", "size=" + strconv.FormatInt(limits.Tmp, 10)}},
		readOnly(b.runner, runnerMount),
		readOnly(socketDir, socketMount),
		readOnly(run.skills(), Skills),
		readWrite(run.home(), Home),
	)
	for _, root := range run.roots() {
		mounts = append(mounts, run.mount(root))
		for _, m := range p.mounts {
			source, destination := filepath.Join(p.project, m.Path), root+"/"+filepath.ToSlash(m.Path)
			if m.ReadOnly {
				mounts = append(mounts, readOnly(source, destination))
			} else {
				mounts = append(mounts, readWrite(source, destination))
			}
		}
	}
	return mounts
}

// mount is what a container has where its workspace lies. On an empty slot views appear
// that are mounted there after the container was made; they are writable.
func (r RunSpec) mount(root string) mount {
	switch {
	case r.beside != nil && r.Project != "":
		return readOnly(r.Workspace(), root)
	case r.slot == "":
		return readWrite(r.Workspace(), root)
	}
	return mount{Destination: root, Type: "bind", Source: r.slot, Options: []string{"rbind", "ro", "rslave", "nosuid", "nodev"}}
}

// limit sets cgroup limits and, as the floor where they are not enforced,
// rlimits: DATA is per process, so memory is bounded by processes times DATA.
func (s *containerSpec) limit(l Limits, hard map[string]int64) {
	const period = 100000
	s.Resources = &resources{
		Memory: memoryLimit{Limit: l.Memory, Swap: l.Memory},
		CPU:    cpuLimit{Quota: int64(l.CPUs * period), Period: period},
		Pids:   pidsLimit{Limit: l.Pids},
	}
	for _, r := range []rlimit{
		{Type: "NPROC", Hard: l.Pids}, {Type: "DATA", Hard: l.Memory}, {Type: "NOFILE", Hard: l.OpenFiles},
		{Type: "FSIZE", Hard: l.FileSize}, {Type: "CORE", Hard: 0},
	} {
		if most, ok := hard[r.Type]; ok {
			r.Hard = min(r.Hard, most)
		}
		r.Soft = r.Hard
		s.Rlimits = append(s.Rlimits, r)
	}
}

func (s containerSpec) hash(runnerHash string) string {
	s.Labels, s.OCIRuntime = nil, ""
	data, err := json.Marshal(s)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(append(data, runnerHash...))
	return hex.EncodeToString(sum[:12])
}

// guarded are the mount points inside that the runner checks.
func (p *protection) guarded(run RunSpec) []string {
	var points []string
	for _, root := range run.roots() {
		for _, m := range p.mounts {
			points = append(points, root+"/"+filepath.ToSlash(m.Path))
		}
	}
	return points
}

// formatMounts writes mount points for a label, so that a later manager can tell
// the runner what to check.
func formatMounts(points []string) string {
	data, err := json.Marshal(points)
	if err != nil {
		return ""
	}
	return string(data)
}

func parseMounts(label string) ([]string, error) {
	var points []string
	err := json.Unmarshal([]byte(label), &points)
	return points, err
}
