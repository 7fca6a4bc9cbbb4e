package misnamed

import (
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// ownTools are the tools that come with Bothy.
var ownTools = []string{"bash", "read_file", "list_files", "find_files", "grep", "diff_files", "write_file", "edit_file",
	"create_directory", "delete_path", "move_path", "copy_path", "use_skill", "finish_task", "run_tests", "delegate", "plan"}

// foreignTools are tools of other agents, folded, for which there is none of ours.
var foreignTools = []string{"agent", "task", "webfetch", "websearch", "todowrite", "todoread", "askuserquestion", "killshell", "bashoutput",
	"exitplanmode", "enterplanmode", "slashcommand", "taskcreate", "taskupdate", "taskget", "tasklist", "toolsearch", "sendmessage", "lsp",
	"web", "fetch", "todo", "todos", "question", "runsubagent", "githubrepo", "problems", "changes", "testfailure", "vscodeapi", "extensions", "opensimplebrowser"}

// Here is the tool that an element of a skill's allowed-tools or tools_required
// means: Bash(git:*) is bash, Read is read_file, and plugin__tool is itself. Of one
// that is not known it is empty, and foreign when other agents have it.
func Here(element string) (name string, foreign bool) {
	bare := bareName(element)
	folding := folded(bare)
	if strings.Contains(bare, "__") {
		return bare, false
	}
	if i := slices.IndexFunc(ownTools, func(own string) bool { return folded(own) == folding }); i >= 0 {
		return ownTools[i], false
	}
	return namesElsewhere[folding], slices.Contains(foreignTools, folding)
}

func bareName(element string) string {
	name, _, _ := strings.Cut(element, "(")
	return strings.TrimSpace(name)
}

// Missing are the tools that are required and not offered, by whichever agent's name
// they are called.
func Missing(required []string, offered []sdk.Tool) []string {
	var missing []string
	for _, element := range required {
		here, _ := Here(element)
		names := []string{here, bareName(element)}
		if !slices.ContainsFunc(offered, func(t sdk.Tool) bool {
			return slices.Contains(names, t.Name) || slices.Contains(names, t.Plugin+"__"+t.Name)
		}) {
			missing = append(missing, element)
		}
	}
	return missing
}
