// Command bothy-plugin-review brings an agent that reviews, and judges its reviews: whatever it speaks of it must have read,
// and a line that it names must be there.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/agent"
	"github.com/bothyd/bothy/sdk/plugin"
)

const persona = `You review. Read each file that you speak of before you do. Say of each finding which line it is about,
what is wrong there, and what would be right. What is only another taste is no finding.`

// schema is what the agent hands back, and review how that is read.
const schema = `{
	"type": "object",
	"properties": {
		"summary": {"type": "string", "description": "the review in a few sentences"},
		"findings": {
			"type": "array",
			"description": "what was found; none where all is well",
			"items": {
				"type": "object",
				"properties": {
					"file": {"type": "string", "description": "its path in the project"},
					"line": {"type": "integer", "minimum": 1},
					"text": {"type": "string", "description": "what is wrong, and what would be right"}
				},
				"required": ["file", "line", "text"],
				"additionalProperties": false
			}
		}
	},
	"required": ["summary", "findings"]
}`

type review struct {
	Findings []struct {
		File string `json:"file"`
		Line int    `json:"line"`
	} `json:"findings"`
}

func main() {
	plugin.Serve(plugin.Options{
		Name: "review", Version: "1.0.0", Grants: []string{sdk.GrantProject},
		Agent: agent.Set{
			Declared: []sdk.AgentSpec{{
				Name: "reviewer", Description: "Reviews files of the project and says what is wrong in which line.",
				Persona: persona, Tools: []string{"read_file", "grep", "find_files"}, Schema: json.RawMessage(schema),
			}},
			Judge: judge,
		},
	})
}

// judge says what is missing before a review can be accepted. The daemon has held the result to its schema before.
func judge(_ context.Context, work sdk.Work) (missing []string, err error) {
	var r review
	if err := json.Unmarshal(work.Result, &r); err != nil {
		return nil, sdk.Errorf(sdk.Validation, "the review cannot be read: %w", err)
	}
	read := map[string]bool{}
	for _, done := range work.Done {
		var arguments struct{ Path string }
		if done.Tool == "read_file" && done.Success && json.Unmarshal(done.Arguments, &arguments) == nil {
			read[arguments.Path] = true
		}
	}
	for _, f := range r.Findings {
		if !read[f.File] {
			missing = append(missing, fmt.Sprintf("%s is spoken of, and was not read: read it with read_file, or leave the finding out.", f.File))
			continue
		}
		if lines, known := linesOf(work.Project, f.File); known && f.Line > lines {
			missing = append(missing, fmt.Sprintf("%s has %d lines, and a finding is about line %d: look again which line it is.", f.File, lines, f.Line))
		}
	}
	return missing, nil
}

// linesOf counts the lines of a file of the project, where the block grants its files; no link leads out of it.
func linesOf(project, file string) (lines int, known bool) {
	if project == "" {
		return 0, false
	}
	root, err := os.OpenRoot(project)
	if err != nil {
		return 0, false
	}
	defer root.Close()
	text, err := root.ReadFile(file)
	return bytes.Count(append(bytes.TrimSuffix(text, []byte("\n")), '\n'), []byte("\n")), err == nil
}
