//go:build linux

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

func TestCgroupsOfAHost(t *testing.T) {
	for name, c := range map[string]struct {
		files       map[string]string
		version     string
		controllers []string
	}{
		"nothing": {nil, "v1", nil},
		"hybrid":  {map[string]string{"sys/fs/cgroup/unified/cgroup.controllers": "", "proc/self/cgroup": "3:memory:/a\n0::/a\n"}, "v1", nil},
		"delegated": {map[string]string{"sys/fs/cgroup/cgroup.controllers": "cpuset cpu io memory pids\n", "proc/self/cgroup": "0::/user.slice/a\n",
			"sys/fs/cgroup/user.slice/a/cgroup.controllers": "cpu memory pids\n"}, "v2", []string{"cpu", "memory", "pids"}},
		"not delegated": {map[string]string{"sys/fs/cgroup/cgroup.controllers": "cpu\n", "proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cgroup.controllers": "\n"}, "v2", nil},
		"unknown":       {map[string]string{"sys/fs/cgroup/cgroup.controllers": "cpu\n", "proc/self/cgroup": ""}, "v2", nil},
	} {
		root := t.TempDir()
		for path, text := range c.files {
			at := filepath.Join(root, path)
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if version, controllers := cgroups(root, "proc/self"); version != c.version || !slices.Equal(controllers, c.controllers) {
			t.Errorf("%s: got %s %q", name, version, controllers)
		}
	}
}

func TestIDMap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "uid_map")
	if err := os.WriteFile(path, []byte("         0       1001          1\n         1     100000      65536\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := idMap(path)
	if want := []idMapping{{0, 1001, 1}, {1, 100000, 65536}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v %v", got, err)
	}
	if err := os.WriteFile(path, []byte("nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := idMap(path); err == nil {
		t.Errorf("of nonsense: %v", got)
	}
}

// TestKnownIsWhatPodmanTells: what is told without asking Podman is what Podman tells.
func TestKnownIsWhatPodmanTells(t *testing.T) {
	NeedPodman(t)
	dir, err := os.MkdirTemp("/tmp", "bh")
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Dir: filepath.Join(dir, "d"), StateDir: filepath.Join(dir, "state")}
	if err := os.Mkdir(cfg.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := findPodman(t.Context(), cfg, quiet(), func(*service) error { return errors.ErrUnsupported })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.close()
		if p.own != nil {
			p.own.endIdlePause()
		}
		_ = os.RemoveAll(dir)
	})
	if p.own == nil {
		t.Skip("podman: the user has a service, which is asked")
	}
	told, err := p.host(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	known, err := p.own.known(p.api.version)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(told.Host.CgroupControllers)
	slices.Sort(known.Host.CgroupControllers)
	// A host without the unified hierarchy has controllers that no user can have.
	if known.Host.CgroupVersion == "v1" {
		told.Host.CgroupControllers = nil
	}
	known.Host.OCIRuntime.Path = told.Host.OCIRuntime.Path
	known.Host.Slirp, known.Host.Pasta = told.Host.Slirp, told.Host.Pasta
	if !reflect.DeepEqual(known, told) {
		t.Errorf("known %+v\ntold %+v", known, told)
	}
}
