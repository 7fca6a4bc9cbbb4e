package policy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func fetchTool() sdk.Tool {
	return sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "web_fetch", Address: "url", Annotations: sdk.Annotations{ReadOnly: true, OpenWorld: true}}, Plugin: "web", Pinned: true}
}

// TestAddress: a call that names an address is judged by where it goes, and by who can have written that.
func TestAddress(t *testing.T) {
	const page = "https://docs.example.org/a?b=c"
	allow := func(host string) []sdk.PolicyRule {
		return []sdk.PolicyRule{{Name: "hosts.allow", Source: "config.hcl:1", Verdict: sdk.Allow, Hosts: []string{host}}}
	}
	remembered := func(host string) []sdk.PolicyRule {
		return []sdk.PolicyRule{{Name: "r", Source: SourceRemembered, Verdict: sdk.Allow, Tools: []string{"web__web_fetch"}, Hosts: []string{host}, Project: "/p"}}
	}
	deny := func(host string) []sdk.PolicyRule {
		return []sdk.PolicyRule{{Name: "hosts.deny", Source: "workspace .bothy/config.hcl:1", Verdict: sdk.Deny, Hosts: []string{host}}}
	}
	for name, c := range map[string]struct {
		url   string
		mode  sdk.Mode
		from  sdk.AddressFrom
		leaks string
		alone bool // nobody attends
		chat  bool // a channel began the run
		rules []sdk.PolicyRule
		want  sdk.Verdict
		rule  string
		host  bool // allowed by the host alone
	}{
		"a model's":                            {url: page, mode: sdk.ModeRestricted, want: sdk.Propose, rule: RuleAddress},
		"a model's, workspace":                 {url: page, mode: sdk.ModeWorkspace, want: sdk.Propose, rule: RuleAddress},
		"a model's, full":                      {url: page, mode: sdk.ModeFull, want: sdk.Allow, rule: RuleAddress},
		"a model's, full, alone":               {url: page, mode: sdk.ModeFull, alone: true, want: sdk.Allow, rule: RuleAddress},
		"a model's, alone":                     {url: page, mode: sdk.ModeRestricted, alone: true, want: sdk.Deny, rule: RuleAddress},
		"a prompt's":                           {url: page, mode: sdk.ModeRestricted, from: sdk.AddressOfPrompt, want: sdk.Allow, rule: RuleAddress},
		"a prompt's, alone":                    {url: page, mode: sdk.ModeWorkspace, from: sdk.AddressOfPrompt, alone: true, want: sdk.Allow, rule: RuleAddress},
		"a search's":                           {url: page, mode: sdk.ModeWorkspace, from: sdk.AddressOfSearch, want: sdk.Allow, rule: RuleAddress},
		"a query's":                            {url: page, mode: sdk.ModeWorkspace, from: sdk.AddressOfQuery, want: sdk.Propose, rule: RuleAddress},
		"a query's, alone":                     {url: page, mode: sdk.ModeRestricted, from: sdk.AddressOfQuery, alone: true, want: sdk.Deny, rule: RuleAddress},
		"a query's, full":                      {url: page, mode: sdk.ModeFull, from: sdk.AddressOfQuery, alone: true, want: sdk.Allow, rule: RuleAddress},
		"a query's, at an allowed host":        {url: page, mode: sdk.ModeRestricted, from: sdk.AddressOfQuery, rules: allow("docs.example.org"), want: sdk.Allow, rule: "hosts.allow", host: true},
		"a prompt's, interactive":              {url: page, mode: sdk.ModeInteractive, from: sdk.AddressOfPrompt, want: sdk.Propose, rule: RuleAddress},
		"an allowed host":                      {url: page, mode: sdk.ModeRestricted, rules: allow("docs.example.org"), want: sdk.Allow, rule: "hosts.allow", host: true},
		"an allowed host, by glob":             {url: page, mode: sdk.ModeRestricted, rules: allow("*.example.org"), want: sdk.Allow, rule: "hosts.allow", host: true},
		"an allowed host, otherwise written":   {url: "HTTPS://Docs.Example.ORG.:443/x", mode: sdk.ModeRestricted, rules: allow("docs.example.org"), want: sdk.Allow, rule: "hosts.allow", host: true},
		"an allowed host, alone":               {url: page, mode: sdk.ModeRestricted, alone: true, rules: allow("docs.example.org"), want: sdk.Allow, rule: "hosts.allow", host: true},
		"an allowed host, interactive":         {url: page, mode: sdk.ModeInteractive, rules: allow("docs.example.org"), want: sdk.Propose, rule: RuleAddress},
		"another host":                         {url: "https://docs.example.org.evil.example/", mode: sdk.ModeRestricted, rules: allow("docs.example.org"), want: sdk.Propose, rule: RuleAddress},
		"another host, in userinfo":            {url: "https://docs.example.org@evil.example/", mode: sdk.ModeRestricted, rules: allow("docs.example.org"), want: sdk.Deny, rule: RuleAddress},
		"a remembered host":                    {url: page, mode: sdk.ModeRestricted, rules: remembered("docs.example.org"), want: sdk.Allow, rule: "r", host: true},
		"a denied host":                        {url: page, mode: sdk.ModeFull, rules: deny("*.example.org"), from: sdk.AddressOfPrompt, want: sdk.Deny, rule: "hosts.deny"},
		"a denied host that is allowed":        {url: page, mode: sdk.ModeFull, rules: append(allow("*"), deny("docs.example.org")...), want: sdk.Deny, rule: "hosts.deny"},
		"a host that is not denied":            {url: page, mode: sdk.ModeFull, rules: deny("example.org"), want: sdk.Allow, rule: RuleAddress},
		"a key":                                {url: page, mode: sdk.ModeRestricted, leaks: "K", from: sdk.AddressOfPrompt, want: sdk.Propose, rule: RuleLeak},
		"a key, full":                          {url: page, mode: sdk.ModeFull, leaks: "K", want: sdk.Propose, rule: RuleLeak},
		"a key, full, alone":                   {url: page, mode: sdk.ModeFull, leaks: "K", alone: true, want: sdk.Deny, rule: RuleLeak},
		"a key at an allowed host":             {url: page, mode: sdk.ModeFull, leaks: "K", rules: allow("*"), want: sdk.Propose, rule: RuleLeak},
		"a key at a denied host":               {url: page, mode: sdk.ModeFull, leaks: "K", rules: deny("*"), want: sdk.Deny, rule: "hosts.deny"},
		"this machine":                         {url: "http://127.0.0.1/", mode: sdk.ModeFull, from: sdk.AddressOfPrompt, want: sdk.Deny, rule: RuleAddress},
		"this machine at another port":         {url: "http://127.0.0.1:8080/", mode: sdk.ModeFull, from: sdk.AddressOfPrompt, want: sdk.Deny, rule: RuleAddress},
		"this machine, by a name":              {url: "http://LOCALHOST./", mode: sdk.ModeFull, want: sdk.Deny, rule: RuleAddress},
		"a cloud's metadata":                   {url: "http://169.254.169.254/latest", mode: sdk.ModeRestricted, want: sdk.Deny, rule: RuleAddress},
		"this machine, allowed":                {url: "http://127.0.0.1:8080/", mode: sdk.ModeRestricted, rules: allow("127.0.0.1"), want: sdk.Allow, rule: "hosts.allow", host: true},
		"this machine, by a star":              {url: "http://127.0.0.1/", mode: sdk.ModeRestricted, rules: allow("*"), want: sdk.Deny, rule: RuleAddress},
		"this machine, remembered":             {url: "http://127.0.0.1/", mode: sdk.ModeRestricted, rules: remembered("127.0.0.1"), want: sdk.Deny, rule: RuleAddress},
		"a public host at another port":        {url: "https://example.org:8443/", mode: sdk.ModeRestricted, want: sdk.Propose, rule: RuleAddress},
		"a public host at another port, chat":  {url: "https://example.org:8443/", mode: sdk.ModeFull, chat: true, from: sdk.AddressOfPrompt, want: sdk.Deny, rule: RuleAddress},
		"this machine, allowed, chat":          {url: "http://127.0.0.1:8080/", mode: sdk.ModeFull, chat: true, rules: allow("127.0.0.1"), want: sdk.Deny, rule: RuleAddress},
		"a prompt's, chat":                     {url: page, mode: sdk.ModeRestricted, chat: true, from: sdk.AddressOfPrompt, want: sdk.Allow, rule: RuleAddress},
		"no address":                           {url: "", mode: sdk.ModeFull, want: sdk.Deny, rule: RuleAddress},
		"another scheme":                       {url: "file:///etc/passwd", mode: sdk.ModeFull, from: sdk.AddressOfPrompt, want: sdk.Deny, rule: RuleAddress},
		"a number":                             {url: "http://2130706433/", mode: sdk.ModeFull, want: sdk.Deny, rule: RuleAddress},
		"a number that another alphabet hides": {url: "http://①②⑦.⓪.⓪.①/", mode: sdk.ModeFull, want: sdk.Deny, rule: RuleAddress},
	} {
		t.Run(name, func(t *testing.T) {
			arguments, err := json.Marshal(map[string]string{"url": c.url})
			if err != nil {
				t.Fatal(err)
			}
			d := New(Settings{Rules: c.rules, View: true}).Decide(sdk.PolicyRequest{
				Tool: fetchTool(), Arguments: arguments, Project: "/p", Mode: c.mode, Attended: !c.alone, AddressFrom: c.from, Leaks: c.leaks, Private: c.chat,
			})
			if d.Verdict != c.want || d.Rule != c.rule || d.SameHost != c.host {
				t.Errorf("%s by %s (%s), same host %t", d.Verdict, d.Rule, d.Reason, d.SameHost)
			}
		})
	}
}

