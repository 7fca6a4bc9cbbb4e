package confine

import (
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// allowed are the variables of the daemon's environment that plugins see. Keys
// of model servers are not among them: a block names what its plugin gets.
var allowed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR",
	"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS", "XDG_CACHE_HOME", "XDG_STATE_HOME",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "BOTHY_PREFIX", "GOCOVERDIR",
}

// proxies may hold a password, which plugins do not see. A block that needs it
// names it: env = { HTTPS_PROXY = env("HTTPS_PROXY") }.
var proxies = []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}

// boxes are what one needs that starts containers: Podman, and the session
// bus, over which crun asks systemd for a cgroup.
var boxes = []string{"BOTHY_PODMAN", "DBUS_SESSION_BUS_ADDRESS"}

// cards say which graphics cards a model server is to use, for the plugin that may start one.
var cards = []string{"CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "HIP_VISIBLE_DEVICES", "HSA_OVERRIDE_GFX_VERSION", "ROCR_VISIBLE_DEVICES"}

// theirs lead to what is the user's and not a confined plugin's.
var theirs = []string{"XDG_CONFIG_DIRS", "XDG_DATA_DIRS", "DBUS_SESSION_BUS_ADDRESS", "BOTHY_PREFIX", "BOTHY_PODMAN"}

// Environment is all that the process of a plugin of this name sees of variables, each once:
// what its block says counts most, and in the place of every folder of the user's stands one
// of the process's own. containers says that it starts some. A process in Go works on half
// of the cores, as a sandbox does: what it waits for is mostly elsewhere, and many start at
// once. A block with env = { GOMAXPROCS = "8" } says otherwise.
func (p *Process) Environment(plugin string, containers bool, block map[string]string) (env []string) {
	set := map[string]string{"GOTRACEBACK": "single"}
	if !containers { // Podman would inherit it
		set["GOMAXPROCS"] = strconv.Itoa(max(1, runtime.NumCPU()/2))
	}
	if p != nil {
		maps.Copy(set, map[string]string{
			"HOME": p.Home, "TMPDIR": p.Tmp, "XDG_RUNTIME_DIR": filepath.Join(p.Home, "run"),
			"XDG_CONFIG_HOME": filepath.Join(p.Home, ".config"), "XDG_DATA_HOME": filepath.Join(p.Home, ".local", "share"),
			"XDG_CACHE_HOME": filepath.Join(p.Home, ".cache"), "XDG_STATE_HOME": filepath.Join(p.Home, ".local", "state"),
		})
	}
	maps.Copy(set, block)
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		_, known := set[name]
		switch {
		case known, p != nil && slices.Contains(theirs, name):
			continue
		case slices.Contains(allowed, name), strings.HasPrefix(name, "LC_"):
		case slices.Contains(boxes, name) && containers:
		case plugin == "ollama" && strings.HasPrefix(name, "OLLAMA_") && !strings.Contains(name, "KEY") && !strings.Contains(name, "TOKEN"):
		case plugin == "ollama" && slices.Contains(cards, name):
		case slices.Contains(proxies, name):
			v = name + "=" + withoutUser(value)
		default:
			continue
		}
		env = append(env, v)
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		env = append(env, name+"="+set[name])
	}
	return env
}

// withoutUser takes name and password out of a proxy's address, which may have no
// scheme. One that cannot be read is left out.
func withoutUser(proxy string) string {
	if !strings.Contains(proxy, "@") {
		return proxy
	}
	if !strings.Contains(proxy, "://") {
		proxy = "http://" + proxy
	}
	if u, err := url.Parse(proxy); err == nil && u.Host != "" {
		u.User = nil
		if clean := u.String(); !strings.Contains(clean, "@") {
			return clean
		}
	}
	return ""
}
