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
			"/srv/p":{"mcpServers":{"gh":{"command":"other"},"db":{"command":"db"}}},"/srv/q":{"mcpServers":{"no":{"command":"no"}}}}}`,
			[]string{"db command=db", "gh command=other"}},
		{"claude desktop, with keys", "claude_desktop_config.json", `{"mcpServers":{"GitHub":{"command":"docker","args":["run","ghp_0123456789abcdef"],
			"env":{"GITHUB_PERSONAL_ACCESS_TOKEN":"not-shown","LEVEL":1,"DEBUG":true}},"remote":{"url":"https://x/sse","type":"sse","headers":{"Authorization":"Bearer abcdef"}}}}`,
			[]string{"github command=docker arg=run arg=<secret github__key> env.DEBUG=true env.GITHUB_PERSONAL_ACCESS_TOKEN=<secret github__github_personal_access_token> env.LEVEL=1",
				"remote url=https://x/sse header.Authorization=Bearer <secret remote__authorization> transport=sse"}},
		{"vs code, with comments and inputs", "mcp.json", `{
			// servers that I use
			"inputs":[{"id":"pg-url","type":"promptString","password":true}],
			"servers":{"pg":{"type":"stdio","command":"pg-mcp","args":["${input:pg-url}","${workspaceFolder}/db"],"env":{"USER":"${env:USER}"},"cwd":"/srv"},},
		}`, []string{"pg command=pg-mcp arg=<secret pg__pg_url> arg=${workspaceFolder}/db env.USER=<env USER> cwd=/srv"}},
		{"vs code, settings", "settings.json", `{"editor.fontSize":12,"mcp":{"servers":{"a":{"command":"a"}}}}`, []string{"a command=a"}},
		{"gemini", "settings.json", `{"mcpServers":{"web":{"httpUrl":"http://localhost:1/mcp","timeout":5000}}}`, []string{"web url=http://localhost:1/mcp transport=http"}},
		{"zed", "settings.json", `{"context_servers":{"z":{"command":{"path":"z","args":["-a"],"env":{"A":"b"}}},"y":{"command":"y","args":[]}}}`, []string{"y command=y", "z command=z arg=-a env.A=b"}},
		{"codex", "config.toml", "model = \"o\"\n[mcp_servers.docs]\ncommand = \"docs\"\nargs = [\"a\"]\nstartup_timeout_sec = 2.5\nenabled = false\n[mcp_servers.docs.env]\nA = \"b\"\n[mcp_servers.far]\nurl = \"https://far\"\nbearer_token_env_var = \"FAR\"\n",
			[]string{"docs command=docs arg=a env.A=b timeout=2.5s disabled", "far url=https://far header.Authorization=Bearer <env FAR>"}},
		{"labels", "x.json", `{"mcpServers":{"My Server!":{"command":"a"},"my--server":{"command":"b"},"日本":{"command":"c"},"` + strings.Repeat("l", 60) + `":{"command":"d"}}}`,
			[]string{"my_server command=a", strings.Repeat("l", longestLabel) + " command=d", "my_server_2 command=b", "server command=c"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			servers, _, err := Read(c.file, "/srv/p", []byte(c.text))
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
	servers, _, err := Read("x.json", "", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if all := fmt.Sprintf("%+v", servers); strings.Contains(all, "canary") {
		t.Error(all)
	}
	if got, want := told(servers[0]), "a command=a arg=--token arg=<secret a__token> arg=--api-key arg=<secret a__api_key> arg=--password=<secret a__password> arg=--header arg=Authorization: Bearer <secret a__authorization> arg=--header=X-Api-Key: <secret a__x_api_key> arg=-H arg=plain arg=--port arg=80 env."; !strings.HasPrefix(got, want) {
		t.Error(got)
	}
	if n := len(servers[0].Notes); n != 10 {
		t.Errorf("%d notes: %q", n, servers[0].Notes)
	}
	if note := strings.Join(servers[0].Notes, " "); !strings.Contains(note, "bothy auth login a__api_key") {
		t.Error(note)
	}
}

func TestNotes(t *testing.T) {
	servers, _, err := Read("mcp.json", "", []byte(`{"servers":{"a":{"envFile":"${workspaceFolder}/.env"},"b":{"command":"b","args":["${workspaceFolder}","${input:key}"]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]string{
		{"the file ${workspaceFolder}/.env, which is not read", "neither a command nor a URL"},
		{"here a server has none: write the path", "bothy auth login b__key"},
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
		{"x.json", `{"mcpServers":[]}`, "mcpServers is no object of servers", sdk.Validation},
		{"x.json", `{"mcpServers":{"a":{"command":7}}}`, "the server \"a\" is left out: its command is neither a text", sdk.Validation},
		{"x.json", `[]`, "it is no JSON object", sdk.Validation},
		{"x.json", `{"mcpServers":{"a":{"url":7}}}`, "its url cannot be of the kind number", sdk.Validation},
		{"x.toml", "[mcp_servers.a]\nargs = 1", "its args cannot be of the kind number", sdk.Validation},
		{"x.toml", "[mcp_servers.a]\nenv.A = inf", "it has a number that is none", sdk.Validation},
		{"x.json", "{", "it is no JSON", sdk.Validation},
		{"x.json", "", "it is no JSON", sdk.Validation},
		{"x.toml", "a = 1\n= 2", "line 2 is no TOML", sdk.Validation},
		{"x.toml", "a = 1\n", "names no MCP servers", sdk.NotFound},
	} {
		_, _, err := Read(c.file, "", []byte(c.text))
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
		servers, _, err := Read(file, "", text)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, s := range servers {
			if s.Label == "" || seen[s.Label] || len(s.Label) > longestLabel || strings.Contains(s.Label, "__") || strings.Trim(s.Label, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
				t.Errorf("label %q of %q", s.Label, s.Name)
			}
			if s.Timeout < 0 || s.Timeout > mostStartup {
				t.Errorf("timeout %v", s.Timeout)
			}
			seen[s.Label] = true
		}
	})
}

