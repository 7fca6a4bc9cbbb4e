package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheck: doctor is told which engine is asked, and that there is none; nothing of a block that cannot be read.
func TestCheck(t *testing.T) {
	for row, c := range map[string]struct{ config, level, says string }{
		"none":       {`{}`, "warn", "no search engine is configured, so that web_search is not offered"},
		"an engine":  {`{"brave_key": "[secret]", "brave_url": "https://api.search.brave.com"}`, "ok", "brave at https://api.search.brave.com"},
		"ahead":      {`{"searxng_url": "http://127.0.0.1:8888/x", "prefetch": 2}`, "ok", "searxng at http://127.0.0.1:8888; the first 2 pages are fetched ahead"},
		"wrong":      {`{"engine": "tavily"}`, "warn", "set tavily_key"},
		"unreadable": {`null`, "", ""},
	} {
		t.Run(row, func(t *testing.T) {
			var out, errs strings.Builder
			code, done := check([]string{"check", `{"instance": "plugin web", "config": ` + c.config + `}`, "/project"}, &out, &errs)
			var found []finding
			if err := json.Unmarshal([]byte(out.String()), &found); err != nil || code != 0 || !done || errs.Len() > 0 {
				t.Fatalf("%d %s%s %v", code, out.String(), errs.String(), err)
			}
			for _, f := range found {
				if f.Name == "plugin web, search" && f.Level == c.level && strings.Contains(f.Detail, c.says) {
					return
				}
			}
			if c.level != "" || len(found) > 0 {
				t.Errorf("%+v", found)
			}
		})
	}
	for _, args := range [][]string{nil, {"read"}} {
		if _, done := check(args, nil, nil); done {
			t.Errorf("%q is answered", args)
		}
	}
	for _, args := range [][]string{{"check"}, {"check", "{"}, {"check", `{"config": [1]}`}} {
		var out, errs strings.Builder
		if code, done := check(args, &out, &errs); code != 2 || !done || out.Len() > 0 {
			t.Errorf("%q: %d %s", args, code, out.String())
		}
	}
}

// TestNameServers: doctor is told who is asked for the addresses of hosts.
func TestNameServers(t *testing.T) {
	for text, want := range map[string]string{
		"# nameserver 9.9.9.9\nsearch lan\nnameserver 192.0.2.1\n nameserver\t2001:db8::1 # own\n": "192.0.2.1, 2001:db8::1",
		"nameserver\noptions ndots:1\n": "a name server on this machine, since ",
	} {
		file := filepath.Join(t.TempDir(), "resolv.conf")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := nameServers(file); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s", text, got)
		}
	}
	if got := nameServers(filepath.Join(t.TempDir(), "none")); !strings.Contains(got, "cannot be read") {
		t.Error(got)
	}
}
