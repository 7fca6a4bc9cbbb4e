package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// known is the host as Podman would tell about it, but for where its programs are. To
// tell, Podman asks the package manager whose its own programs are, which takes longer
// than all else of a start. The service must answer already, for its user
// namespace is that of the containers; where it has none of its own, only Podman knows.
// Whether a container has a filter of system calls, its runner tells.
func (s *service) known(version string) (info hostInfo, err error) {
	process := filepath.Join("/proc", strconv.Itoa(s.pid()))
	theirs, err := os.Readlink(filepath.Join(process, "ns/user"))
	if err != nil {
		return info, err
	}
	if ours, err := os.Readlink("/proc/self/ns/user"); err != nil || ours == theirs {
		return info, errors.Join(err, errors.New("the service works in the user namespace that it was started in"))
	}
	info.Version.Version = version
	info.Store.Driver = s.driver
	info.Host.CgroupManager = cgroupManager()
	info.Host.CgroupVersion, info.Host.CgroupControllers = cgroups("/", process)
	info.Host.OCIRuntime.Name = s.runtime
	info.Host.Security.Rootless = os.Geteuid() != 0
	info.Host.Security.Seccomp = seccompPossible()
	info.Host.IDMappings.UIDMap, err = idMap(filepath.Join(process, "uid_map"))
	return info, err
}

// cgroups are the version of cgroups below a root, and the controllers that a process
// may hand on, named by its folder in /proc.
func cgroups(root, process string) (version string, controllers []string) {
	all := filepath.Join(root, "sys/fs/cgroup")
	if !exists(filepath.Join(all, "cgroup.controllers")) {
		return "v1", nil
	}
	// One line with the number 0: man 7 cgroups.
	table, err := os.ReadFile(filepath.Join(root, process, "cgroup"))
	if err != nil {
		return "v2", nil
	}
	for line := range strings.Lines(string(table)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			text, _ := os.ReadFile(filepath.Join(all, path, "cgroup.controllers")) // none, where it cannot be read
			return "v2", strings.Fields(string(text))
		}
	}
	return "v2", nil
}

// idMap reads which ids a user namespace has: man 7 user_namespaces.
func idMap(path string) (ids []idMapping, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		var m idMapping
		if _, err := fmt.Sscan(line, &m.ContainerID, &m.HostID, &m.Size); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		ids = append(ids, m)
	}
	return ids, nil
}
