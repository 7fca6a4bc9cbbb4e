package mcpfile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bothyd/bothy/sdk"
)

// told is a server in one line, for comparing.
func told(s Server) string {
	var b strings.Builder
	fmt.Fprint(&b, s.Label)
	say := func(name string, v Value) {
		if len(v) == 0 {
			return
		}
		fmt.Fprintf(&b, " %s=", name)
		for _, p := range v {
			switch {
			case p.Secret != "":
				fmt.Fprintf(&b, "<secret %s>", p.Secret)
			case p.Default != nil:
				fmt.Fprintf(&b, "<env %s %q>", p.Env, *p.Default)
			case p.Env != "":
				fmt.Fprintf(&b, "<env %s>", p.Env)
			default:
				b.WriteString(p.Text)
			}
		}
	}
	say("command", s.Command)
	for _, a := range s.Args {
		say("arg", a)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		say("env."+name, s.Env[name])
	}
	say("cwd", s.Dir)
	say("url", s.URL)
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		say("header."+name, s.Headers[name])
	}
	if s.Transport != "" {
		fmt.Fprintf(&b, " transport=%s", s.Transport)
	}
	if s.Timeout != 0 {
		fmt.Fprintf(&b, " timeout=%v", s.Timeout)
	}
	if s.Disabled {
		b.WriteString(" disabled")
	}
	return b.String()
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		want             []string
	}{
		{"claude code, a project's file", ".mcp.json", `{"mcpServers":{
			"fs":{"command":"npx","args":["-y","@modelcontextprotocol/server-filesystem","${HOME}/notes"]},
			"api":{"type":"http","url":"https://api.example.com/mcp","headers":{"Authorization":"Bearer ${API_KEY:-none}","X-Plain":"$HOME"}}}}`,
			[]string{`api url=https://api.example.com/mcp header.Authorization=Bearer <env API_KEY "none"> header.X-Plain=$HOME transport=http`,
				`fs command=npx arg=-y arg=@modelcontextprotocol/server-filesystem arg=<env HOME>/notes`}},
		{"claude code, the person's file", ".claude.json", `{"numStartups":3,"mcpServers":{"gh":{"command":"gh-mcp"}},"projects":{
			"/work/p":{"mcpServers":{"gh":{"command":"other"},"db":{"command":"db"}}},"/work/q":{"mcpServers":{"no":{"command":"no"}}}}}`,
			[]string{"db command=db", "gh command=other"}},
		{"claude desktop, with keys", "claude_desktop_config.json", `{"mcpServers":{"GitHub":{"command":"docker","args":["run","ghp_0123456789abcdef"],
			"env":{"GITHUB_PERSONAL_ACCESS_TOKEN":"not-shown","LEVEL":1,"DEBUG":true}},"remote":{"url":"https://x/sse","type":"sse","headers":{"Authorization":"Bearer abcdef"}}}}`,
			[]string{"github command=docker arg=run arg=<secret github_key> env.DEBUG=true env.GITHUB_PERSONAL_ACCESS_TOKEN=<secret github_github_personal_access_token> env.LEVEL=1",
				"remote url=https://x/sse header.Authorization=Bearer <secret remote_authorization> transport=sse"}},
		{"vs code, with comments and inputs", "mcp.json", `{
			// servers that I use
			"inputs":[{"id":"pg-url","type":"promptString","password":true}],
			"servers":{"pg":{"type":"stdio","command":"pg-mcp","args":["${input:pg-url}","${workspaceFolder}/db"],"env":{"USER":"${env:USER}"},"cwd":"/srv"},},
		}`, []string{"pg command=pg-mcp arg=<secret pg_pg_url> arg=${workspaceFolder}/db env.USER=<env USER> cwd=/srv"}},
		{"vs code, settings", "settings.json", `{"editor.fontSize":12,"mcp":{"servers":{"a":{"command":"a"}}}}`, []string{"a command=a"}},
		{"gemini", "settings.json", `{"mcpServers":{"web":{"httpUrl":"http://localhost:1/mcp","timeout":5000}}}`, []string{"web url=http://localhost:1/mcp transport=http timeout=5s"}},
		{"zed", "settings.json", `{"context_servers":{"z":{"command":{"path":"z","args":["-a"],"env":{"A":"b"}}},"y":{"command":"y","args":[]}}}`, []string{"y command=y", "z command=z arg=-a env.A=b"}},
		{"codex", "config.toml", "model = \"o\"\n[mcp_servers.docs]\ncommand = \"docs\"\nargs = [\"a\"]\nstartup_timeout_sec = 2.5\nenabled = false\n[mcp_servers.docs.env]\nA = \"b\"\n[mcp_servers.far]\nurl = \"https://far\"\nbearer_token_env_var = \"FAR\"\n",
			[]string{"docs command=docs arg=a env.A=b timeout=2.5s disabled", "far url=https://far header.Authorization=Bearer <env FAR>"}},
		{"labels", "x.json", `{"mcpServers":{"My Server!":{"command":"a"},"my--server":{"command":"b"},"日本":{"command":"c"},"` + strings.Repeat("l", 60) + `":{"command":"d"}}}`,
			[]string{"my_server command=a", strings.Repeat("l", longestLabel) + " command=d", "my_server_2 command=b", "server command=c"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			servers, err := Read(c.file, "/work/p", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range servers {
				got = append(got, told(s))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestKeysStay: no key of the file is in what is read of it, the notes included.
func TestKeysStay(t *testing.T) {
	text := `{"mcpServers":{"a":{"command":"a","args":["--token","sk-canary0123456789","--api-key","canary6","--password=canary7","--header","Authorization: Bearer canary8","--header=X-Api-Key:canary9","-H","plain","--port","80"],"env":{"API_KEY":"canary1","MY-TOKEN":"canary2","password":"canary3"},
		"url":"","headers":{"authorization":"Basic canary4","X-Api-Key":"canary5"}}}}`
	servers, err := Read("x.json", "", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if all := fmt.Sprintf("%+v", servers); strings.Contains(all, "canary") {
		t.Error(all)
	}
	if got, want := told(servers[0]), "a command=a arg=--token arg=<secret a_token> arg=--api-key arg=<secret a_api_key> arg=--password=<secret a_password> arg=--header arg=Authorization: Bearer <secret a_authorization> arg=--header=X-Api-Key: <secret a_x_api_key> arg=-H arg=plain arg=--port arg=80 env."; !strings.HasPrefix(got, want) {
		t.Error(got)
	}
	if n := len(servers[0].Notes); n != 8 {
		t.Errorf("%d notes: %q", n, servers[0].Notes)
	}
	if note := strings.Join(servers[0].Notes, " "); !strings.Contains(note, "bothy auth login a_api_key") {
		t.Error(note)
	}
}

func TestNotes(t *testing.T) {
	servers, err := Read("mcp.json", "", []byte(`{"servers":{"a":{"envFile":"${workspaceFolder}/.env"},"b":{"command":"b","args":["${workspaceFolder}","${input:key}"]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]string{
		{"the file ${workspaceFolder}/.env, which is not read", "neither a command nor a URL"},
		{"here a server has none: write the path", "bothy auth login b_key"},
	} {
		for j, w := range want {
			if len(servers[i].Notes) != len(want) || !strings.Contains(servers[i].Notes[j], w) {
				t.Errorf("%s: %q", servers[i].Name, servers[i].Notes)
			}
		}
	}
}

func TestUnreadable(t *testing.T) {
	for _, c := range []struct {
		file, text, want string
		outcome          sdk.Outcome
	}{
		{"x.json", `{}`, "names no MCP servers", sdk.NotFound},
		{"x.json", `{"mcpServers":[]}`, "cannot unmarshal array", sdk.Validation},
		{"x.json", `{"mcpServers":{"a":{"command":7}}}`, "cannot unmarshal number", sdk.Validation},
		{"x.json", "{", "it is no JSON", sdk.Validation},
		{"x.json", "", "it is no JSON", sdk.Validation},
		{"x.toml", "a = 1\n= 2", "line 2 is no TOML", sdk.Validation},
		{"x.toml", "a = 1\n", "names no MCP servers", sdk.NotFound},
	} {
		_, err := Read(c.file, "", []byte(c.text))
		if sdk.OutcomeOf(err) != c.outcome || !strings.Contains(fmt.Sprint(err), c.want) || !strings.HasPrefix(fmt.Sprint(err), c.file) {
			t.Errorf("%s %q: %v", c.file, c.text, err)
		}
	}
}

func TestPlain(t *testing.T) {
	for _, c := range []struct {
		v    Value
		want string
		is   bool
	}{{nil, "", true}, {Value{{Text: "a"}, {Text: "b"}}, "ab", true}, {Value{{Text: "a"}, {Env: "B"}}, "", false}, {Value{{Secret: "s"}}, "", false}} {
		if got, is := c.v.Plain(); got != c.want || is != c.is {
			t.Errorf("%+v: %q, %v", c.v, got, is)
		}
	}
}

// FuzzRead: no file makes it panic, labels are labels and told apart, and a server's time is
// none that is below zero.
func FuzzRead(f *testing.F) {
	f.Add("x.json", []byte(`{"mcpServers":{"a":{"command":"a","args":["${X:-y}"],"env":{"A_KEY":"b"}}}}`))
	f.Add("x.toml", []byte("[mcp_servers.a]\ncommand = 'a'\n"))
	f.Add("x.json", []byte(`{"servers":{"":{"url":"${input:a}${env:b}${"}}, "context_servers":{"z":{"command":{"path":"z"}}}}`))
	f.Fuzz(func(t *testing.T, file string, text []byte) {
		servers, err := Read(file, "", text)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, s := range servers {
			if s.Label == "" || seen[s.Label] || len(s.Label) > longestLabel || strings.Contains(s.Label, "__") || strings.Trim(s.Label, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
				t.Errorf("label %q of %q", s.Label, s.Name)
			}
			if s.Timeout < 0 || s.Timeout > 24*time.Hour {
				t.Errorf("timeout %v", s.Timeout)
			}
			seen[s.Label] = true
		}
	})
}
