// Package misnamed knows the names that tools and arguments have in other agents, and
// what they are called here. It is pure: a call goes in, and comes back as it is or with
// an answer that says all that it takes. Its outcome, misnamed, counts for no guard.
package misnamed

import (
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// namesElsewhere has names of tools in other agents, which models have learned, folded, with
// the tools that do the same. One that is not there is not named.
var namesElsewhere = map[string]string{
	"shell": "bash", "localshell": "bash", "exec": "bash", "execcommand": "bash", "execute": "bash", "executecommand": "bash", "runcommand": "bash",
	"runshellcommand": "bash", "runterminalcmd": "bash", "terminal": "bash", "containerexec": "bash", "sh": "bash", "runinterminal": "bash", "runcommands": "bash",
	"read": "read_file", "view": "read_file", "viewfile": "read_file", "notebookread": "read_file", "openfile": "read_file", "cat": "read_file", "readmanyfiles": "read_file",
	"write": "write_file", "createfile": "write_file", "create": "write_file", "savefile": "write_file", "writetofile": "write_file",
	"edit": "edit_file", "multiedit": "edit_file", "notebookedit": "edit_file", "applypatch": "edit_file", "applydiff": "edit_file", "patch": "edit_file", "replace": "edit_file",
	"replaceinfile": "edit_file", "strreplace": "edit_file", "strreplaceeditor": "edit_file", "strreplacebasededittool": "edit_file", "searchreplace": "edit_file", "editfiles": "edit_file",
	"ls": "list_files", "list": "list_files", "listdir": "list_files", "listdirectory": "list_files",
	"glob": "find_files", "find": "find_files", "filesearch": "find_files", "findfile": "find_files",
	"codebase": "grep", "textsearch": "grep", "usages": "grep",
	"search": "grep", "ripgrep": "grep", "rg": "grep", "grepsearch": "grep", "searchfiles": "grep", "searchfilecontent": "grep", "codebasesearch": "grep",
	"skill": "use_skill",
	"mkdir": "create_directory", "makedirectory": "create_directory", "rm": "delete_path", "delete": "delete_path", "deletefile": "delete_path", "removefile": "delete_path",
	"mv": "move_path", "move": "move_path", "rename": "move_path", "movefile": "move_path", "cp": "copy_path", "copy": "copy_path", "copyfile": "copy_path",
}

// folded is a tool's name without case, without what parts words, and without the word
// that some models put before every tool.
func folded(name string) string {
	name = strings.ToLower(strings.TrimPrefix(name, "functions."))
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return r
	}, name)
}

// Tool is the answer to a call of a tool that is not there, when one of those that are
// is known by that name elsewhere; else nil.
func Tool(name string, tools []sdk.Tool) error {
	folding := folded(name)
	for _, want := range []string{folding, folded(namesElsewhere[folding])} {
		i := slices.IndexFunc(tools, func(t sdk.Tool) bool { return want != "" && (folded(t.Name) == want || folded(t.Qualified()) == want) })
		if i >= 0 {
			return sdk.Errorf(sdk.Misnamed, "there is no tool %.80q here; %s does that, with the arguments %s. This call was not made: make it by that name", name, tools[i].Name, argumentNames(tools[i]))
		}
	}
	return nil
}

// argumentNames are the names of a tool's arguments, those that it cannot do without first.
func argumentNames(t sdk.Tool) string {
	declared, ok := argumentsOf(t)
	if !ok || len(declared.Properties) == 0 {
		return "that it declares"
	}
	names := slices.Clone(declared.Required)
	var others []string
	for name := range declared.Properties {
		if !slices.Contains(names, name) {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	if len(others) > 0 {
		names = append(names, "("+strings.Join(others, ", ")+")")
	}
	return strings.Join(names, ", ")
}
