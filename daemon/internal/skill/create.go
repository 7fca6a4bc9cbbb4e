package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// New is a skill to be made.
type New struct {
	Name        string
	Description string // any text; it is kept on one line
	Code        bool   // bound to a plugin of the same name, whose beginning is written as well
}

// Create makes a skill in a folder of skills, which is made when it is not
// there, and returns the files it wrote. What is there already is never touched,
// whatever it is.
func Create(root string, n New) (files []string, err error) {
	if err := checkName(n.Name); err != nil {
		return nil, err
	}
	text, err := n.text()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of skills: %w; see that it can be written to", err)
	}
	folder := filepath.Join(root, n.Name)
	err = os.Mkdir(folder, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return nil, sdk.Errorf(sdk.Conflict, "%s is there already; edit it, or choose another name", folder)
	}
	if err != nil {
		return nil, fmt.Errorf("make the skill's folder: %w; see that %s can be written to", err, root)
	}
	file := filepath.Join(folder, fileName)
	files = []string{file}
	if err = writeNew(file, text); err == nil && n.Code {
		var more []string
		more, err = scaffoldPlugin(folder, n.Name)
		files = append(files, more...)
	}
	if err != nil {
		_ = os.RemoveAll(folder) // nothing of anybody else's is in it
		return nil, fmt.Errorf("write the skill: %w", err)
	}
	return files, nil
}

func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// checkName holds a new name to the standard, so that every agent takes it.
func checkName(name string) error {
	bad := func(why string) error {
		return sdk.Errorf(sdk.Validation, "the name %s %s; a name has a to z, 0 to 9 and single hyphens between them, at most %d, such as %s",
			show(name), why, MaxName, suggestion(name))
	}
	switch {
	case name == "":
		return bad("is empty")
	case len(name) > MaxName:
		return bad(fmt.Sprintf("has %d characters", utf8.RuneCountInString(name)))
	case strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || SafeName(name) != name:
		return bad("cannot be used")
	}
	return nil
}

// suggestion is a name that would be taken.
func suggestion(name string) string {
	ascii := strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return '-'
		}
		return r
	}, name)
	if strings.IndexFunc(ascii, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' }) < 0 {
		return "release-notes"
	}
	return SafeName(ascii)
}

// text is the SKILL.md. A quoted text of Go is one of YAML, whatever it holds.
func (n New) text() (string, error) {
	description := visible(strings.ToValidUTF8(n.Description, " "))
	if description == "" {
		description = "Says in one or two sentences what this skill does, and when to use it."
	}
	if count := utf8.RuneCountInString(description); count > maxDescription {
		return "", sdk.Errorf(sdk.Validation, "the description has %d characters; at most %d fit, and the text of the skill has room for the rest", count, maxDescription)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "---\nname: %s\ndescription: %s\n", strconv.Quote(n.Name), strconv.Quote(description))
	if n.Code {
		fmt.Fprintf(&b, "plugin: %s\n", strconv.Quote(n.Name))
	}
	fmt.Fprintf(&b, "---\n\n# %s\n\n", n.Name)
	if n.Code {
		fmt.Fprintf(&b, codeBody, n.Name)
	} else {
		b.WriteString(promptBody)
	}
	return b.String(), nil
}

const promptBody = `Write here what an agent has to know for this kind of work, as you would tell a new colleague:

1. What to look at first, and which commands to run.
2. What a good result looks like.
3. What must not happen.

What follows the skill's name when somebody calls it by hand: $ARGUMENTS

Files beside this one, such as references/ and scripts/, can be named here; they are read when they are needed.
`

const codeBody = `Executed by the plugin %[1]q, whose source is in plugin/; its first lines say how to build it and what to write into
the configuration.

Write here what the model should give as input, and what it gets back.
`
