package skill

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
	"github.com/bothyd/bothy/sdk"
)

// New is a skill to be made.
type New struct {
	Name        string
	Description string // any text; it is kept on one line
	Code        bool   // bound to a plugin of the same name, whose beginning is written as well
}

// scaffold has the files of a new skill, in which {{name}} and {{description}} are
// to be replaced: one that is only a prompt, and one with a plugin that builds as it is.
//
//go:embed scaffold
var scaffold embed.FS

// Create makes a skill in a folder of skills, which is made when it is not
// there, and returns the files it wrote. What is there already is never touched,
// whatever it is.
func Create(root string, n New) (files []string, err error) {
	if err := checkName(n.Name); err != nil {
		return nil, err
	}
	description := frontmatter.Visible(strings.ToValidUTF8(n.Description, " "))
	if description == "" {
		description = "Says in one or two sentences what this skill does, and when to use it."
	}
	if count := utf8.RuneCountInString(description); count > maxDescription {
		return nil, sdk.Errorf(sdk.Validation, "the description has %d characters; at most %d fit, and the text of the skill has room for the rest", count, maxDescription)
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of skills: %w; see that it can be written to", err)
	}
	folder := filepath.Join(root, n.Name)
	err = os.Mkdir(folder, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return nil, sdk.Errorf(sdk.Conflict, "%s is there already; edit it, or choose another name", folder)
	}
	if err == nil {
		if files, err = n.write(folder, description); err == nil {
			return files, nil
		}
		_ = os.RemoveAll(folder) // nothing of anybody else's is in it
	}
	return nil, fmt.Errorf("write the skill: %w; see that %s can be written to", err, root)
}

// write fills a folder that is empty.
func (n New) write(folder, description string) (files []string, err error) {
	from := "scaffold/prompt"
	if n.Code {
		from = "scaffold/code"
	}
	fill := strings.NewReplacer("{{name}}", n.Name, "{{description}}", strconv.Quote(description)) // a quoted text of Go is one of YAML
	err = fs.WalkDir(scaffold, from, func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := scaffold.ReadFile(at)
		path := filepath.Join(folder, filepath.FromSlash(strings.TrimSuffix(strings.TrimPrefix(at, from), ".tmpl")))
		files = append(files, path)
		return errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(fill.Replace(string(text))), 0o644))
	})
	return files, err
}

// nameLetters are those of a name that every agent takes.
const nameLetters = "abcdefghijklmnopqrstuvwxyz0123456789-"

// checkName holds a new name to the standard, so that every agent takes it.
func checkName(name string) error {
	good := func(name string) bool {
		return name != "" && strings.Trim(name, nameLetters) == "" && SafeName(name) == name
	}
	if good(name) {
		return nil
	}
	such := SafeName(name)
	if name == "" || !good(such) {
		such = "release-notes"
	}
	return sdk.Errorf(sdk.Validation, "the name %s cannot be used; a name has a to z, 0 to 9 and single hyphens between them, at most %d, such as %s", frontmatter.Show(name), MaxName, such)
}