// TestNotHosts: a call knows the hosts that rules deny or ask about, since a redirect may lead there; those of other
// calls are none of its business.
func TestNotHosts(t *testing.T) {
	rules := []sdk.PolicyRule{
		{Name: "a", Verdict: sdk.Allow, Hosts: []string{"docs.example.org"}},
		{Name: "d", Verdict: sdk.Deny, Hosts: []string{"ads.example.org", "*.evil.example"}},
		{Name: "p", Verdict: sdk.Propose, Hosts: []string{"shop.example.org"}, Tools: []string{"web_fetch"}},
		{Name: "o", Verdict: sdk.Deny, Hosts: []string{"other.example.org"}, Project: "/other"},
		{Name: "m", Verdict: sdk.Deny, Hosts: []string{"mode.example.org"}, Modes: []sdk.Mode{sdk.ModeFull}},
		{Name: "t", Verdict: sdk.Deny, Hosts: []string{"tool.example.org"}, Tools: []string{"open_page"}},
		{Name: "n", Verdict: sdk.Deny, Tools: []string{"other"}},
	}
	for address, want := range map[string]string{
		"https://docs.example.org/":  "allow ads.example.org *.evil.example shop.example.org",
		"https://plain.example.org/": "propose ads.example.org *.evil.example shop.example.org",
		"https://ads.example.org/":   "deny",
	} {
		d := New(Settings{Rules: rules}).Decide(sdk.PolicyRequest{Tool: fetchTool(), Arguments: []byte(`{"url":"` + address + `"}`), Project: "/p", Attended: true})
		if got := strings.Join(append([]string{string(d.Verdict)}, d.NotHosts...), " "); got != want {
			t.Errorf("%s: %s", address, got)
		}
	}
}