// TestKeysWithin: keys that are parts of a text, or named in another way, stay as well.
func TestKeysWithin(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"", "--note=see sk-canary0123456789 for it", "<secret>"},
		{"", "run ghp_canary", "<secret>"},
		{"", "${X}sk-canary0123456789", "<secret>"},
		{"", "${T:-ghp_x}", "<secret>"},
		{"T", "${API_KEY:-canary}", "<secret>"},
		{"API_KEY", "${X:-canary}", "<secret>"},
		{"API_KEY", "${X}canary", "<secret>"},
		{"", "curl Authorization: Bearer canary", "<secret>"},
		{"", "Bearer canary", "Bearer <secret>"},
		{"", "Bearer ${X}", "Bearer ${X}"},
		{"Authorization", "Token ${X}", "Token ${X}"},
		{"Authorization", "canary canary", "<secret>"},
		{"", "postgres://me:canary@db:5432/x?sslmode=off", "postgres://me:<secret>@db:5432/x?sslmode=off"},
		{"", "postgres://me:can/ary@db/x", "<secret>"},
		{"", "postgres://${U}:${P}@db/x", "postgres://${U}:${P}@db/x"},
		{"", "postgres://${U}:canary@db/x", "<secret>"},
		{"", "http://localhost:8080/@scope/x", "http://localhost:8080/@scope/x"},
		{"", "https://x/mcp?a=b&tavilyApiKey=canary&c=d", "https://x/mcp?a=b&tavilyApiKey=<secret>&c=d"},
		{"", "https://x/mcp?tavilyApiKey=${K}", "https://x/mcp?tavilyApiKey=${K}"},
		{"", "https://x/mcp?apiKey=canary#token=canary", "<secret>"},
		{"", `{"apiKey": "canary"}`, "<secret>"},
		{"", "API_KEY=canary", "<secret>"},
		{"", "x Authorization: Basic canary", "<secret>"},
		{"tavilyApiKey", "canary", "<secret>"},
		{"apiKey", "canary", "<secret>"},
		{"APIKey", "canary", "<secret>"},
		{"API_KEYS", "canary", "<secret>"},
		{"AWS_SECRET_ACCESS_KEY_2", "canary", "<secret>"},
		{"PGPASSWORD", "canary", "<secret>"},
		{"COOKIE", "canary", "<secret>"},
		{"OPENAI_KEY2", "canary", "<secret>"},
		{"MAX_TOKENS", "4096", "4096"},
		{"AUTH", "none", "none"},
		{"MONKEY", "banana", "banana"},
		{"API_KEY_FILE", "/srv/key", "/srv/key"},
		{"", "--author=me", "--author=me"},
		{"", "task-runner-of-mine", "task-runner-of-mine"},
	} {
		s := reading{keys: map[string]string{}}
		got := ""
		for _, p := range s.value(c.name, c.text) {
			switch {
			case p.Secret != "":
				got += "<secret>"
			case p.Env != "":
				got += "${" + p.Env + "}"
			}
			got += p.Text
		}
		if got != c.want {
			t.Errorf("%s %q is %q, want %q", c.name, c.text, got, c.want)
		}
		if strings.Contains(strings.Join(s.Notes, ""), "canary") || (len(s.Notes) > 0) != strings.Contains(got, "<secret>") {
			t.Errorf("%s %q: %q", c.name, c.text, s.Notes)
		}
	}
}

