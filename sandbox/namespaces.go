package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

// namespacesFinding says whether ordinary users may make user namespaces, without
// which there is no rootless container. It reads what the kernel says below proc.
func namespacesFinding(proc string) Finding {
	f := Finding{Name: "namespaces", Level: LevelFail}
	value := func(name string) string {
		data, err := os.ReadFile(filepath.Join(proc, "sys", name))
		if err != nil {
			return "" // not every kernel has every knob
		}
		return strings.TrimSpace(string(data))
	}
	_, err := os.Lstat(filepath.Join(proc, "self", "ns", "user"))
	switch {
	case err != nil:
		f.Detail, f.Hint = "this kernel has no user namespaces", "use a kernel with CONFIG_USER_NS"
	case value("user/max_user_namespaces") == "0":
		f.Detail, f.Hint = "user namespaces are switched off", "allow them: sudo sysctl user.max_user_namespaces=15000 (and in /etc/sysctl.d, to keep it)"
	case value("kernel/unprivileged_userns_clone") == "0":
		f.Detail, f.Hint = "only root may make user namespaces", "allow them: sudo sysctl kernel.unprivileged_userns_clone=1 (and in /etc/sysctl.d, to keep it)"
	default:
		f.Level, f.Detail = LevelOK, "ordinary users may make user namespaces"
	}
	return f
}
