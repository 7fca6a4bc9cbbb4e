package mcpfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/tailscale/hujson"

	"github.com/bothyd/bothy/sdk"
)

// MaxFile is how long a file may be that is read; ~/.claude.json, which holds more than
// servers, grows to some megabytes.
const MaxFile = 32 << 20

// longestLabel is that of an mcp block (package config).
const longestLabel = 32

// mostStartup is the longest that a server may have to start.
const mostStartup = 25 * time.Second

// entry is a server in any of the files; they differ in few of the names.
type entry struct {
	Type        string         `json:"type"`
	Transport   string         `json:"transport"`
	Command     command        `json:"command"`
	Args        []any          `json:"args"`
	Env         map[string]any `json:"env"`
	Dir         string         `json:"cwd"`
	URL         string         `json:"url"`
	HTTPURL     string         `json:"httpUrl"`   // Gemini
	ServerURL   string         `json:"serverUrl"` // Windsurf
	Headers     map[string]any `json:"headers"`
	HTTPHeaders map[string]any `json:"http_headers"`         // Codex
	Bearer      string         `json:"bearer_token_env_var"` // Codex
	EnvFile     string         `json:"envFile"`
	Startup     float64        `json:"startup_timeout_sec"` // Codex; timeout, of others, is that of a call
	Disabled    bool           `json:"disabled"`
	Enabled     *bool          `json:"enabled"`
}

