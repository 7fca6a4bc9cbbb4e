package sandbox

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sandbox/toolchain"
)

func testSpec(limits Limits, mounts []protectedMount) containerSpec {
	return testSpecIn(noNetwork, limits, mounts)
}

func testSpecIn(n network, limits Limits, mounts []protectedMount) containerSpec {
	b := base{image: "i", skeleton: true, seccomp: "/s.json", runner: "/r", runnerHash: "h", instance: "inst",
		hard: map[string]int64{"NPROC": 100}}
	run := RunSpec{RunID: "run", Project: "/p", RunDir: "/runs/run"}
	return b.spec(run, limits.WithDefaults(), &protection{project: "/p", mounts: mounts}, n, "/d/s/x", toolchain.Found{})
}

func TestSpecKeepsItsPromises(t *testing.T) {
	s := testSpec(Limits{}, []protectedMount{{Path: ".git"}, {Path: ".git/hooks", ReadOnly: true}})
	if s.NetNS.Mode != "none" || !s.ReadOnly || s.ReadWriteTmpfs || !s.NoNewPrivileges || !slices.Equal(s.CapDrop, []string{"ALL"}) ||
		s.Seccomp == "" || s.User != "1000:1000" || s.UserNS.Mode != "keep-id" || s.HTTPProxy || s.EnvHost || !s.Remove {
		t.Fatalf("got %+v", s)
	}
	writable := []string{}
	var order []string
	for _, m := range s.Mounts {
		order = append(order, m.Destination)
		if !slices.Contains(m.Options, "ro") {
			writable = append(writable, m.Destination)
		}
		if !slices.Contains(m.Options, "nosuid") || !slices.Contains(m.Options, "nodev") {
			t.Errorf("%s allows setuid or devices: %v", m.Destination, m.Options)
		}
	}
	if want := []string{"/tmp", Home, Workspace, Workspace + "/.git", "/p", "/p/.git"}; !slices.Equal(writable, want) {
		t.Errorf("writable: %v, want %v", writable, want)
	}
	if slices.Index(order, Workspace) > slices.Index(order, Workspace+"/.git") || slices.Index(order, Workspace+"/.git") > slices.Index(order, Workspace+"/.git/hooks") {
		t.Errorf("mounted in the wrong order: %v", order)
	}
	limits := make(map[string]int64)
	for _, r := range s.Rlimits {
		limits[r.Type] = r.Hard
	}
	want := map[string]int64{"NPROC": 100, "DATA": 2 * gib, "NOFILE": 4096, "FSIZE": gib, "CORE": 0}
	if !reflect.DeepEqual(limits, want) {
		t.Errorf("rlimits %v, want %v", limits, want)
	}
}

// TestAViewHasNoLimitForOneFile: where commands work on views a container bounds no
// single file, and all else as elsewhere.
func TestAViewHasNoLimitForOneFile(t *testing.T) {
	b := base{image: "i", instance: "inst"}
	run := RunSpec{RunID: "run", Project: "/p", RunDir: "/runs/run"}
	rlimits := func() map[string]int64 {
		all := map[string]int64{}
		for _, r := range b.spec(run, Limits{}.WithDefaults(), &protection{}, noNetwork, "/s", toolchain.Found{}).Rlimits {
			all[r.Type] = r.Hard
		}
		return all
	}
	direct := rlimits()
	run.slot = "/slot"
	if viewed := rlimits(); direct["FSIZE"] != gib || viewed["FSIZE"] != 0 || len(viewed) != len(direct)-1 {
		t.Errorf("got %v and %v", direct, viewed)
	}
}

func TestSpecHashTellsContainersApart(t *testing.T) {
	one := testSpec(Limits{}, nil)
	if again := testSpec(Limits{}, nil); again.Labels[labelSpec] != one.Labels[labelSpec] {
		t.Error("the same container has two hashes")
	}
	for name, other := range map[string]containerSpec{
		"limits":     testSpec(Limits{Pids: 7}, nil),
		"network":    testSpecIn(network{mode: "slirp4netns"}, Limits{}, nil),
		"protection": testSpec(Limits{}, []protectedMount{{Path: ".bothy", ReadOnly: true}}),
	} {
		if other.Labels[labelSpec] == one.Labels[labelSpec] {
			t.Errorf("%s do not count", name)
		}
	}
	if other := testSpec(Limits{Quota: 7}, nil); other.Labels[labelSpec] != one.Labels[labelSpec] {
		t.Error("the quota, which is no part of a container, counts")
	}
	with := one
	with.OCIRuntime = "runc"
	if with.hash("h") != one.hash("h") || one.hash("h") == one.hash("other") {
		t.Error("the runner counts, the OCI runtime does not")
	}
}

func TestMountLabel(t *testing.T) {
	for _, points := range [][]string{nil, {"/workspace/.git", "/workspace/a b,\"c\""}} {
		got, err := parseMounts(formatMounts(points))
		if err != nil || !reflect.DeepEqual(got, points) {
			t.Errorf("got %v %v, want %v", got, err, points)
		}
	}
	if _, err := parseMounts("nonsense"); err == nil {
		t.Error("nonsense is no list")
	}
}

