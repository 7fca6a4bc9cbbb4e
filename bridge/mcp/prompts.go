package main

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// skillInput is the argument of each prompt.
const skillInput = "input"

// promptKey is where it is kept what was offered of a skill.
const promptKey = "prompt "

// offerSkills offers these skills as prompts and takes back all others. It is called with the lock.
func (b *bridge) offerSkills(skills []sdk.Skill) {
	now := map[string]bool{}
	for _, k := range skills {
		spec := &mcp.Prompt{
			Name: k.Name, Description: cmp.Or(show.Line(show.OneLine(k.Description)), k.Name),
			Arguments: []*mcp.PromptArgument{{Name: skillInput, Description: show.Line(cmp.Or(k.ArgumentHint, "what it is about"))}},
		}
		now[promptKey+k.Name] = true
		if b.changes(promptKey+k.Name, spec) {
			b.server.AddPrompt(spec, b.getPrompt)
		}
	}
	for key := range maps.Keys(b.offered) {
		if name, is := strings.CutPrefix(key, promptKey); is && !now[key] {
			b.server.RemovePrompts(name)
			delete(b.offered, key)
		}
	}
}

// skillNamed is the name of a skill that a client may write with other separators, since not all
// take a hyphen in the name of a command.
func (b *bridge) skillNamed(name string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	other := strings.ReplaceAll(name, "_", "-")
	if b.offered[promptKey+name] == "" && b.offered[promptKey+other] != "" {
		return other
	}
	return name
}

// getPrompt answers with the text of a skill, and the input where the text has its place.
func (b *bridge) getPrompt(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	k, err := repeat(ctx, b, func() (rpc.SkillInfo, error) {
		return b.cl.Skill(ctx, rpc.SkillQuery{Project: b.o.project, Name: req.Params.Name})
	})
	if err != nil {
		return nil, fault(err)
	}
	if k.Skill.Status != sdk.SkillEnabled {
		return nil, refuse(sdk.NotFound, "the skill %s cannot be used: %s", req.Params.Name, cmp.Or(k.Skill.Reason, string(k.Skill.Status)))
	}
	return &mcp.GetPromptResult{
		Description: show.OneLine(k.Skill.Description),
		Messages:    []*mcp.PromptMessage{{Role: "user", Content: text(fillIn(k.Body, inputOf(req.Params.Arguments), k.Skill.Folder))}},
	}, nil
}

// inputOf is the input that arguments are: that of its name, or whatever a client gave, by name.
func inputOf(arguments map[string]string) string {
	if len(arguments) == 1 && arguments[skillInput] != "" {
		return arguments[skillInput]
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		if arguments[name] != "" {
			lines = append(lines, name+": "+arguments[name])
		}
	}
	return strings.Join(lines, "\n")
}

// places are where a skill's text asks for its input and its folder.
var places = regexp.MustCompile(`\$ARGUMENTS\b(\[\d+\])?|\$\{CLAUDE_SKILL_DIR\}|\{baseDir\}`)

// mostPrompt is how many bytes of a skill's text with its input a client gets.
const mostPrompt = 1 << 20

// fillIn puts input and folder where the text asks for them, in one pass: an input that holds such
// a place stays as it is. An input that the text has no place for stands behind it.
func fillIn(body, input, folder string) string {
	words, placed, size := strings.Fields(input), input == "", len(body)
	body = places.ReplaceAllStringFunc(body, func(place string) string {
		rest, isInput := strings.CutPrefix(place, "$ARGUMENTS")
		with := folder
		if isInput {
			placed = true
			with = input
			if rest != "" {
				with = ""
				if n, err := strconv.Atoi(strings.Trim(rest, "[]")); err == nil && n < len(words) {
					with = words[n]
				}
			}
		}
		if size += len(with); size > mostPrompt {
			return place
		}
		return with
	})
	if !placed {
		body = strings.TrimRight(body, "\n") + "\n\n" + input
	}
	return body
}
