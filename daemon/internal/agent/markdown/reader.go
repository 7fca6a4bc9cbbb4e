package markdown

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
	"github.com/bothyd/bothy/sdk"
)

// reader reads the fields of a file into what its agent asks for. A value of an unexpected kind
// costs its field, and where that would give the agent more, it gives it less.
type reader struct {
	*frontmatter.Fields
	file   *File
	used   []string                // names of fields that were read
	alone  bool                    // it may delegate to nobody, whatever else is said
	barred func(agent string) bool // to whom it may not, whatever else is said; nil bars nobody
}

func (r *reader) read() {
	for _, name := range r.Twice {
		r.Warn("duplicate-key", r.Key(name), fmt.Sprintf("the field %s stands twice; the last one counts", frontmatter.Show(name)), "Remove one of them.")
	}
	a := &r.file.Agent
	r.name()
	r.description()
	a.Capabilities = r.texts("capabilities")
	r.models()
	r.tools()
	r.denied()
	r.permissions()
	r.mode()
	if _, is := r.has("network"); is && !r.Flag("network", true, false) {
		a.Network = new(false)
	}
	r.servers()
	if named := r.names("skills"); named != nil {
		a.Skills = named
		r.file.SkillsLine, _ = r.Place(r.Value("skills"))
	}
	r.agents()
	r.effort()
	if n, ok := r.number("temperature"); ok && n <= 2 {
		a.Temperature = &n
	} else if ok {
		r.outside("temperature", "0 to 2")
	}
	a.MaxTokens = r.count("max_tokens", "maxTokens", "max-tokens")
	a.Guards.MaxTurns = r.count("max_turns", "maxTurns", "max-turns", "maxSteps", "max_steps", "steps")
	if n, ok := r.number("max_cost"); ok {
		a.Guards.MaxCost = n
	}
	r.deadline()
	r.finish()
	r.file.Off = r.switchedOff()
	r.others()
}

// has finds the spelling by which a field is given, of those that it has among agents. The first one counts.
func (r *reader) has(spellings ...string) (name string, is bool) {
	for _, s := range spellings {
		if r.Key(s) == nil {
			continue
		}
		r.used = append(r.used, s)
		switch {
		case frontmatter.IsNull(r.Value(s)):
		case is:
			r.Warn("duplicate-key", r.Key(s), fmt.Sprintf("the field %s says what %s says; %s counts", s, name, name), "Remove one of them.")
		default:
			name, is = s, true
		}
	}
	return name, is
}

func (r *reader) name() {
	a := &r.file.Agent
	given, is := r.has("name")
	if !is { // the file's is meant
		return
	}
	written := r.Text(given)
	name := nameOf(written)
	switch {
	case name == "":
		if a.Name != "" {
			r.Warn("name-characters", r.Value(given), fmt.Sprintf("nothing of the name %s can be that of an agent; the file's is taken: %s", frontmatter.Show(written), a.Name), "Write one such as name: "+a.Name)
		}
	case name != written:
		r.Warn("name-characters", r.Value(given), fmt.Sprintf("the name %s is used as %s: names have up to %d of a to z, 0 to 9, hyphens, dots and underscores", frontmatter.Show(written), name, maxName), "Write it as name: "+name)
		a.Name = name
	default:
		a.Name = name
	}
}

func (r *reader) description() {
	given, is := r.has("description")
	text := ""
	if is {
		text = r.Text(given)
	}
	if text == "" {
		r.Fail("description-missing", r.Value("description"), "there is no description, so nobody can know when to use the agent", "Add a line description: that says what the agent is for.")
	}
	r.file.Agent.Description = text
}

// agents are those that it may delegate to.
func (r *reader) agents() {
	a := &r.file.Agent
	if name, is := r.has("agents", "subagents"); is {
		a.Agents = []string{}
		for _, e := range r.Elements(name, commas) {
			if agent := nameOf(e.Text); agent != "" {
				a.Agents = append(a.Agents, agent)
			} else {
				r.Warn("agents-missing", e.At, fmt.Sprintf("%s in %s is no name of an agent, and stands for none", frontmatter.Show(e.Text), name), "Write the names of those that it may delegate to.")
			}
		}
	}
	if r.barred != nil {
		a.Agents = slices.DeleteFunc(a.Agents, r.barred)
	}
	if r.alone {
		a.Agents = nil
	}
}

// texts is a list of words.
func (r *reader) texts(spellings ...string) []string {
	name, is := r.has(spellings...)
	if !is {
		return nil
	}
	return r.List(name, commas)
}

// names is a list that narrows: nil where it is not given, and none where it is given and holds
// nothing that can be read.
func (r *reader) names(spellings ...string) []string {
	name, is := r.has(spellings...)
	if !is {
		return nil
	}
	return append([]string{}, r.List(name, commas)...)
}

func commas(text string) []string { return strings.Split(text, ",") }

// number is a field that is a number from 0 on.
func (r *reader) number(spellings ...string) (float64, bool) {
	name, is := r.has(spellings...)
	if !is {
		return 0, false
	}
	n, err := strconv.ParseFloat(r.Text(name), 64)
	if err != nil || n < 0 || math.IsNaN(n) || math.IsInf(n, 0) {
		r.outside(name, "a number")
		return 0, false
	}
	return n, true
}

// count is a field that is a whole number above 0; 0 where it is not given.
func (r *reader) count(spellings ...string) int {
	name, is := r.has(spellings...)
	if !is {
		return 0
	}
	n, err := strconv.Atoi(r.Text(name))
	if err != nil || n < 1 {
		r.outside(name, "a whole number above 0")
		return 0
	}
	return n
}