// command is a program, or Zed's object of path, args and env.
type command struct {
	Path string         `json:"path"`
	Args []any          `json:"args"`
	Env  map[string]any `json:"env"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *command) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &c.Path)
	}
	type object command
	if err := exactly(b, (*object)(c)); err != nil {
		return errors.New("its command is neither a text nor an object with a path")
	}
	return nil
}

// exactly decodes JSON, and keeps numbers as they are written.
func exactly(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(into)
}

// list is what a file has of servers.
type list struct {
	entries map[string]entry
	odd     []string // sentences on what cannot be read
}

// Read reads the servers of a file, by their names. The file's kind is told by what is in
// it; project chooses among those that ~/.claude.json keeps for single folders. What cannot
// be read of it is left out, and odd has a sentence on it. A file without servers is an error
// of outcome not_found, and one of which none can be read is one of outcome validation.
func Read(path, project string, text []byte) (servers []Server, odd []string, err error) {
	if len(text) > MaxFile {
		return nil, nil, sdk.Errorf(sdk.Overflow, "%s is longer than %d MB", path, MaxFile>>20)
	}
	found := list{entries: map[string]entry{}}
	if strings.EqualFold(filepath.Ext(path), ".toml") {
		err = found.readTOML(text)
	} else {
		err = found.readJSON(text, project)
	}
	switch {
	case err != nil:
		return nil, nil, sdk.Errorf(sdk.Validation, "%s: %w", path, err)
	case len(found.entries) == 0 && len(found.odd) > 0:
		return nil, nil, sdk.Errorf(sdk.Validation, "%s: %s", path, strings.Join(found.odd, "; "))
	case len(found.entries) == 0:
		return nil, nil, sdk.Errorf(sdk.NotFound, "%s names no MCP servers: looked for mcpServers, servers, context_servers and mcp_servers", path)
	}
	taken := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(found.entries)) {
		servers = append(servers, server(name, label(name, taken), found.entries[name]))
	}
	return servers, found.odd, nil
}

// label is the label of a server, which is none of those that are taken.
func label(name string, taken map[string]bool) string {
	label := plain(name)
	if len(label) > longestLabel {
		label = strings.TrimRight(label[:longestLabel], "_")
	}
	if label == "" {
		label = "server"
	}
	for first, n := label, 2; taken[label]; n++ {
		number := fmt.Sprintf("_%d", n)
		label = strings.TrimRight(first[:min(len(first), longestLabel-len(number))], "_") + number
	}
	taken[label] = true
	return label
}

func (l *list) readTOML(text []byte) error {
	var file struct {
		Servers map[string]any `toml:"mcp_servers"`
	}
	if _, err := toml.Decode(string(text), &file); err != nil {
		var at toml.ParseError
		if errors.As(err, &at) {
			return fmt.Errorf("line %d is no TOML: %s", at.Position.Line, at.Message)
		}
		return errors.New("mcp_servers is no table")
	}
	for _, name := range slices.Sorted(maps.Keys(file.Servers)) {
		raw, err := json.Marshal(file.Servers[name]) // fails for numbers that JSON has not
		if err != nil {
			l.odd = append(l.odd, fmt.Sprintf("the server %q is left out: it has a number that is none", name))
			continue
		}
		l.entry(name, raw)
	}
	return nil
}

func (l *list) readJSON(text []byte, project string) error {
	plain, err := hujson.Standardize(slices.Clone(text)) // comments, and commas at the end
	if err != nil {
		return fmt.Errorf("it is no JSON: %w", err)
	}
	file, is := object(plain)
	if !is {
		return errors.New("it is no JSON object")
	}
	mcp, _ := object(file["mcp"]) // settings.json of VS Code
	l.members(mcp)
	l.members(file)
	projects, _ := object(file["projects"])
	local, _ := object(projects[project])
	l.members(local) // local before user, as Claude Code has it
	return nil
}

// object is an object of JSON, and false for what is none.
func object(raw json.RawMessage) (members map[string]json.RawMessage, is bool) {
	return members, len(raw) > 0 && json.Unmarshal(raw, &members) == nil
}

// members reads the objects of a file that hold servers by name.
func (l *list) members(file map[string]json.RawMessage) {
	for _, key := range []string{"mcpServers", "servers", "context_servers"} {
		raw := file[key]
		if raw == nil {
			continue
		}
		servers, is := object(raw)
		if !is {
			l.odd = append(l.odd, key+" is no object of servers by their names")
		}
		for _, name := range slices.Sorted(maps.Keys(servers)) {
			l.entry(name, servers[name])
		}
	}
}

// entry reads one server.
func (l *list) entry(name string, raw json.RawMessage) {
	var e entry
	err := exactly(raw, &e)
	if err == nil {
		l.entries[name] = e
		return
	}
	why := err.Error()
	if kind := (*json.UnmarshalTypeError)(nil); errors.As(err, &kind) {
		what := "it"
		if kind.Field != "" {
			what = "its " + kind.Field
		}
		value, _, _ := strings.Cut(kind.Value, " ") // a number is told with its text
		why = fmt.Sprintf("%s cannot be of the kind %s", what, value)
	}
	l.odd = append(l.odd, fmt.Sprintf("the server %q is left out: %s", name, why))
}

// reading is a server that is read.
type reading struct {
	Server
	keys map[string]string // by the names of their secrets
}

// server makes an entry one of ours.
func server(name, label string, e entry) Server {
	s := reading{keys: map[string]string{}, Server: Server{Name: name, Label: label, Disabled: e.Disabled || e.Enabled != nil && !*e.Enabled}}
	s.Command = s.value("", e.Command.Path)
	var args []string
	for _, a := range slices.Concat(e.Args, e.Command.Args) {
		if text, is := s.text("one of its arguments", a); is {
			args = append(args, text)
		}
	}
	s.arguments(args)
	s.values(&s.Env, "env", e.Env)
	s.values(&s.Env, "env", e.Command.Env)
	s.Dir = s.value("", e.Dir)
	for _, u := range []string{e.URL, e.HTTPURL, e.ServerURL} {
		if u != "" {
			s.URL = s.value("", u)
		}
	}
	s.values(&s.Headers, "headers", e.Headers)
	s.values(&s.Headers, "headers", e.HTTPHeaders)
	if e.Bearer != "" {
		if s.Headers == nil {
			s.Headers = map[string]Value{}
		}
		s.Headers["Authorization"] = Value{{Text: "Bearer "}, {Env: e.Bearer}}
	}
	switch kind := strings.ToLower(e.Type + e.Transport); {
	case kind == "sse":
		s.Transport = "sse"
	case e.HTTPURL != "", kind == "http", kind == "streamable-http", kind == "streamablehttp":
		s.Transport = "http"
	}
	if e.Startup > 0 && e.Startup <= mostStartup.Seconds() {
		s.Timeout = time.Duration(e.Startup * float64(time.Second))
	}
	if e.EnvFile != "" {
		s.note("Its variables also come from the file %s, which is not read: write those that it needs into env.", e.EnvFile)
	}
	if len(s.Command) == 0 && len(s.URL) == 0 {
		s.note("It has neither a command nor a URL, so that it cannot be used.")
	}
	return s.Server
}

// values reads texts by their names.
func (s *reading) values(into *map[string]Value, what string, values map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		text, is := s.text(fmt.Sprintf("%s of its %s", name, what), values[name])
		if !is {
			continue
		}
		if *into == nil {
			*into = map[string]Value{}
		}
		(*into)[name] = s.value(name, text)
	}
}

// text is a value of JSON as a text. There is none for null, and none for an object or a
// list, which a note tells.
func (s *reading) text(what string, value any) (string, bool) {
	switch value := value.(type) {
	case nil:
		return "", false
	case string:
		return value, true
	case bool, json.Number:
		return fmt.Sprint(value), true
	}
	s.note("%s is no text and is left out: write it yourself.", what)
	return "", false
}
