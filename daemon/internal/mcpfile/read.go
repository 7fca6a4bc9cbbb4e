package mcpfile

import (
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

// mostTimeout is the longest that is taken for one.
const mostTimeout = time.Hour

// entry is a server in any of the files; they differ in few of the names.
type entry struct {
	Type      string            `json:"type" toml:"type"`
	Transport string            `json:"transport" toml:"transport"`
	Command   command           `json:"command" toml:"-"`
	Program   string            `json:"-" toml:"command"` // command, in TOML
	Args      []string          `json:"args" toml:"args"`
	Env       map[string]any    `json:"env" toml:"env"`
	Dir       string            `json:"cwd" toml:"cwd"`
	URL       string            `json:"url" toml:"url"`
	HTTPURL   string            `json:"httpUrl" toml:"-"`   // Gemini
	ServerURL string            `json:"serverUrl" toml:"-"` // Windsurf
	Headers   map[string]string `json:"headers" toml:"http_headers"`
	Bearer    string            `json:"-" toml:"bearer_token_env_var"` // Codex
	EnvFile   string            `json:"envFile" toml:"-"`
	Timeout   float64           `json:"timeout" toml:"-"` // milliseconds
	Startup   float64           `json:"-" toml:"startup_timeout_sec"`
	Disabled  bool              `json:"disabled" toml:"-"`
	Enabled   *bool             `json:"enabled" toml:"enabled"`
}

// command is a program, or Zed's object of path, args and env.
type command struct {
	Path string            `json:"path"`
	Args []string          `json:"args"`
	Env  map[string]string `json:"env"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *command) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &c.Path)
	}
	type object command
	return json.Unmarshal(b, (*object)(c))
}

// Read reads the servers of a file, by their names. The file's kind is told by what is in
// it; project chooses among those that ~/.claude.json keeps for single folders. A file
// without servers is an error of outcome not_found.
func Read(path, project string, text []byte) ([]Server, error) {
	if len(text) > MaxFile {
		return nil, sdk.Errorf(sdk.Overflow, "%s is longer than %d MB", path, MaxFile>>20)
	}
	entries := map[string]entry{}
	var err error
	if strings.EqualFold(filepath.Ext(path), ".toml") {
		err = readTOML(text, entries)
	} else {
		err = readJSON(text, project, entries)
	}
	if err != nil {
		return nil, sdk.Errorf(sdk.Validation, "%s: %w", path, err)
	}
	if len(entries) == 0 {
		return nil, sdk.Errorf(sdk.NotFound, "%s names no MCP servers: looked for mcpServers, servers, context_servers and mcp_servers", path)
	}
	var servers []Server
	taken := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		s := server(name, entries[name])
		for first, n := s.Label, 2; taken[s.Label]; n++ {
			s.Label = fmt.Sprintf("%s_%d", strings.TrimRight(first[:min(len(first), longestLabel-4)], "_"), n)
		}
		taken[s.Label] = true
		servers = append(servers, s)
	}
	return servers, nil
}

func readTOML(text []byte, into map[string]entry) error {
	var file struct {
		Servers map[string]entry `toml:"mcp_servers"`
	}
	if _, err := toml.Decode(string(text), &file); err != nil {
		var at toml.ParseError
		if errors.As(err, &at) {
			return fmt.Errorf("line %d is no TOML: %s", at.Position.Line, at.Message)
		}
		return err
	}
	maps.Copy(into, file.Servers)
	return nil
}

// members are the objects of a file that hold servers by name.
type members struct {
	Claude map[string]entry `json:"mcpServers"`
	Code   map[string]entry `json:"servers"`
	Zed    map[string]entry `json:"context_servers"`
}

func (m members) all(into map[string]entry) {
	for _, list := range []map[string]entry{m.Claude, m.Code, m.Zed} {
		maps.Copy(into, list)
	}
}

func readJSON(text []byte, project string, into map[string]entry) error {
	plain, err := hujson.Standardize(slices.Clone(text)) // comments, and commas at the end
	if err != nil {
		return fmt.Errorf("it is no JSON: %w", err)
	}
	var file struct {
		members
		MCP      members            `json:"mcp"` // settings.json of VS Code
		Projects map[string]members `json:"projects"`
	}
	if err := json.Unmarshal(plain, &file); err != nil {
		return err
	}
	file.MCP.all(into)
	file.all(into)
	file.Projects[project].all(into) // local before user, as Claude Code has it
	return nil
}

// server makes an entry one of ours.
func server(name string, e entry) Server {
	s := Server{Name: name, Label: plain(name), Disabled: e.Disabled || e.Enabled != nil && !*e.Enabled}
	if len(s.Label) > longestLabel {
		s.Label = strings.TrimRight(s.Label[:longestLabel], "_")
	}
	if s.Label == "" {
		s.Label = "server"
	}
	s.Command = s.value("", e.Command.Path+e.Program)
	s.arguments(append(e.Args, e.Command.Args...))
	for _, name := range slices.Sorted(maps.Keys(e.Env)) {
		s.env(name, fmt.Sprint(e.Env[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(e.Command.Env)) {
		s.env(name, e.Command.Env[name])
	}
	s.Dir = s.value("", e.Dir)
	for _, u := range []string{e.URL, e.HTTPURL, e.ServerURL} {
		if u != "" {
			s.URL = s.value("", u)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		s.header(name, s.value(name, e.Headers[name]))
	}
	if e.Bearer != "" {
		s.header("Authorization", Value{{Text: "Bearer "}, {Env: e.Bearer}})
	}
	switch kind := strings.ToLower(e.Type + e.Transport); {
	case kind == "sse":
		s.Transport = "sse"
	case e.HTTPURL != "", kind == "http", kind == "streamable-http", kind == "streamablehttp":
		s.Transport = "http"
	}
	if seconds := e.Timeout/1000 + e.Startup; seconds > 0 && seconds <= mostTimeout.Seconds() {
		s.Timeout = time.Duration(seconds * float64(time.Second))
	}
	if e.EnvFile != "" {
		s.note("Its variables also come from the file %s, which is not read: write those that it needs into env.", e.EnvFile)
	}
	if len(s.Command) == 0 && len(s.URL) == 0 {
		s.note("It has neither a command nor a URL, so that it cannot be used.")
	}
	return s
}

func (s *Server) env(name, text string) {
	if s.Env == nil {
		s.Env = map[string]Value{}
	}
	s.Env[name] = s.value(name, text)
}

func (s *Server) header(name string, v Value) {
	if s.Headers == nil {
		s.Headers = map[string]Value{}
	}
	s.Headers[name] = v
}
