package inspect

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
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

// containers are what one needs that starts containers: Podman, and the session
// bus, over which crun asks systemd for a cgroup.
var containers = []string{"BOTHY_PODMAN", "DBUS_SESSION_BUS_ADDRESS"}

// server matches what a model server is set up by, for the plugin that may start one:
// Ollama's own variables, and which graphics cards it is to use.
var server = regexp.MustCompile(`^(OLLAMA_.*|CUDA_VISIBLE_DEVICES|GPU_DEVICE_ORDINAL|HIP_VISIBLE_DEVICES|HSA_OVERRIDE_GFX_VERSION|ROCR_VISIBLE_DEVICES)$`)

// Environment is all that a plugin's process sees of variables. One in Go works
// on half of the cores, as a sandbox does: what it waits for is mostly elsewhere,
// and many start at once. A block with env = { GOMAXPROCS = "8" } says otherwise.
func Environment(spec Spec) []string {
	var env []string
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case slices.Contains(allowed, name), strings.HasPrefix(name, "LC_"):
		case slices.Contains(containers, name) && spec.Granted(sdk.GrantSandbox):
		case spec.Plugin == "ollama" && server.MatchString(name) && !strings.Contains(name, "KEY") && !strings.Contains(name, "TOKEN"):
		case slices.Contains(proxies, name):
			v = name + "=" + withoutUser(value)
		default:
			continue
		}
		env = append(env, v)
	}
	env = append(env, "GOTRACEBACK=single")
	if !spec.Granted(sdk.GrantSandbox) { // Podman would inherit it
		env = append(env, "GOMAXPROCS="+strconv.Itoa(max(1, runtime.NumCPU()/2)))
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Env)) {
		env = append(env, name+"="+spec.Env[name])
	}
	return append(env, fmt.Sprintf("%s=%d", plugin.EnvHostPID, os.Getpid()))
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
