package edit

import "testing"

// What other programs write as an edit is refused where it would take the place of a
// text, and is the text where there is none or where it stands in a region.
func TestForeignForms(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		foreign    bool
	}{
		{"sed with bars", "s|a/b|c|", true},
		{"sed over lines", "s/a/b/\n\ns#c#d#gi\n", true},
		{"sed with an escape", `s/a\/b/c/`, true},
		{"sed with nothing to write", "s/a//", true},
		{"a line beside sed", "s/a/b/\nfoo", false},
		{"sed without an end", "s/a/b", false},
		{"sed with words behind", "s/a/b/ and more", false},
		{"a sentence", "so, this, that, and more", false},
		{"a path", "src/a/b", false},
		{"JSON", `{ "replace": "y", "search": "x" }`, true},
		{"JSON of edit_file", `{"old_text":"x","new_text":"y"}`, true},
		{"JSON of another program", `[{"old_string":"x","new_string":"y"}]`, true},
		{"JSON with more", `{"search":"x","replace":"y","name":"z"}`, false},
		{"JSON that is none", `{"search":"x","replace":"y"`, false},
		{"JSON of a list", `["search","replace"]`, false},
		{"JSON of nothing", `[]`, false},
		{"a block of a merge", "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE", true},
		{"a block of a merge behind text", "I do it:\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE", true},
		{"the block of a merge that is in a text", "x\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main", false},
		{"a block of code with a diff", "```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n```", true},
		{"a block of code with something else", "```go\nx\n```", false},
		{"a block of code that does not end", "```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b", false},
		{"JSON with a path and for all", `{"file_path":"a","old_string":"x","new_string":"y","replace_all":true}`, true},
		{"half a block", "<<<<<<< SEARCH\na", false},
		{"a diff", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", true},
		{"a hunk", "@@ -1 +1 @@\n-a\n+b\n", true},
		{"git's diff", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", true},
		{"front matter", "---\ntitle: x\n---\n", false},
		{"a patch", "*** Begin Patch\n*** Update File: x\n", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asText := row{text: tt.text, body: "old", want: tt.text}
			if tt.foreign {
				asText = row{text: tt.text, body: "old", outcome: invalid, says: "<<SEARCH\n"}
			}
			asText.run(t)
			row{text: tt.text, want: tt.text}.run(t)
			row{text: "<<NEW\n" + tt.text + "\nNEW", body: "old", want: tt.text}.run(t)
		})
	}
}