func (r *reader) outside(name, want string) {
	r.Warn("field-value", r.Value(name), fmt.Sprintf("%s is not %s; it is not heeded", name, want), "Write "+want+".")
}

// deadline is the time of one prompt: with its unit, or in minutes as elsewhere.
func (r *reader) deadline() {
	if minutes := r.count("timeout_mins", "timeout-mins"); minutes > 0 && minutes <= maxMinutes {
		r.file.Agent.Guards.Deadline = sdk.Duration(time.Duration(minutes) * time.Minute)
	}
	if name, is := r.has("deadline"); is {
		d, err := time.ParseDuration(r.Text(name))
		if err != nil || d <= 0 {
			r.outside(name, "a time such as 10m")
			return
		}
		r.file.Agent.Guards.Deadline = sdk.Duration(d)
	}
}

const maxMinutes = 1 << 20

// effort is how much the model thinks, by any agent's word for it.
func (r *reader) effort() {
	name, is := r.has("reasoning", "effort", "reasoningEffort", "reasoning_effort", "model_reasoning_effort")
	if !is {
		return
	}
	switch word := strings.ToLower(r.Text(name)); word {
	case "off", "low", "medium", "high":
		r.file.Agent.Reasoning = sdk.Reasoning(word)
	case "none", "false":
		r.file.Agent.Reasoning = sdk.ReasoningOff
	case "minimal":
		r.file.Agent.Reasoning = sdk.ReasoningLow
	case "xhigh", "max":
		r.file.Agent.Reasoning = sdk.ReasoningHigh
	case "", "default", "auto", "inherit":
	default:
		r.outside(name, "one of off, low, medium and high")
	}
}

// mode is how much the agent may do unasked. Other agents have words of their own, and a file
// of theirs that only looks asks here about whatever changes something.
func (r *reader) mode() {
	a := &r.file.Agent
	if name, is := r.has("mode"); is {
		switch word := r.Text(name); {
		case sdk.Mode(word).Valid():
			a.Mode = sdk.Mode(word)
		case word == "ask", word == "plan":
			r.asks(r.Value(name), name+" "+word)
		case !slices.Contains([]string{"primary", "subagent", "all", "agent", "edit", "chat"}, word):
			r.Warn("field-value", r.Value(name), fmt.Sprintf("there is no mode %s; it is not heeded", frontmatter.Show(word)), "Write "+sdk.ModeWords()+".")
		}
	}
	if name, is := r.has("permissionMode", "permission-mode", "permission_mode", "approvalMode", "approval-mode"); is {
		switch word := r.Text(name); word {
		case "plan":
			r.asks(r.Value(name), name+" "+word)
		case "default", "manual", "":
		default:
			r.Warn("mode-wider", r.Value(name), fmt.Sprintf("%s %s is not heeded: no file has its agent asked less than others", name, frontmatter.Show(word)),
				"Give an agent block of your configuration the mode.")
		}
	}
	if name, is := r.has("readonly", "readOnly", "read-only", "read_only"); is && r.Flag(name, false, true) {
		r.asks(r.Value(name), name)
	}
}

// asks gives the agent the mode that asks about everything.
func (r *reader) asks(at *yaml.Node, what string) {
	r.file.Agent.Mode = sdk.ModeInteractive
	r.Warn("mode-asks", at, what+" is taken for the mode interactive: what changes something is asked about",
		"Write mode: interactive, and leave out the tools that it is not to have.")
}

// servers are those of MCP of which it has the tools; of no other. What starts one stands in
// the configuration alone. A list of tools says by itself which of a server's it has, unless
// the servers are named as an agent's block names them.
func (r *reader) servers() {
	name, is := r.has("mcp", "mcpServers", "mcp-servers", "mcp_servers")
	if !is {
		return
	}
	servers := []string{}
	add := func(server string, at *yaml.Node) {
		if server = frontmatter.Visible(server); server != "" && !slices.Contains(servers, server) {
			servers = append(servers, server)
		}
	}
	inline := func(n *yaml.Node) {
		for key, value := range frontmatter.Pairs(n) {
			add(frontmatter.Follow(key).Value, key)
			if value.Kind == yaml.MappingNode {
				r.Warn("mcp-inline", key, fmt.Sprintf("the server %s is not started from here: its tools are there where the configuration has a server of this name", frontmatter.Show(frontmatter.Follow(key).Value)),
					"Add it with `bothy mcp add`.")
			}
		}
	}
	switch n := r.Value(name); n.Kind {
	case yaml.MappingNode:
		inline(n)
	case yaml.SequenceNode:
		for _, c := range n.Content {
			if c = frontmatter.Follow(c); c.Kind == yaml.MappingNode {
				inline(c)
			} else {
				add(frontmatter.ScalarText(c), c)
			}
		}
	default:
		for _, server := range commas(r.Text(name)) {
			add(server, n)
		}
	}
	if name == "mcp" || len(r.file.Agent.Tools) == 0 {
		r.file.Agent.MCP = servers
	}
}

// switchedOff reports whether the file says that it is not to be used.
func (r *reader) switchedOff() (off bool) {
	for _, name := range []string{"disable", "disabled"} {
		if _, is := r.has(name); is {
			off = off || r.Flag(name, false, true)
		}
	}
	if _, is := r.has("enabled"); is {
		off = off || !r.Flag("enabled", true, false)
	}
	return off
}
