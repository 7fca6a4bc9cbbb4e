package edit

import (
	"encoding/json"
	"strings"
)

// foreign names the form of another program in which a text that has no regions is
// written as an edit, or is "". Written as it stands it would destroy what it is to edit.
func foreign(text string) string {
	text = unfenced(strings.TrimSpace(text))
	for _, form := range []struct {
		name string
		is   func(string) bool
	}{
		{"s/old/new/", isSed},
		{"JSON with what to search and to replace", isSearchJSON},
		{"<<<<<<< SEARCH with ======= and >>>>>>> REPLACE", isConflict},
		{"a diff", isDiff},
	} {
		if form.is(text) {
			return form.name
		}
	}
	return ""
}

// unfenced is a text without the lines of a block of code, where all of it is one.
func unfenced(text string) string {
	const fence = "```"
	first, rest, _ := strings.Cut(text, "\n")
	inner, ended := strings.CutSuffix(rest, fence)
	if !ended || !strings.HasPrefix(first, fence) {
		return text
	}
	return strings.TrimSpace(inner)
}

// isSed reports whether every line is a substitution, as s/old/new/g or s|old|new|.
func isSed(text string) bool {
	found := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if !isSubstitution(line) {
			return false
		}
		found = true
	}
	return found
}

// isSubstitution reports whether a line is s, a delimiter, two texts that it ends, flags.
func isSubstitution(line string) bool {
	if len(line) < 4 || line[0] != 's' || !strings.ContainsRune("/|#,@!~%:;", rune(line[1])) {
		return false
	}
	ends := 0
	for i := 2; i < len(line); i++ {
		switch {
		case line[i] == '\\':
			i++
		case line[i] == line[1]:
			if ends++; ends == 2 {
				return strings.Trim(line[i+1:], "gimpswIMe0123456789;") == ""
			}
		}
	}
	return false
}

// isSearchJSON reports whether a text is an object, or a list of them, that names a text
// and what takes its place, and nothing else.
func isSearchJSON(text string) bool {
	if text == "" || text[0] != '{' && text[0] != '[' {
		return false
	}
	var all []map[string]json.RawMessage
	if text[0] == '{' {
		text = "[" + text + "]"
	}
	if json.Unmarshal([]byte(text), &all) != nil || len(all) == 0 {
		return false
	}
	for _, object := range all {
		if !isPair(object) {
			return false
		}
	}
	return true
}

func isPair(object map[string]json.RawMessage) bool {
	for _, names := range [][2]string{{"search", "replace"}, {"find", "replace"}, {"old_text", "new_text"}, {"old_string", "new_string"}, {"old_str", "new_str"}, {"oldText", "newText"}, {"oldString", "newString"}} {
		_, old := object[names[0]]
		_, now := object[names[1]]
		if old && now {
			return len(object) == 2+besides(object)
		}
	}
	return false
}

// besides is how many members an object has of those that stand beside such a pair.
func besides(object map[string]json.RawMessage) (n int) {
	for _, name := range []string{"path", "file_path", "filePath", "all", "replace_all", "replaceAll", "command"} {
		if _, is := object[name]; is {
			n++
		}
	}
	return n
}

// isConflict reports whether a text begins as a block of a merge that was not made, and
// has the lines that part and end one. A block that is called SEARCH is an edit also
// behind other text.
func isConflict(text string) bool {
	if strings.HasPrefix(text, "<<<<<<<") {
		return strings.Contains(text, "\n=======") && strings.Contains(text, "\n>>>>>>>")
	}
	_, block, _ := strings.Cut(text, "\n<<<<<<< SEARCH")
	_, behind, _ := strings.Cut(block, "\n=======")
	return strings.Contains(behind, "\n>>>>>>> REPLACE")
}

// isDiff reports whether a text begins as a unified diff or as a patch of apply_patch.
func isDiff(text string) bool {
	if strings.HasPrefix(text, "*** Begin Patch\n") || strings.HasPrefix(text, "*** Begin Patch\r\n") {
		return true
	}
	begins := strings.HasPrefix(text, "--- ") || strings.HasPrefix(text, "diff --git ") || strings.HasPrefix(text, "@@ -")
	return begins && (strings.HasPrefix(text, "@@ -") || strings.Contains(text, "\n@@ -"))
}
