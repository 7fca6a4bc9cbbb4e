package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// spec is the tool of a name.
func (m *mcpServer) spec(name string) (sdk.ToolSpec, bool) {
	all := m.Tools()
	i := slices.IndexFunc(all, func(s sdk.ToolSpec) bool { return s.Name == name })
	if i < 0 {
		return sdk.ToolSpec{}, false
	}
	return all[i], true
}

// TestPrompts: each prompt is a tool that only people call, with its arguments; one that is called like a tool
// gets another name, and the tool keeps its own.
func TestPrompts(t *testing.T) {
	m := started(t, "plain")
	greet, is := m.spec("mcp__fake__greet")
	if !is || !greet.People || greet.Description != "greets" || string(greet.Parameters) != `{"type":"object","properties":{"who":{"description":"","type":"string"},"how":{"description":"in what way","type":"string"}},"required":["who"]}` {
		t.Errorf("%v %+v %s", is, greet, greet.Parameters)
	}
	if echo, is := m.spec("mcp__fake__echo"); !is || echo.People {
		t.Errorf("the tool echo is %+v", echo)
	}
	r, err := call(t, m, "mcp__fake__greet", `{"who":"Ada","how":"warmly"}`)
	if err != nil || !r.Success || r.Output != "Greet Ada warmly\n[assistant]\nHello.\n[image image/png, 3 bytes]" {
		t.Errorf("%+v %v", r, err)
	}
	var other string
	for name, own := range m.added.prompts {
		if own == "echo" {
			other = name
		}
	}
	if !strings.HasPrefix(other, "mcp__fake__echo_") {
		t.Fatalf("the prompt echo is called %q", other)
	}
	if _, err := call(t, m, other, `{}`); err == nil || !strings.Contains(err.Error(), "no echo") {
		t.Errorf("%v", err)
	}
	<-m.changed // of the start
	if _, err := call(t, m, "mcp__fake__more_prompts", `{}`); err != nil {
		t.Fatal(err)
	}
	<-m.changed
	if _, is := m.spec("mcp__fake__later"); !is {
		t.Error("a prompt that came later is not there")
	}
	if _, is := m.spec(other); is {
		t.Error("a prompt that went is there")
	}
}

// TestManyPrompts: prompts count by their bytes, too, those of their names included, and the tools stay.
func TestManyPrompts(t *testing.T) {
	m := started(t, "verbose")
	bytes, prompts := 0, 0
	for _, s := range m.Tools() {
		if own, is := m.added.prompts[s.Name]; is {
			bytes += len(own) + len(s.Description) + len(s.Parameters)
			prompts++
		}
	}
	if bytes > mostPrompted || prompts < 50 || prompts > 80 {
		t.Errorf("%d prompts of %d bytes", prompts, bytes)
	}
	if _, is := m.spec("mcp__fake__echo"); !is {
		t.Error("the tools are gone")
	}
}

// TestResources: a model reads them by a tool of its own, people by one that tells all that the server has;
// texts are the output, and of what is no text there is a bounded copy beside it.
func TestResources(t *testing.T) {
	m := started(t, "plain")
	reads, about := "mcp__fake__read_resource", sdk.MCPAbout("fake")
	if s, is := m.spec(reads); !is || s.People || !s.Annotations.ReadOnly || s.Source == "" {
		t.Errorf("%v %+v", is, s)
	}
	if s, is := m.spec(about); !is || !s.People {
		t.Errorf("%v %+v", is, s)
	}
	for _, tool := range []string{reads, about} {
		for uri, want := range map[string]string{
			"note://2": "the text of note://2", "note://by/monday": "the text of note://by/monday", "note://blob": "[resource note://blob application/pdf, 3 bytes]",
			"note://large": "[resource note://large text/plain, 3145728 bytes]",
		} {
			r, err := call(t, m, tool, `{"uri":"`+uri+`"}`)
			if err != nil || !r.Success || r.Output != want {
				t.Errorf("%s %s: %.200q %v", tool, uri, r.Output, err)
			}
			if data, err := json.Marshal(r.Metadata); err != nil || strings.Contains(string(data), `"data"`) != (uri == "note://blob") {
				t.Errorf("%s: %.200s %v", uri, data, err)
			}
		}
		if _, err := call(t, m, tool, `{"uri":"gone://1"}`); err == nil || !strings.Contains(err.Error(), "refused the call of gone://1") {
			t.Errorf("%v", err)
		}
		r, err := call(t, m, tool, `{}`)
		var h has
		if err != nil || json.Unmarshal(r.Structured, &h) != nil || len(h.Resources) != 6 || len(h.Templates) != 1 || (len(h.Prompts) == 2) != (tool == about) || (len(h.Tools) > 10) != (tool == about) {
			t.Errorf("%s: %s %v", tool, r.Structured, err)
		}
		if !strings.Contains(r.Output, "resource note://3 text/plain a note\n") || !strings.Contains(r.Output, "resources of the form note://by/{day}") {
			t.Errorf("%s: %s", tool, r.Output)
		}
	}
}

// TestServersWithTools: one that has tools alone adds no tool for models.
func TestServersWithTools(t *testing.T) {
	m := started(t, "dying")
	var names []string
	for _, s := range m.Tools() {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, " "); got != "mcp__fake__echo mcp__fake__release mcp__fake__wait mcp__fake___server" {
		t.Error(got)
	}
	if r, err := call(t, m, sdk.MCPAbout("fake"), `{}`); err != nil || !strings.Contains(r.Output, "tool mcp__fake__echo") {
		t.Errorf("%+v %v", r, err)
	}
}
