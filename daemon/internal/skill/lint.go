package skill

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
	"github.com/bothyd/bothy/daemon/internal/misnamed"
	"github.com/bothyd/bothy/sdk"
)

// Limits of the standard. Nothing is dropped for passing them.
const (
	maxDescription   = 1024 // characters
	maxCompatibility = 500  // characters
	maxBodyLines     = 500
)

// lint checks the fields as the standard asks, and names that may be misspelled.
func (r *fieldReader) lint() {
	d := r.doc
	if n := utf8.RuneCountInString(d.Description); n > maxDescription {
		r.Warn("description-long", r.Value("description"), fmt.Sprintf("the description has %d characters; the standard allows %d", n, maxDescription),
			"Say what the skill does and when to use it, and no more.")
	}
	if n := utf8.RuneCountInString(d.Compatibility); n > maxCompatibility {
		r.Warn("compatibility-long", r.Value("compatibility"), fmt.Sprintf("compatibility has %d characters; the standard allows %d", n, maxCompatibility), "Shorten it.")
	}
	for _, name := range []string{"name", "description"} {
		if n := r.Value(name); n != nil && n.LineComment != "" {
			r.Warn("comment", n, fmt.Sprintf("the value of %s ends before the # in its line, which begins a comment", name), "Put the value in quotes if the rest belongs to it.")
		}
	}
	known := slices.Concat(ownFields, foreignFields)
	for name := range r.Names() {
		if !slices.Contains(known, name) {
			help := "Put fields of your own below metadata:."
			if similar := sdk.Nearest(name, known, flat); flat(similar) == flat(name) {
				help = "Did you mean " + similar + "?"
			}
			r.Warn("field-unknown", r.Key(name), fmt.Sprintf("the field %s is not known; it is kept and not heeded", frontmatter.Show(name)), help)
		}
	}
	r.lintTools("allowed-tools", d.AllowedTools)
	r.lintTools("tools_required", d.ToolsRequired)
}

func (r *fieldReader) lintTools(name string, tools []string) {
	for _, t := range tools {
		here, foreign := misnamed.Here(t)
		if here != "" {
			continue
		}
		what := "is not a tool that comes with Bothy"
		if foreign {
			what = "is a tool of another agent, for which Bothy has none"
		}
		r.Warn("tool-unknown", r.Value(name), fmt.Sprintf("%s in %s %s", frontmatter.Show(t), name, what),
			"Check the spelling with `bothy tools`; a tool of a plugin is written plugin__tool.")
	}
}

// flat is a name of a field as its spellings are compared.
func flat(name string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "", "k", "c").Replace(strings.ToLower(name))
}

// lint checks the file as a whole.
func lint(text []byte, f *frontmatter.Document) {
	line, _ := frontmatter.PlaceOf(text, len(text)-len(f.Body))
	if n := strings.Count(f.Body, "\n"); n > maxBodyLines {
		f.Note(frontmatter.Warning("body-long", line, 1, fmt.Sprintf("the text has %d lines; the standard advises at most %d", n, maxBodyLines),
			"Move what is not always needed into files beside it, and say when to read them."))
	}
	if strings.TrimSpace(f.Body) == "" {
		f.Note(frontmatter.Warning("body-empty", line, 1, "there is no text below the frontmatter, so there is nothing to follow", "Write what to do."))
	}
}