// TestAddressOfAnUnpinnedPlugin: nothing that an unpinned plugin declares loosens anything.
func TestAddressOfAnUnpinnedPlugin(t *testing.T) {
	tool := fetchTool()
	tool.Pinned = false
	rules := []sdk.PolicyRule{{Name: "hosts.allow", Source: "config.hcl:1", Verdict: sdk.Allow, Hosts: []string{"*"}}}
	d := New(Settings{Rules: rules}).Decide(sdk.PolicyRequest{Tool: tool, Arguments: []byte(`{"url":"https://example.org/"}`), Attended: true, AddressFrom: sdk.AddressOfPrompt})
	if d.Verdict != sdk.Propose || d.Rule != RuleUnpinned {
		t.Errorf("%s by %s", d.Verdict, d.Rule)
	}
}

// TestRulesOfHosts: a rule with hosts has nothing to do with calls that name no address.
func TestRulesOfHosts(t *testing.T) {
	bash := sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "other"}, Plugin: "p", Pinned: true}
	for _, v := range []sdk.Verdict{sdk.Allow, sdk.Deny} {
		d := New(Settings{Rules: []sdk.PolicyRule{{Name: "h", Source: "c:1", Verdict: v, Hosts: []string{"*"}}}}).
			Decide(sdk.PolicyRequest{Tool: bash, Arguments: []byte(`{"url":"https://example.org/"}`), Attended: true})
		if d.Rule != RuleUnknown {
			t.Errorf("%s by %s", d.Verdict, d.Rule)
		}
	}
	// Whether a tool is offered is asked without arguments: it is.
	if d := New(Settings{}).Decide(sdk.PolicyRequest{Tool: fetchTool(), Unwritten: true}); d.Verdict != sdk.Allow {
		t.Errorf("not offered: %s by %s", d.Verdict, d.Rule)
	}
}

