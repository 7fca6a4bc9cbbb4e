package confine

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestEnvironment: what passes is named, what a block says comes last, and nothing else of
// the daemon's own is there.
func TestEnvironment(t *testing.T) {
	const secret = "canary-51ce"
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		t.Setenv(name, secret) // it comes back at the end
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{
		"PATH": "/bin", "HOME": "/h", "LC_ALL": "C", "OPENAI_API_KEY": secret, "LC": secret, "GOPATH": secret, "path": secret,
		"DBUS_SESSION_BUS_ADDRESS": "unix:/bus", "OLLAMA_HOST": "h", "OLLAMA_AUTH_TOKEN": secret, "OLLAMA_API_KEY": secret, "CUDA_VISIBLE_DEVICES": "0", "MY_CUDA_VISIBLE_DEVICES": secret,
		"NO_PROXY": "localhost", "HTTPS_PROXY": "http://u:" + secret + "@p:1/",
	} {
		t.Setenv(name, value)
	}
	always := []string{"HOME=/h", "HTTPS_PROXY=http://p:1/", "LC_ALL=C", "NO_PROXY=localhost", "PATH=/bin", "GOTRACEBACK=single"}
	var free *Process
	for name, c := range map[string]struct {
		plugin     string
		containers bool
		block      map[string]string
		more       []string
	}{
		"any":            {plugin: "x"},
		"of containers":  {plugin: "x", containers: true, more: []string{"DBUS_SESSION_BUS_ADDRESS=unix:/bus"}},
		"of models":      {plugin: "ollama", more: []string{"CUDA_VISIBLE_DEVICES=0", "OLLAMA_HOST=h"}},
		"with variables": {plugin: "x", block: map[string]string{"B": "2", "A": "1"}, more: []string{"A=1", "B=2"}},
	} {
		got := free.Environment(c.plugin, c.containers, c.block)
		if i := slices.IndexFunc(got, func(v string) bool { return strings.HasPrefix(v, "GOMAXPROCS=") }); i < 0 != c.containers {
			t.Errorf("%s: the processors are said to be %v", name, got)
		} else if i >= 0 {
			got = slices.Delete(got, i, i+1)
		}
		want := slices.Concat(always, c.more)
		if text := strings.Join(got, " "); strings.Contains(text, secret) {
			t.Errorf("%s: it sees %s", name, text)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestEnvironmentOfTheConfined: folders of the user's are the process's own, what leads to the
// user's is not there, and what a block says counts more than all of it. No variable is there
// twice: which of two counts is for the program to choose.
func TestEnvironmentOfTheConfined(t *testing.T) {
	for name, value := range map[string]string{
		"PATH": "/bin", "HOME": "/h", "XDG_DATA_HOME": "/h/data", "XDG_DATA_DIRS": "/usr/share", "XDG_CONFIG_DIRS": "/etc/xdg", "BOTHY_PREFIX": "/opt/bothy",
		"DBUS_SESSION_BUS_ADDRESS": "unix:/bus", "BOTHY_PODMAN": "/run/podman", "TZ": "UTC",
	} {
		t.Setenv(name, value)
	}
	p := &Process{Home: "/own", Tmp: "/own-tmp"}
	got := map[string]string{}
	for _, v := range p.Environment("x", true, map[string]string{"PATH": "/mine", "XDG_DATA_HOME": "/given", "BOTHY_PREFIX": "/prefix", "GOMAXPROCS": "8"}) {
		name, value, _ := strings.Cut(v, "=")
		if _, twice := got[name]; twice {
			t.Errorf("%s is there twice", name)
		}
		got[name] = value
	}
	for name, want := range map[string]string{
		"PATH": "/mine", "HOME": "/own", "TMPDIR": "/own-tmp", "XDG_DATA_HOME": "/given", "XDG_RUNTIME_DIR": "/own/run", "XDG_CONFIG_HOME": "/own/.config",
		"XDG_CACHE_HOME": "/own/.cache", "XDG_STATE_HOME": "/own/.local/state", "BOTHY_PREFIX": "/prefix", "TZ": "UTC", "GOMAXPROCS": "8", "GOTRACEBACK": "single",
		"XDG_DATA_DIRS": "", "XDG_CONFIG_DIRS": "", "DBUS_SESSION_BUS_ADDRESS": "", "BOTHY_PODMAN": "",
	} {
		if value, there := got[name]; value != want || there != (want != "") {
			t.Errorf("%s is %q, want %q", name, value, want)
		}
	}
}

// TestWithoutUser: a proxy keeps its address and loses its password; what cannot be read
// is left out, for the password may be anywhere in it.
func TestWithoutUser(t *testing.T) {
	for proxy, want := range map[string]string{
		"":                          "",
		"http://p:3128":             "http://p:3128",
		"p:3128":                    "p:3128",
		"localhost,.example":        "localhost,.example",
		"http://u:s@p:3128/x":       "http://p:3128/x",
		"https://u@p":               "https://p",
		"u:s@p:3128":                "http://p:3128",
		"socks5://u:s@[::1]:1080":   "socks5://[::1]:1080",
		"http://a@b:s@p":            "http://p",
		"http://u:s@":               "",
		"http://[u:s@p":             "",
		"http://p/?x=u:s@q":         "",
		"http://u:s%40@p":           "http://p",
		"://u:s@p":                  "",
		"http://u:s@p\x00":          "",
		"http://p/" + "u:s@" + "\t": "",
	} {
		if got := withoutUser(proxy); got != want {
			t.Errorf("%q became %q, want %q", proxy, got, want)
		}
	}
}

// FuzzWithoutUser: whatever stands there, no @ is left behind which a password could stand.
func FuzzWithoutUser(f *testing.F) {
	for _, s := range []string{"http://u:s@p", "u@p", "http://a@b@c", "@", "http://%40@x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, proxy string) {
		got := withoutUser(proxy)
		if strings.Contains(got, "@") || got != proxy && !strings.Contains(proxy, "@") {
			t.Errorf("%q became %q", proxy, got)
		}
	})
}