func TestSeccompProfileIsAnAllowList(t *testing.T) {
	var profile struct {
		DefaultAction string `json:"defaultAction"`
		ArchMap       []struct {
			SubArchitectures []string `json:"subArchitectures"`
		} `json:"archMap"`
		Syscalls []struct {
			Names  []string `json:"names"`
			Action string   `json:"action"`
			Args   []any    `json:"args"`
		} `json:"syscalls"`
	}
	if err := json.Unmarshal(seccompProfile, &profile); err != nil {
		t.Fatal(err)
	}
	if profile.DefaultAction != "SCMP_ACT_ERRNO" {
		t.Fatalf("what is not named: %s", profile.DefaultAction)
	}
	for _, arch := range profile.ArchMap {
		if len(arch.SubArchitectures) != 0 {
			t.Errorf("32-bit system calls are allowed: %v", arch.SubArchitectures)
		}
	}
	dangerous := []string{"mount", "umount2", "setns", "ptrace", "bpf", "keyctl", "clone3", "io_uring_setup", "userfaultfd", "perf_event_open", "pidfd_getfd"}
	conditional := []string{"clone", "unshare", "socket", "socketpair", "prlimit64", "setpriority", "sched_setaffinity"}
	for _, rule := range profile.Syscalls {
		for _, name := range rule.Names {
			if rule.Action == "SCMP_ACT_ALLOW" && slices.Contains(dangerous, name) {
				t.Errorf("%s is allowed", name)
			}
			if rule.Action == "SCMP_ACT_ALLOW" && slices.Contains(conditional, name) && len(rule.Args) == 0 {
				t.Errorf("%s is allowed whatever its arguments", name)
			}
		}
	}
}

// TestProjectsLieAtTheirOwnPath unless that is the container's own.
func TestProjectsLieAtTheirOwnPath(t *testing.T) {
	for project, own := range map[string]bool{
		"/home/u/p": true, "/p": true, "/tmp/p": true, "/usr/src/p": true, "/srv": true,
		"": false, "/home": false, Home: false, Home + "/p": false, "/usr": false, "/tmp": false, "/etc": false, "/run/user/1000/p": false, "/proc/x": false,
		Workspace: false, Workspace + "/p": false, Skills + "/p": false, "/opt": false,
	} {
		roots := RunSpec{RunID: "r", Project: project, RunDir: "/runs/r"}.roots()
		if own && !slices.Equal(roots, []string{Workspace, project}) || !own && !slices.Equal(roots, []string{Workspace}) {
			t.Errorf("%q: got %q", project, roots)
		}
	}
}

// TestWhatLiesInTheProjectIsNotMountedOverIt: a home that is the project has its
// toolchains in the project.
func TestWhatLiesInTheProjectIsNotMountedOverIt(t *testing.T) {
	found := toolchain.Found{Home: "/home/u", Shown: []string{"/home/u/.cargo/bin", "/nix/store"}, Caches: []string{"/home/u/go/pkg/mod"},
		Hidden: []string{"/home/u/.cargo/bin/.env"}, Path: []string{"/usr/games", "/home/u/.cargo/bin", "/nix/store/x/bin"}}
	for _, c := range []struct {
		run              RunSpec
		mounts, overlays int
		path             string
	}{
		{RunSpec{Project: "/home/u"}, 2, 0, "/usr/games /nix/store/x/bin"},
		{RunSpec{Project: "/home/u/p"}, 5, 0, "/usr/games /home/u/.cargo/bin /nix/store/x/bin"},
		{RunSpec{Project: "/home/u/p", views: "/views/k"}, 4, 1, "/usr/games /home/u/.cargo/bin /nix/store/x/bin"},
		{RunSpec{Project: "/home/u/p", views: "/views,k"}, 5, 0, "/usr/games /home/u/.cargo/bin /nix/store/x/bin"},
		{RunSpec{Project: "/home/u/go"}, 4, 0, "/usr/games /home/u/.cargo/bin /nix/store/x/bin"},
		{RunSpec{Project: "/home/u/.cargo"}, 3, 0, "/usr/games /nix/store/x/bin"},
		{RunSpec{}, 0, 0, "/usr/games"},
	} {
		h := base{git: "/d/gitconfig"}.home(c.run, found)
		if len(h.mounts) != c.mounts || len(h.overlays) != c.overlays || strings.Join(h.path, " ") != c.path {
			t.Errorf("%+v: got %+v", c.run, h)
		}
	}
	for i, want := range []string{"[/home/u/.cargo/bin /home/u/go/pkg/mod /nix/store] []", "[] []", "[] []"} {
		found = less(found)
		slices.Sort(found.Shown)
		if got := fmt.Sprint(found.Shown, found.Caches); got != want {
			t.Errorf("less, %d: got %s", i, got)
		}
	}
}