// TestOffline: without a network no call that reaches one is made, in no mode and whatever allows it.
func TestOffline(t *testing.T) {
	allow := []sdk.PolicyRule{{Name: "a", Source: "c:1", Verdict: sdk.Allow, Tools: []string{"*"}}}
	unpinned := sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "other"}, Plugin: "p"}
	network := sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "open_network", Annotations: sdk.Annotations{OpenWorld: true}}, Plugin: sdk.OwnPlugin, Pinned: true}
	closed := sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "read_file", Annotations: sdk.Annotations{ReadOnly: true}}, Plugin: "files", Pinned: true}
	for _, mode := range sdk.ModeNames() {
		for _, tool := range []sdk.Tool{fetchTool(), unpinned, network} {
			d := New(Settings{Rules: allow, View: true}).Decide(sdk.PolicyRequest{
				Tool: tool, Arguments: []byte(`{"url":"https://example.org/"}`), Project: "/p", Mode: sdk.Mode(mode), Attended: true, AddressFrom: sdk.AddressOfPrompt, Offline: true,
			})
			if d.Verdict != sdk.Deny || d.Rule != RuleOffline {
				t.Errorf("%s in mode %s: %s by %s", tool.Name, mode, d.Verdict, d.Rule)
			}
		}
		if d := New(Settings{Rules: allow, View: true}).Decide(sdk.PolicyRequest{Tool: closed, Project: "/p", Mode: sdk.Mode(mode), Attended: true, Offline: true}); d.Verdict != sdk.Allow {
			t.Errorf("a file is not read in mode %s: %s", mode, d.Reason)
		}
	}
}

// TestJudgeAddress: of an address that nobody asked yet it is said what would become of it, secrets in it included.
func TestJudgeAddress(t *testing.T) {
	open := []sdk.PolicyRule{{Name: "hosts.allow", Source: "config.hcl:1", Verdict: sdk.Allow, Hosts: []string{"docs.example.org"}}}
	leaks := func(arguments json.RawMessage) string {
		if strings.Contains(string(arguments), "canary") {
			return "K"
		}
		return ""
	}
	links := func(string, []string) map[string]string { return nil }
	for address, want := range map[string]string{
		"https://docs.example.org/x":         "restricted allow hosts.allow docs.example.org, full allow address docs.example.org",
		"https://example.org/":               "restricted deny address example.org, full allow address example.org",
		"https://docs.example.org/?k=canary": "restricted deny leak docs.example.org, full deny leak docs.example.org",
		"http://127.0.0.1/":                  "restricted deny address 127.0.0.1, full deny address 127.0.0.1",
		"file:///etc/passwd":                 "restricted deny address , full deny address ",
		"\xff":                               "restricted deny address , full deny address ",
	} {
		var got []string
		for _, mode := range []sdk.Mode{sdk.ModeRestricted, sdk.ModeFull} {
			d, err := Judge(Settings{Rules: open}, "/p", Trial{Text: address, Address: true, Mode: mode, Leaks: leaks}, links)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%s %s %s %s", mode, d.Verdict, d.Rule, d.Host))
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%q: %s, not %s", address, text, want)
		}
	}
}
