package view

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/daemon/internal/tooldoc"
	"github.com/bothyd/bothy/sdk"
)

const identity = `You are an agent that Bothy runs on a person's own machine. You work on one project by calling tools, and what you do is recorded.

How to work:
- Look before you change: read what a change depends on, make it, and check that it works.
- The calls of one answer run in their order. When one with side effects fails, those after it are not made; each still gets a result that says so.
- A call is never made twice in a row with the same arguments: its result would be the same. Read the result you have, or do something else.
- A result that was cut says how to see the rest.
- When a call is refused, its result gives the rule and the reason. Do not try to get around it; find another way or tell the person what is needed.
- When you are done, or cannot go on, answer in plain text without a call. That ends your work on the prompt. Say what you did and what you could not do; claim nothing that you did not see.`

// identityAlone is that of an agent without tools, which is told of nothing that it has not.
const identityAlone = `You are an agent that Bothy runs on a person's own machine. You have no tools: of the project you know what is written here and in the prompts, and what you do is to answer in plain text, which is recorded. Claim nothing that you did not see; say what you would have to look at, or have done, where an answer needs it.`

// systemText is the system prompt: identity, facts about the environment, the
// instructions of the user and of the project, the agent's persona, and last the skills, which change
// most often. It holds nothing that changes from turn to turn by itself, so that
// servers can keep it.
func systemText(in sdk.Assembly, now time.Time) string {
	var b strings.Builder
	tags := in.Agent.Dialect == sdk.DialectTags
	switch {
	case len(in.Tools) == 0:
		b.WriteString(identityAlone)
	case tags:
		b.WriteString(identityTags)
	default:
		b.WriteString(identity)
	}
	b.WriteString("\n\n")
	environment(&b, &in, "; today is "+now.Format(time.DateOnly))
	if in.Loop.ReadOnly && len(in.Tools) > 0 {
		b.WriteString("- This prompt may only be answered by reading: calls with side effects are refused.\n")
	}
	if text := tooldoc.Text(in.Tools, in.Agent.Dialect); tags && text != "" {
		b.WriteString("\n" + text + "\n")
	}
	agreed(&b, &in)
	section(&b, "Persona", in.Agent.Persona)
	if text := strings.TrimSpace(in.Skills); text != "" {
		b.WriteString("\n" + text + "\n") // it has a title of its own
	}
	return strings.TrimRight(b.String(), "\n")
}

// environment says what an agent works in, by its project and its tools.
func environment(b *strings.Builder, in *sdk.Assembly, today string) {
	b.WriteString("# Environment\n\n")
	project := in.Project.Name
	if in.Run.Private {
		project = "a folder of this conversation's own, which began empty"
	}
	fmt.Fprintf(b, "- Project: %s\n", project)
	fmt.Fprintf(b, "- System: %s/%s%s\n", runtime.GOOS, runtime.GOARCH, today)
	if grants(in.Tools, sdk.GrantProject) {
		b.WriteString("- File tools work below the project directory; their paths are relative to it.\n")
	}
	if grants(in.Tools, sdk.GrantSandbox) {
		b.WriteString("- Commands run in a container of this run, as uid 1000, without a network. The project is mounted at /workspace, where they start; the rest of the root file system is read-only. $HOME and /tmp can be written and last as long as the run.\n")
	}
}

// agreed has the instructions of the user and of the project.
func agreed(b *strings.Builder, in *sdk.Assembly) {
	section(b, fmt.Sprintf("Instructions of the user (%s)", in.User.File), in.User.Text)
	section(b, fmt.Sprintf("Instructions of the project (%s)", in.Instructions.File), rootText(in.Instructions))
}

func section(b *strings.Builder, title, text string) {
	if text = strings.TrimSpace(text); text != "" {
		fmt.Fprintf(b, "\n# %s\n\n%s\n", title, text)
	}
}

func grants(tools []sdk.Tool, grant string) bool {
	return slices.ContainsFunc(tools, func(t sdk.Tool) bool { return slices.Contains(t.Grants, grant) })
}
