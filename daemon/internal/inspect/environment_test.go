package inspect

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
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
	always := []string{"HOME=/h", "HTTPS_PROXY=http://p:1/", "LC_ALL=C", "NO_PROXY=localhost", "PATH=/bin", "GOTRACEBACK=single", fmt.Sprintf("%s=%d", plugin.EnvHostPID, os.Getpid())}
	for name, c := range map[string]struct {
		spec Spec
		more []string
	}{
		"any":            {Spec{Plugin: "x"}, nil},
		"of containers":  {Spec{Plugin: "x", Grants: []string{sdk.GrantSandbox}}, []string{"DBUS_SESSION_BUS_ADDRESS=unix:/bus"}},
		"of models":      {Spec{Plugin: "ollama", Instance: "y"}, []string{"CUDA_VISIBLE_DEVICES=0", "OLLAMA_HOST=h"}},
		"by its name":    {Spec{Plugin: "x", Instance: "ollama"}, nil},
		"with variables": {Spec{Plugin: "x", Env: map[string]string{"B": "2", "A": "1"}}, []string{"A=1", "B=2"}},
	} {
		got := Environment(c.spec)
		if i := slices.IndexFunc(got, func(v string) bool { return strings.HasPrefix(v, "GOMAXPROCS=") }); i < 0 != (name == "of containers") {
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
	t.Setenv("PATH", "/bin")
	if got := Environment(Spec{Env: map[string]string{"PATH": "/mine"}}); slices.Index(got, "PATH=/mine") < slices.Index(got, "PATH=/bin") {
		t.Errorf("what its block says does not count: %q", got)
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