// TestKeysOfArguments: an assignment behind an option keeps what is no key of it.
func TestKeysOfArguments(t *testing.T) {
	s := reading{keys: map[string]string{}}
	s.arguments([]string{"-e", "API_KEY=canary1", "--env=API_KEY=canary2", "X-Api-Key: canary3", "--tavilyApiKey", "canary4", "--n=1", "--header", "Authorization: Bearer ${X}", "--api-key=canary5 canary6", "--token", "canary7=", "--secret", "a=canary8", "--password", "canary9:x", "--token=canary10=", "--url=https://x?apiKey=canary11", "--auth", "--verbose"})
	if all := fmt.Sprint(s.Args, s.Notes); strings.Contains(all, "canary") {
		t.Error(all)
	}
	if got, want := told(s.Server), " arg=-e arg=API_KEY=<secret __api_key> arg=--env=API_KEY=<secret __api_key_2> arg=X-Api-Key: <secret __x_api_key> arg=--tavilyApiKey arg=<secret __tavilyapikey> arg=--n=1 arg=--header arg=Authorization: Bearer <env X> arg=--api-key=<secret __api_key_3> arg=--token arg=<secret __token> arg=--secret arg=<secret __secret> arg=--password arg=<secret __password> arg=--token=<secret __token_2> arg=--url=https://x?apiKey=<secret __apikey> arg=--auth arg=--verbose"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestSecretNames: no two keys have one name, of one server or of two.
func TestSecretNames(t *testing.T) {
	servers, _, err := Read("x.json", "", []byte(`{"mcpServers":{
		"a":{"command":"a","env":{"B_TOKEN":"canary1","b-token":"canary2","b.token":"canary1"}},
		"a_b":{"command":"a","env":{"TOKEN":"canary3"}},
		"c":{"command":"c","env":{"TOKEN":"canary4"}},"C!":{"command":"c","env":{"TOKEN":"canary5"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range servers {
		got = append(got, told(s))
	}
	want := []string{
		"c command=c env.TOKEN=<secret c__token>",
		"a command=a env.B_TOKEN=<secret a__b_token> env.b-token=<secret a__b_token_2> env.b.token=<secret a__b_token>",
		"a_b command=a env.TOKEN=<secret a_b__token>",
		"c_2 command=c env.TOKEN=<secret c_2__token>",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestOdd: what is odd of one server costs no other.
func TestOdd(t *testing.T) {
	servers, odd, err := Read("x.json", "", []byte(`{"servers":[],"mcpServers":{"bad":{"command":"a","args":"x"},"worse":{"command":[1]},"good":{"command":"a","timeout":"x","args":["--port",8080,null],
		"env":{"NULL":null,"BIG":12345678901234567890,"HALF":0.10,"YES":true,"LIST":["canary"],"OBJECT":{"a":1}},"headers":{"X":1}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(servers) != 1 {
		t.Fatal(servers)
	}
	if got, want := told(servers[0]), "good command=a arg=--port arg=8080 env.BIG=12345678901234567890 env.HALF=0.10 env.YES=true header.X=1"; got != want {
		t.Error(got)
	}
	if got := strings.Join(servers[0].Notes, "|"); got != "LIST of its env is no text and is left out: write it yourself.|OBJECT of its env is no text and is left out: write it yourself." {
		t.Error(got)
	}
	want := []string{`the server "bad" is left out: its args cannot be of the kind string`, `the server "worse" is left out: its command is neither a text nor an object with a path`, "servers is no object of servers by their names"}
	if diff := cmp.Diff(want, odd); diff != "" {
		t.Error(diff)
	}
}

// TestTimeout: the time to start counts, up to what a server may have; that of a call does not.
func TestTimeout(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"[mcp_servers.a]\ncommand='a'\nstartup_timeout_sec=25\n":   25 * time.Second,
		"[mcp_servers.a]\ncommand='a'\nstartup_timeout_sec=25.5\n": 0,
		"[mcp_servers.a]\ncommand='a'\ntimeout=5000\n":             0,
	} {
		servers, _, err := Read("x.toml", "", []byte(text))
		if err != nil || servers[0].Timeout != want {
			t.Errorf("%q: %+v, %v", text, servers, err)
		}
	}
}
