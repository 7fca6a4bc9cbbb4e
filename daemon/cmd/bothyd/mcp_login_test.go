package main

import (
	"runtime"
	"testing"
)

// TestBrowser: what the person named, else the desktop's where there is one.
func TestBrowser(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"BROWSER": "/usr/bin/firefox"}, "/usr/bin/firefox"},
		{map[string]string{"BROWSER": "firefox %s:lynx", "DISPLAY": ":0"}, "firefox"},
		{map[string]string{"DISPLAY": ":0"}, "xdg-open"},
		{map[string]string{"WAYLAND_DISPLAY": "wayland-0"}, "xdg-open"},
		{nil, ""},
	} {
		if runtime.GOOS == "darwin" && c.env["BROWSER"] == "" {
			c.want = "open"
		}
		if got := browser(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: %q, want %q", c.env, got, c.want)
		}
	}
}
