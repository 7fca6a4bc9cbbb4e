package main

import (
	"strings"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
)

// kindWords are words in the names of tools, and what a tool does that has one.
var kindWords = map[string]acp.ToolKind{
	"read": acp.ToolKindRead, "get": acp.ToolKindRead, "list": acp.ToolKindRead, "view": acp.ToolKindRead, "show": acp.ToolKindRead, "diff": acp.ToolKindRead, "use": acp.ToolKindRead,
	"search": acp.ToolKindSearch, "find": acp.ToolKindSearch, "grep": acp.ToolKindSearch, "glob": acp.ToolKindSearch,
	"write": acp.ToolKindEdit, "edit": acp.ToolKindEdit, "create": acp.ToolKindEdit, "update": acp.ToolKindEdit, "set": acp.ToolKindEdit, "patch": acp.ToolKindEdit, "copy": acp.ToolKindEdit, "cp": acp.ToolKindEdit,
	"delete": acp.ToolKindDelete, "remove": acp.ToolKindDelete, "rm": acp.ToolKindDelete,
	"move": acp.ToolKindMove, "rename": acp.ToolKindMove, "mv": acp.ToolKindMove,
	"fetch": acp.ToolKindFetch, "download": acp.ToolKindFetch, "http": acp.ToolKindFetch, "browse": acp.ToolKindFetch,
	"run": acp.ToolKindExecute, "exec": acp.ToolKindExecute, "execute": acp.ToolKindExecute, "bash": acp.ToolKindExecute, "shell": acp.ToolKindExecute,
	"think": acp.ToolKindThink,
}

// kindOf is what a tool does, for the editor's picture of its calls and nothing else: whether it runs commands it says
// itself, the rest follows from the first word of its name that says something. Of a tool that is not there any more
// there is the name alone.
func kindOf(t sdk.Tool, name string) acp.ToolKind {
	if t.Command != "" {
		return acp.ToolKindExecute
	}
	if t.Source != "" { // its name and its hints are the words of a server that nobody vouches for
		return acp.ToolKindOther
	}
	words := strings.FieldsFunc(strings.ToLower(name[strings.LastIndex(name, "__")+1:]), func(r rune) bool { return r == '_' || r == '-' })
	for _, word := range words {
		if kind, is := kindWords[word]; is {
			return kind
		}
	}
	if t.Annotations.ReadOnly {
		return acp.ToolKindRead
	}
	return acp.ToolKindOther
}
