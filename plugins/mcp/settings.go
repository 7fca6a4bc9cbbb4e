package main

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// settings are the attributes of the block: how the server is reached, and what of it
// is offered.
type settings struct {
	Command   string            `hcl:"command,optional" doc:"the program that is the server; it speaks over its standard input and output"`
	Args      []string          `hcl:"arguments,optional" doc:"its arguments, each one as it is: there is no shell"`
	Env       map[string]string `hcl:"environment,optional" secret:"true" doc:"its environment, beside PATH, HOME, LANG and the like (docs/mcp.md); it gets nothing else"`
	Dir       string            `hcl:"cwd,optional" doc:"the folder it is started in, absolute; the default is its home"`
	URL       string            `hcl:"url,optional" doc:"where a server is that is reached by HTTP, in place of a command"`
	Headers   map[string]string `hcl:"headers,optional" secret:"true" doc:"headers of each request to the URL, such as Authorization"`
	Transport string            `hcl:"transport,optional" doc:"http, or sse for servers of before 2025; the default tries http, then sse"`

	// Of a login (login.go).
	ClientID     string   `hcl:"client_id,optional" doc:"what Bothy is called by the authorization server, where it does not register Bothy by itself; an https:// address is that of a document which says so"`
	ClientSecret string   `hcl:"client_secret,optional" secret:"true" doc:"the secret of that client, if it has one"`
	Scopes       []string `hcl:"scopes,optional" doc:"what a login is for, in the server's words; the default is what the server asks for"`
	Redirect     string   `hcl:"redirect,optional" doc:"where a login ends, for a client that was registered with one, such as http://localhost:8765/callback; the default is a free port"`

	Timeout  time.Duration `hcl:"timeout" default:"25s" doc:"how long the server may take to start and to list what it has: 25s at most"`
	Sampling bool          `hcl:"sampling,optional" doc:"it may ask the model of the run; set where the block grants models"`
	Tools    []string      `hcl:"offered,optional" doc:"the tools that are offered, by the server's own names; * stands for any characters. The default is all"`
}

// check finds what cannot be one server.
func (s settings) check() error {
	switch {
	case s.Command == "" && s.URL == "":
		return sdk.Errorf(sdk.Validation, "it needs a command, or the url of a server that runs")
	case s.Command != "" && s.URL != "":
		return sdk.Errorf(sdk.Validation, "it has a command and a url; a server is one of them")
	case s.URL == "" && (len(s.Headers) > 0 || s.Transport != ""):
		return sdk.Errorf(sdk.Validation, "headers and transport are for a server with a url; a command has args and env")
	case s.URL == "" && (s.ClientID != "" || s.ClientSecret != "" || len(s.Scopes) > 0 || s.Redirect != ""):
		return sdk.Errorf(sdk.Validation, "client_id, client_secret, scopes and redirect are for a server with a url")
	case s.ClientID == "" && s.ClientSecret != "":
		return sdk.Errorf(sdk.Validation, "it has a client_secret and no client_id that it is of")
	case slices.ContainsFunc(s.Scopes, func(scope string) bool { return scope == "" || strings.ContainsAny(scope, " \t\r\n\"\\") }):
		return sdk.Errorf(sdk.Validation, "scopes has one that is empty, or has a space, a quote or a backslash in it: each element is one scope")
	case s.Command == "" && (len(s.Args) > 0 || len(s.Env) > 0 || s.Dir != ""):
		return sdk.Errorf(sdk.Validation, "args, env and cwd are for a server with a command; a url has headers")
	case !slices.Contains([]string{"", "http", "sse"}, s.Transport):
		return sdk.Errorf(sdk.Validation, "the transport %q is none; there are http and sse", s.Transport)
	case s.Timeout <= 0:
		return sdk.Errorf(sdk.Validation, "timeout is %v; it must be above 0", s.Timeout)
	case s.Timeout > 25*time.Second:
		return sdk.Errorf(sdk.Validation, "timeout is %v, and can be 25s at most: the daemon waits 30 s for a plugin to be configured", s.Timeout)
	case s.Dir != "" && !path.IsAbs(s.Dir):
		return sdk.Errorf(sdk.Validation, "cwd is %q; it must be absolute", s.Dir)
	}
	for _, p := range s.Tools {
		if _, err := path.Match(p, ""); err != nil {
			return sdk.Errorf(sdk.Validation, "tools has %q, which is no pattern: %w", p, err)
		}
	}
	if s.URL == "" {
		return nil
	}
	u, err := url.Parse(s.URL)
	switch {
	case err != nil || u.Host == "": // it is not told, since it may hold a secret
		return sdk.Errorf(sdk.Validation, "the url is none of http or https: it must begin with http:// or https:// and a host")
	case u.Scheme != "http" && u.Scheme != "https":
		return sdk.Errorf(sdk.Validation, "the url %q is none of http or https", s.source())
	}
	return nil
}

// offers says whether the server's tool is one of those that the block names.
func (s settings) offers(tool string) bool {
	if len(s.Tools) == 0 {
		return true
	}
	return slices.ContainsFunc(s.Tools, func(p string) bool {
		ok, _ := path.Match(p, tool) // check has seen the patterns
		return ok
	})
}

// source is what the block starts or reaches, for people: of a URL scheme and host alone, and
// no argument and no header is in it, since each may be a secret.
func (s settings) source() string {
	if s.URL == "" {
		return s.Command
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return "its url"
	}
	return u.Scheme + "://" + u.Host
}

// authorized reports whether the block itself says by what the server knows who asks: a login does
// not count then.
func (s settings) authorized() bool {
	for name := range s.Headers {
		if strings.EqualFold(name, "Authorization") {
			return true
		}
	}
	return false
}
