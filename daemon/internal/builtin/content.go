package builtin

import (
	"fmt"
	"html"
	"strings"
)

// maxFiles is how many of a skill's files are listed with its text.
const maxFiles = 50

// content is a skill as the model reads it: its text with the input filled in,
// where its folder is, and what lies there.
func (l loaded) content(input string) (string, error) {
	body, placed, err := fill(l.Body, input, l.at())
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<skill_content name=\"%s\" tier=\"%s\" folder=\"%s\">\n", html.EscapeString(l.Name), l.Tier, html.EscapeString(l.at()))
	b.WriteString(strings.TrimRight(body, "\n"))
	b.WriteString("\n</skill_content>\n")
	if input != "" && !placed {
		fmt.Fprintf(&b, "\nInput: %s\n", input)
	}
	b.WriteString(l.resources())
	return b.String(), nil
}

// resources lists the files of the folder, SKILL.md left out.
func (l loaded) resources() string {
	if l.gone != "" {
		return fmt.Sprintf("\n[The skill's files are not there: %s. Its text holds.]\n", l.gone)
	}
	var files []string
	for _, f := range l.pinned.Files {
		if f != "SKILL.md" {
			files = append(files, f)
		}
	}
	more := l.pinned.More
	if len(files) > maxFiles {
		more += len(files) - maxFiles
		files = files[:maxFiles]
	}
	if len(files)+more+len(l.pinned.Skipped) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<skill_resources>\n")
	for _, f := range files {
		b.WriteString(html.EscapeString(f) + "\n")
	}
	if more > 0 {
		fmt.Fprintf(&b, "[%d more; list_files %s shows them]\n", more, l.at())
	}
	if n := len(l.pinned.Skipped); n > 0 {
		names := l.pinned.Skipped[:min(n, 10)]
		fmt.Fprintf(&b, "[%d not copied: %s]\n", n, html.EscapeString(strings.Join(names, "; ")))
	}
	b.WriteString("</skill_resources>\n")
	return b.String()
}
