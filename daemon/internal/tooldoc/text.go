package tooldoc

import (
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// documents are those of the twelve, in the order of sdk.ModelTools.
var documents = slices.Concat(gather, reason, act, communicate)

const introTags = `# Tools

You call a tool by a tag in your answer, outside of blocks of code: <NAME argument="value"/>, or <NAME argument="value">text</NAME>. The text between the tags is taken byte for byte: nothing is escaped in it. In an attribute write &quot; for a quote; a list or an object is written as JSON in single quotes. Calls are made in the order in which you write them. Nothing that you write is a result: results come in the next message.
`

const introTools = `# Tools

You call tools by the functions that you are given. Calls are made in the order in which you write them.
`

// Text is what a model is taught of the tools of a turn, in its dialect; empty without any. It is the same as long as they
// are, so that servers can keep the prompt.
func Text(tools []sdk.Tool, dialect string) string {
	if len(tools) == 0 {
		return ""
	}
	var b strings.Builder
	if dialect == sdk.DialectTags {
		b.WriteString(introTags)
	} else {
		b.WriteString(introTools)
	}
	for _, d := range documents {
		if slices.ContainsFunc(tools, func(t sdk.Tool) bool { return t.Name == d.tool && known(t) }) {
			b.WriteByte('\n')
			d.write(&b, dialect)
		}
	}
	for _, t := range tools {
		if !known(t) {
			b.WriteByte('\n')
			other(&b, t, dialect)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// known reports whether a tool is one of the twelve: an own one, or one whose calls a plugin's makes.
func known(t sdk.Tool) bool {
	return sdk.IsModelTool(t.Name) && (t.Plugin == sdk.OwnPlugin || t.Runs != "")
}

// other writes what its own description says of a tool. Where calls are functions, those say it already.
func other(b *strings.Builder, t sdk.Tool, dialect string) {
	if dialect != sdk.DialectTags {
		return
	}
	b.WriteString("## " + t.Name + " - " + strings.TrimSpace(t.Description) + "\n")
	b.WriteString("* Its arguments, as a JSON Schema: " + string(t.Parameters) + "\n")
	if t.Body != "" {
		b.WriteString("* The text between its tags is " + t.Body + ".\n")
	}
}
